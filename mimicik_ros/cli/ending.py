"""SIGTERM and SIGHUP end a verb as Ctrl-C does: half files go, and no process of its pool is left behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGHUP)  # a service manager, a closed terminal


@contextmanager
def ending_cleanly() -> Iterator[None]:
    """Within the block these signals raise KeyboardInterrupt; in another thread than the main one nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _interrupt) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
