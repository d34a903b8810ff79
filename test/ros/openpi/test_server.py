"""One server, well and ill: each fault is named, and the next call connects anew."""

import socket
import threading

import numpy as np
import pytest

from mimicik_ros.core.errors import ConfigError
from mimicik_ros.ros.openpi.server import PolicyServer, ServerFault, ServerGone
from mimicik_ros.ros.openpi.wire import WireError

OBSERVATION = {"observation/state": np.arange(3.0), "prompt": "go"}


def chunk(_observation):
    return {"actions": np.ones((4, 7), np.float32)}


@pytest.fixture
def client():
    made = []

    def make(uri, **kwargs):
        made.append(PolicyServer(uri, **{"connect_timeout_s": 10.0, "answer_timeout_s": 10.0, **kwargs}))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_the_metadata_comes_first_and_each_observation_is_answered_on_one_connection(serving, client):
    server, metadata = serving(chunk), []
    policy = client(server.uri, connected=metadata.append)
    for _ in range(3):
        answer = policy.infer(OBSERVATION)
        assert answer["actions"].shape == (4, 7)
        assert answer["server_timing"] == {"infer_ms": 1.5}
    assert metadata == [{"robot": "test"}]
    assert len(server.connections) == 1
    assert server.observations[0]["prompt"] == "go"
    assert server.observations[0]["observation/state"].tolist() == [0.0, 1.0, 2.0]


def test_a_bare_host_and_port_is_a_websocket_address(serving, client):
    assert client(serving(chunk).uri.removeprefix("ws://")).infer(OBSERVATION)["actions"].size == 28


@pytest.mark.parametrize("uri", ["http://host:8000", "ws://", "ws://host:port", "ws://host:99999", "", "ws://host:0"])
def test_what_is_no_address_is_refused_at_set_up(uri):
    with pytest.raises(ConfigError, match="give ws://host:port"):
        PolicyServer(uri)


def test_the_key_goes_out_as_openpi_expects_it_and_nothing_without_one(serving, client):
    server = serving(chunk)
    client(server.uri, api_key="secret").infer(OBSERVATION)
    client(server.uri).infer(OBSERVATION)
    assert [headers.get("Authorization") for headers in server.headers] == ["Api-Key secret", None]


def test_no_server_is_said_with_the_address(client):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ServerGone, match=f"no policy server at ws://127.0.0.1:{port}"):
        client(f"ws://127.0.0.1:{port}").infer(OBSERVATION)


def test_a_server_that_goes_and_comes_back_is_asked_again(serving, client):
    server = serving(chunk)
    policy = client(server.uri)
    policy.infer(OBSERVATION)
    server.stop()
    for _ in range(2):
        with pytest.raises(ServerGone):
            policy.infer(OBSERVATION)
    server.start()
    assert policy.infer(OBSERVATION)["actions"].shape == (4, 7)


def test_a_traceback_of_the_server_is_passed_on_whole_and_the_next_call_connects_anew(serving, client):
    failing = iter([True, False])

    def policy_of_server(observation):
        if next(failing):
            raise KeyError("observation/wrist_image")
        return chunk(observation)

    policy = client(serving(policy_of_server).uri)
    with pytest.raises(ServerFault, match=r"(?s)Traceback .*KeyError: 'observation/wrist_image'"):
        policy.infer(OBSERVATION)
    assert policy.infer(OBSERVATION)["actions"].shape == (4, 7)


def test_an_answer_that_comes_too_late_is_never_taken_for_that_of_a_later_observation(serving, client):
    go = threading.Event()

    def slow(observation):
        if observation["prompt"] == "slow":
            go.wait(30.0)
        return {"actions": np.full((1, 7), len(observation["prompt"]), np.float32)}

    policy = client(serving(slow).uri, answer_timeout_s=0.2)
    policy.infer({"prompt": "warm"})
    with pytest.raises(ServerGone, match=r"did not send an answer within 0\.2 s"):
        policy.infer({"prompt": "slow"})
    go.set()
    assert policy.infer({"prompt": "four5"})["actions"][0, 0] == 5.0


def test_the_first_answer_of_a_connection_may_take_longer(serving, client):
    with pytest.raises(ServerGone, match=r"within 0\.1 s"):
        client(serving(lambda _: threading.Event().wait(1.0)).uri, first_answer_timeout_s=0.1, answer_timeout_s=60.0).infer({})


def test_something_else_that_listens_on_the_port_is_not_waited_for(client):
    with socket.create_server(("127.0.0.1", 0)) as mute, pytest.raises(ServerGone, match="no policy server"):
        client(f"ws://127.0.0.1:{mute.getsockname()[1]}", connect_timeout_s=0.2).infer(OBSERVATION)


@pytest.mark.parametrize(("metadata", "text"), [
    ("no model loaded", "reports an error instead of its metadata"), ([1], "not a map")])
def test_a_server_that_begins_otherwise_is_a_fault(serving, client, metadata, text):
    with pytest.raises(ServerFault, match=text):
        client(serving(chunk, metadata=metadata).uri).infer(OBSERVATION)


@pytest.mark.parametrize(("frame", "text"), [(b"\xc1", "not a message"), (b"\x93\x01\x02\x03", "is a list, not a map")])
def test_a_frame_that_is_no_answer_is_a_fault(serving, client, frame, text):
    with pytest.raises(ServerFault, match=text):
        client(serving(lambda _: frame).uri).infer(OBSERVATION)


def test_an_observation_that_cannot_be_sent_leaves_the_connection_as_it_is(serving, client):
    server = serving(chunk)
    policy = client(server.uri)
    policy.infer(OBSERVATION)
    with pytest.raises(WireError):
        policy.infer({"x": object()})
    policy.infer(OBSERVATION)
    assert len(server.connections) == 1


def test_hanging_up_from_another_thread_ends_a_call(serving, client):
    asked, go = threading.Event(), threading.Event()

    def never(_observation):
        asked.set()
        go.wait(30.0)
        return chunk(None)

    policy, ended = client(serving(never).uri), []

    def call():
        try:
            policy.infer(OBSERVATION)
        except ServerGone as error:
            ended.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    assert asked.wait(10.0)
    policy.close()
    thread.join(10.0)
    go.set()
    assert len(ended) == 1


def test_the_package_openpi_client_is_served_by_the_server_of_these_tests(serving):
    theirs = pytest.importorskip(
        "openpi_client.websocket_client_policy", reason="openpi-client pins numpy < 2: .ci/run installs it aside")
    server = serving(chunk)
    client = theirs.WebsocketClientPolicy("127.0.0.1", server.port)
    assert client.get_server_metadata() == {"robot": "test"}
    assert client.infer(OBSERVATION)["actions"].tolist() == np.ones((4, 7)).tolist()
    server.policy = lambda _: 1 / 0
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        client.infer(OBSERVATION)
