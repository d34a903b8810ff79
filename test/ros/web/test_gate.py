"""Who passes the gate, with real sockets and viser itself behind it."""

import asyncio
import http.client
import socket

import pytest

pytest.importorskip("viser", reason="viser is not installed; see the README for the web extra")

import viser
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from mimicik_ros.core.errors import ConfigError
from mimicik_ros.ros.web.gate import Gate
from mimicik_ros.ros.web.page import PrivateServer

SUBPROTOCOL = f"viser-v{viser.__version__}"
ELSEWHERE = "127.0.0.2"  # an address of this machine that the gate takes for a foreign one


@pytest.fixture(scope="module")
def server():
    made = PrivateServer()
    yield made
    made.stop()


@pytest.fixture
def gate(server):
    made = []

    def make(host="localhost", port=0):
        made.append(Gate(server.address, host, port))
        return made[-1]

    yield make
    for one in made:
        one.close()


def get(gate, path="/", host=None, **headers):
    address = ELSEWHERE if gate.token else "127.0.0.1"
    connection = http.client.HTTPConnection(address, gate.port, timeout=20)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host or f"{address}:{gate.port}")
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def websocket_status(gate, query="", origin=None, cookie=None):
    """HTTP status of a handshake; 101 only where viser itself then sent something."""
    address = ELSEWHERE if gate.token else "127.0.0.1"

    async def attempt():
        headers = {"Cookie": cookie} if cookie else None
        try:
            async with connect(f"ws://{address}:{gate.port}/{query}", origin=origin, additional_headers=headers, proxy=None,
                               subprotocols=[SUBPROTOCOL], max_size=None) as socket:
                await asyncio.wait_for(socket.recv(), 20)
                return 101
        except InvalidStatus as error:
            return error.response.status_code

    return asyncio.run(attempt())


def own(gate):
    return f"http://{ELSEWHERE if gate.token else '127.0.0.1'}:{gate.port}"


def cookie_of(gate):
    answer, _ = get(gate, f"/?token={gate.token}")
    return answer.getheader("Set-Cookie").split(";")[0]


def test_on_this_machine_the_page_needs_no_token(gate):
    local = gate()
    answer, body = get(local)
    assert local.token is None and local.url == f"http://localhost:{local.port}/"
    assert answer.status == 200 and b"<html" in body
    assert websocket_status(local, origin=own(local)) == 101


@pytest.mark.parametrize("name", ["evil.example", "evil.example:8080", "localhost.evil.example", "10.0.0.1"])
def test_on_this_machine_a_foreign_name_is_refused(gate, name):
    assert get(gate(), host=name)[0].status == 403


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null", "http://localhost:1"])
def test_a_websocket_of_another_page_is_refused_also_on_this_machine(gate, origin):
    assert websocket_status(gate(), origin=origin) == 403


def test_elsewhere_the_page_and_the_websocket_are_refused_without_the_token(gate):
    remote = gate(ELSEWHERE)
    assert len(remote.token) >= 32 and remote.token in remote.url
    for query in ("", "?token=", "?token=wrong", f"?token={remote.token[:-1]}"):
        answer, body = get(remote, f"/{query}")
        assert answer.status == 403 and b"<html" not in body
        assert websocket_status(remote, query, origin=own(remote)) == 403
    assert websocket_status(remote, origin=own(remote), cookie=f"mimicik_web_{remote.port}=wrong") == 403


def test_the_token_is_exchanged_for_a_cookie_that_opens_page_and_websocket(gate):
    remote = gate(ELSEWHERE)
    answer, _ = get(remote, f"/?token={remote.token}")
    assert answer.status == 303 and answer.getheader("Location") == "/"
    given = answer.getheader("Set-Cookie")
    assert "HttpOnly" in given and "SameSite=Lax" in given
    cookie = given.split(";")[0]
    assert get(remote, Cookie=cookie)[0].status == 200
    assert websocket_status(remote, origin=own(remote), cookie=cookie) == 101
    assert websocket_status(remote, origin="http://evil.example", cookie=cookie) == 403


def test_each_gate_has_a_token_of_its_own(gate):
    first, second = gate(ELSEWHERE), gate(ELSEWHERE)
    assert first.token != second.token
    assert get(second, Cookie=cookie_of(first))[0].status == 403


def test_the_page_may_not_be_framed_nor_kept(gate):
    answer, _ = get(gate())
    assert answer.getheader("X-Frame-Options") == "DENY"
    assert "frame-ancestors 'none'" in answer.getheader("Content-Security-Policy")
    assert answer.getheader("Cache-Control") == "no-store"


def test_what_viser_has_not_is_not_found(gate):
    assert get(gate(), "/nothing")[0].status == 404
    assert get(gate(), "/../../etc/passwd")[0].status == 404


def test_a_port_that_is_taken_is_one_line_that_names_it(gate):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"--port {port}: cannot listen there"):
            gate(port=port)


def test_closing_the_gate_closes_what_passed_through_it(gate):
    local = gate()

    async def stay():
        async with connect(f"ws://127.0.0.1:{local.port}/", origin=own(local), proxy=None, max_size=None,
                           subprotocols=[SUBPROTOCOL]) as connection:
            await asyncio.wait_for(connection.recv(), 20)
            await asyncio.to_thread(local.close)
            with pytest.raises(ConnectionClosed):
                while True:
                    await asyncio.wait_for(connection.recv(), 20)

    asyncio.run(stay())


def test_viser_behind_it_listens_on_no_address_that_a_page_would_guess_and_opens_no_tunnel(server):
    host, port = server.address
    assert host.startswith("127.") and host != "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
    assert server.request_share_url() is None
