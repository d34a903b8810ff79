"""One openpi policy server as seen from here: connect, ask, and say plainly what went wrong. A failed call leaves no
connection behind, and the next call connects anew.
"""

from __future__ import annotations

import contextlib
import urllib.parse
from collections.abc import Callable
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from mimicik_ros.core.errors import ConfigError
from mimicik_ros.ros.openpi.wire import WireError, pack, unpack

_LARGEST_ANSWER = 64 * 2**20  # bytes; a chunk has some kilobytes


class ServerGone(Exception):
    """There is no server, it left, or it does not answer in time."""


class ServerFault(Exception):
    """The server answered, but with an error of its own or with what the protocol does not know."""


class PolicyServer:
    """Client of one server; not for several threads at once, except `close`.

    The protocol: the server speaks first and sends its metadata; then each binary frame with an observation is answered by
    one with {"actions": array, ...}, or by a text frame with a traceback, after which the server hangs up.

    Args:
        uri: ws://host:port or wss://host:port; a bare host:port means ws.
        api_key: sent as `Authorization: Api-Key ...` unless empty.
        connect_timeout_s: until the server has sent its metadata.
        answer_timeout_s: from an observation to its answer.
        first_answer_timeout_s: likewise for the first one of a connection; a server may compile its model then.
        connected: called with the metadata of each new connection.

    Raises:
        ConfigError: uri is not one.
    """

    def __init__(self, uri: str, api_key: str = "", connect_timeout_s: float = 5.0, answer_timeout_s: float = 5.0,
                 first_answer_timeout_s: float = 120.0, connected: Callable[[dict[str, Any]], None] = lambda _: None) -> None:
        self.uri = uri if "://" in uri else f"ws://{uri}"
        if not _is_address(self.uri):
            raise ConfigError(f"'{uri}' is no address of a policy server; give ws://host:port or wss://host:port")
        self._headers = {"Authorization": f"Api-Key {api_key}"} if api_key else None
        self._connect_s, self._answer_s, self._first_s = connect_timeout_s, answer_timeout_s, first_answer_timeout_s
        self._connected = connected
        self._connection: Connection | None = None
        self._stack = contextlib.ExitStack()
        self._answered = False

    def infer(self, observation: dict[str, Any]) -> dict[str, Any]:
        """The server's answer to one observation.

        Raises:
            ServerGone: no connection, or it broke, or no answer in time.
            ServerFault: the server reported an error, or answered with no map.
            WireError: the observation holds something that cannot be sent.
        """
        message = pack(observation)
        try:
            connection = self._connection or self._open()
            connection.send(message)
            answer = self._receive(connection, self._answer_s if self._answered else self._first_s, "an answer")
            self._answered = True
            return answer
        except ConnectionClosed as error:
            self.close()
            raise ServerGone(f"{self.uri} closed the connection ({error})") from error
        except (ServerGone, ServerFault):
            self.close()  # a late answer would be taken for that of the next observation
            raise

    def close(self) -> None:
        """Hang up; also from another thread, whose `infer` then ends with ServerGone."""
        self._connection, stack, self._stack = None, self._stack, contextlib.ExitStack()
        stack.close()

    def _open(self) -> Connection:
        self._answered = False
        try:
            # Uncompressed as openpi's own client. No keep-alive: the server cannot answer a ping while its model computes.
            # No proxy from the environment: a policy server stands in the robot's own network.
            connection: Connection = self._stack.enter_context(connect(
                self.uri, compression=None, max_size=_LARGEST_ANSWER, additional_headers=self._headers, proxy=None,
                open_timeout=self._connect_s, ping_interval=None, close_timeout=1.0))
        except InvalidStatus as error:
            status = error.response.status_code
            hint = "; set OPENPI_API_KEY" if status in (401, 403) else ""
            raise ServerGone(f"{self.uri} refused with HTTP {status}{hint}") from error
        except (OSError, InvalidHandshake) as error:  # a time-out is an OSError
            raise ServerGone(f"no policy server at {self.uri} ({error or 'timed out'})") from error
        metadata = self._receive(connection, self._connect_s, "its metadata")
        self._connection = connection
        self._connected(metadata)
        return connection

    def _receive(self, connection: Connection, timeout_s: float, what: str) -> dict[str, Any]:
        try:
            frame = connection.recv(timeout=timeout_s)
        except TimeoutError as error:
            raise ServerGone(f"{self.uri} did not send {what} within {timeout_s:g} s") from error
        if isinstance(frame, str):
            raise ServerFault(f"{self.uri} reports an error instead of {what}:\n{frame.rstrip()}")
        try:
            value = unpack(frame)
        except WireError as error:
            raise ServerFault(f"{self.uri}: {what} is {error}") from error
        if not isinstance(value, dict):
            raise ServerFault(f"{self.uri}: {what} is a {type(value).__name__}, not a map")
        return value


def _is_address(uri: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(uri)
        return parts.scheme in ("ws", "wss") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, or beyond 65535
        return False
