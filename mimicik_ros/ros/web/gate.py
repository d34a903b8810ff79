"""The door of the page: the only port that browsers reach, with the token, in front of a viser that knows none.

Every request is judged before a byte reaches viser, the websocket's too:
- on this machine only (no token): Host must be a name of this machine, so that no foreign name can be pointed at it;
- elsewhere: the token in the query, once, or the cookie that it is exchanged for;
- always: a websocket comes from the page itself. A browser lets any page open one, and would hand it to the arm.
A ping that stays unanswered closes the websocket, which is how a lost link is noticed.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import http
import logging
import secrets
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Awaitable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode, urlsplit

from websockets.asyncio.client import connect
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from mimicik_ros.core.errors import ConfigError

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
PING_S, PONG_S = 1.0, 2.0  # a dead link is noticed after at most their sum
LARGEST_BYTES = 50 * 1024 * 1024  # of a message, as viser's own limit
_SAFE = {"X-Frame-Options": "DENY", "Content-Security-Policy": "frame-ancestors 'none'", "Referrer-Policy": "no-referrer",
         "X-Content-Type-Options": "nosniff"}
_COPIED = ("content-type", "content-encoding")


class Gate:
    """Serves inner (host, port of viser) on host and port, in a thread of its own, until `close`.

    Args:
        inner: where viser listens.
        host: LOCAL_NAMES need no token, everything else gets one.
        port: 0 lets the system choose.

    Attributes:
        token: of this gate, None on this machine only.
        port: as bound.

    Raises:
        ConfigError: the address cannot be bound.
    """

    def __init__(self, inner: tuple[str, int], host: str, port: int) -> None:
        self._inner, self._host = inner, host
        self.token = None if host in LOCAL_NAMES else secrets.token_urlsafe(24)
        self.port = port
        self._loop = asyncio.new_event_loop()
        self._started: threading.Event = threading.Event()
        self._ended: asyncio.Event | None = None
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="gate", daemon=True)
        self._thread.start()
        self._started.wait()
        if self._error is not None:
            reason = self._error.strerror or self._error
            raise ConfigError(f"--host {host} --port {port}: cannot listen there: {reason}; choose another")

    @property
    def url(self) -> str:
        """Address for the browser, with the token where there is one."""
        named = {**dict.fromkeys(LOCAL_NAMES, "localhost"), "0.0.0.0": socket.gethostname(), "::": socket.gethostname()}
        host = named.get(self._host, self._host)
        bare = f"[{host}]" if ":" in host else host
        return f"http://{bare}:{self.port}/" + (f"?{urlencode({'token': self.token})}" if self.token else "")

    def close(self) -> None:
        """Close every connection and the port."""
        if self._ended is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself
                self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(5.0)

    # --- the thread

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        log = logging.getLogger("mimicik.web.gate")
        log.setLevel(logging.CRITICAL)  # a refused handshake is an answer and no error
        hosts = ["127.0.0.1"] if self._host == "localhost" else [self._host]
        try:
            server: Server = await serve(
                self._pipe, hosts, self.port, process_request=self._judge, max_size=LARGEST_BYTES, compression=None,
                select_subprotocol=lambda _, offered: offered[0] if offered else None, logger=log,
                ping_interval=PING_S, ping_timeout=PONG_S, close_timeout=1.0)
        except OSError as error:
            self._error = error
            self._started.set()
            return
        self.port = next(iter(server.sockets)).getsockname()[1]
        self._ended = asyncio.Event()
        self._started.set()
        async with server:
            await self._ended.wait()

    # --- who may pass

    async def _judge(self, connection: ServerConnection, request: Request) -> Response | None:
        """None lets a websocket through; a Response is the page, a redirection to it or a refusal."""
        host = _one(request, "Host")
        if host is None:
            return _answer(http.HTTPStatus.BAD_REQUEST, "exactly one Host header is needed\n")
        if self.token is None and urlsplit(f"//{host}").hostname not in LOCAL_NAMES:
            return _answer(http.HTTPStatus.FORBIDDEN, f"this page is for this machine only: open {self.url}\n")
        path, _, query = request.path.partition("?")
        asked = parse_qs(query).get("token", [""])[0]
        if self.token is not None and not self._knows(asked) and not self._knows(self._cookie(request)):
            return _answer(http.HTTPStatus.FORBIDDEN, "a token is needed: open the address that `mimicik web` printed\n")
        if "websocket" in (request.headers.get("Upgrade") or "").lower():
            origin = _one(request, "Origin")
            if origin is not None and urlsplit(origin).netloc == host:
                return None
            return _answer(http.HTTPStatus.FORBIDDEN, "a websocket of another page is refused\n")
        if self.token is not None and self._knows(asked):  # out of the address bar and the history
            cookie = f"{self._cookie_name}={self.token}; Path=/; HttpOnly; SameSite=Lax"
            return _answer(http.HTTPStatus.SEE_OTHER, "", {"Location": path, "Set-Cookie": cookie})
        return await asyncio.to_thread(self._fetch, path, request)

    @property
    def _cookie_name(self) -> str:
        return f"mimicik_web_{self.port}"  # cookies know no ports

    def _cookie(self, request: Request) -> str:
        try:
            morsel = SimpleCookie("; ".join(request.headers.get_all("Cookie"))).get(self._cookie_name)
        except CookieError:
            return ""
        return morsel.value if morsel is not None else ""

    def _knows(self, given: str) -> bool:
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())

    # --- what passes

    def _fetch(self, path: str, request: Request) -> Response:
        """The page from viser."""
        host, port = self._inner
        asked = urllib.request.Request(f"http://{host}:{port}{path}", headers={
            "Accept-Encoding": request.headers.get("Accept-Encoding") or "identity"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy of the environment knows no loopback
        try:
            with opener.open(asked, timeout=10.0) as answer:
                kept = {k: v for k, v in answer.headers.items() if k.lower() in _COPIED}
                return _answer(http.HTTPStatus.OK, answer.read(), kept)
        except urllib.error.HTTPError as error:
            return _answer(http.HTTPStatus(error.code), f"{error.reason}\n")
        except OSError as error:
            return _answer(http.HTTPStatus.BAD_GATEWAY, f"the page is not served: {error}\n")

    async def _pipe(self, outer: ServerConnection) -> None:
        """Carry messages both ways until one side closes; the other is closed with it."""
        host, port = self._inner
        wanted = [outer.subprotocol] if outer.subprotocol else None
        try:
            async with connect(f"ws://{host}:{port}/", subprotocols=wanted, max_size=None, compression=None, proxy=None,
                               ping_interval=None, close_timeout=1.0) as inner:
                await _first_of(_carry(outer, inner), _carry(inner, outer))
        except (OSError, ConnectionClosed):
            await outer.close(1011, "the page has ended")


async def _carry(source: ServerConnection, sink: ServerConnection) -> None:
    async for message in source:
        await sink.send(message)


async def _first_of(*ways: Awaitable[None]) -> None:
    tasks = [asyncio.ensure_future(way) for way in ways]
    done, left = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    for task in done:
        task.result()


def _one(request: Request, name: str) -> str | None:
    values = request.headers.get_all(name)
    return values[0] if len(values) == 1 else None


def _answer(status: http.HTTPStatus, body: str | bytes, extra: dict[str, str] | None = None) -> Response:
    data = body.encode() if isinstance(body, str) else body
    headers = {"Content-Type": "text/plain; charset=utf-8", **_SAFE, **{k.title(): v for k, v in (extra or {}).items()},
               "Content-Length": str(len(data)), "Cache-Control": "no-store", "Connection": "close"}
    return Response(status.value, status.phrase, Headers(**headers), data)
