"""A small policy server that speaks openpi's protocol, written from its description and with a coding of its own."""

import threading
import traceback

import msgpack
import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve


def encode(value):
    if isinstance(value, np.ndarray):
        return {b"__ndarray__": True, b"data": value.tobytes("C"), b"dtype": value.dtype.str, b"shape": list(value.shape)}
    raise TypeError(type(value))


def decode(fields):
    if b"__ndarray__" in fields:
        return np.array(memoryview(fields[b"data"]).cast("B"), np.uint8).view(fields[b"dtype"]).reshape(fields[b"shape"])
    return fields


class OpenPIServer:
    """Sends its metadata, then answers each observation with policy(observation); an exception goes out as a traceback.

    policy may return bytes or str, which are then the frame as they are.
    """

    def __init__(self, policy, metadata=None):
        self.policy, self.metadata = policy, {"robot": "test"} if metadata is None else metadata
        self.observations, self.headers, self.connections, self.server, self.port = [], [], [], None, 0
        self.start()

    def start(self):
        self.server = serve(self.handle, "127.0.0.1", self.port, compression=None, max_size=None)
        self.port = self.server.socket.getsockname()[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def uri(self):
        return f"ws://127.0.0.1:{self.port}"

    def handle(self, connection):
        self.connections.append(connection)
        self.headers.append(connection.request.headers)
        try:
            connection.send(self.metadata if isinstance(self.metadata, str) else msgpack.packb(self.metadata, default=encode))
            while True:
                self.observations.append(msgpack.unpackb(connection.recv(), object_hook=decode))
                try:
                    answer = self.policy(self.observations[-1])
                except Exception:
                    connection.send(traceback.format_exc())
                    connection.close(1011, "Internal server error. Traceback included in previous frame.")
                    return
                if isinstance(answer, dict):
                    answer = msgpack.packb({**answer, "server_timing": {"infer_ms": 1.5}}, default=encode)
                connection.send(answer)
        except ConnectionClosed:
            return

    def stop(self):
        """Stop listening and hang up on everybody, so that the port is free again."""
        self.server.shutdown()
        for connection in self.connections:
            connection.close()
        self.connections.clear()


@pytest.fixture
def serving():
    made = []

    def make(policy, **kwargs):
        made.append(OpenPIServer(policy, **kwargs))
        return made[-1]

    yield make
    for server in made:
        server.stop()
