"""The two processes of the demo, node and fake arm: started, watched and always ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType, TracebackType

from mimicik_ros.core.errors import MimicIKError

START_S = 40.0
END_S = 6.0
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # Ctrl-C, a service manager, a closed terminal


class ChildDied(MimicIKError):
    """A process of the graph ended by itself or never became ready."""


class RunningGraph:
    """Context manager of a graph that somebody else started, by a launch file for example: nothing to start, watch or end."""

    def __enter__(self) -> RunningGraph:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        """Leave it as it is."""

    def check(self) -> None:
        """Its processes are not ours to watch."""


class DemoGraph:
    """Context manager: node and fake arm as separate processes on one domain of this machine, with their logs in a folder.

    Must be entered in the main thread. While it is open, the signals of ENDING raise KeyboardInterrupt, so the processes are
    ended with it; while processes are being started or ended, a signal waits, or one of them would be forgotten.
    """

    def __init__(self, folder: Path, node_parameters: dict[str, object], arm_parameters: dict[str, object],
                 namespace: str = "/") -> None:
        self._specs = (
            ("arm", "mimicik_ros.ros.fake_arm", arm_parameters, "ready:"),
            ("node", "mimicik_ros.ros.node", node_parameters, "active at"),
        )
        self._folder, self._namespace = folder, namespace
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._busy, self._asked = False, False
        self._handlers: dict[signal.Signals, object] = {}

    def __enter__(self) -> DemoGraph:
        self._busy = True
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup and background jobs ask for that
                self._handlers[number] = signal.signal(number, self._on_signal)
        try:
            for name, module, parameters, _ in self._specs:
                options = ["-r", f"__ns:={self._namespace}"]
                options += [part for key, value in parameters.items() for part in ("-p", f"{key}:={value}")]
                with self.log(name).open("wb") as log:
                    self._children[name] = subprocess.Popen(
                        [sys.executable, "-m", module, "--ros-args", *options], stdout=log, stderr=subprocess.STDOUT,
                        stdin=subprocess.DEVNULL, start_new_session=True, env=os.environ)
            self._busy = False
            if self._asked:
                raise KeyboardInterrupt
            for name, _, _, ready in self._specs:
                self._await(name, ready)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._end()

    def log(self, name: str) -> Path:
        """Log file of a process."""
        return self._folder / f"{name}.log"

    def check(self) -> None:
        """Raise ChildDied where a process has ended."""
        for name, child in self._children.items():
            if child.poll() is not None:
                raise ChildDied(f"the {name} ended with code {child.returncode}; its last words: {self._last_words(name)}")

    def _await(self, name: str, ready: str) -> None:
        end = time.monotonic() + START_S
        while ready not in self.log(name).read_text(encoding="utf-8", errors="replace"):
            self.check()
            if time.monotonic() > end:
                raise ChildDied(f"the {name} was not ready within {START_S:g} s; its last words: {self._last_words(name)}")
            time.sleep(0.05)

    def _last_words(self, name: str) -> str:
        lines = [line for line in self.log(name).read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
        return lines[-1] if lines else "(nothing)"

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._asked = True
        if not self._busy:
            raise KeyboardInterrupt

    def _end(self) -> None:
        self._busy = True
        for name in ("node", "arm"):  # the node brakes while the arm still listens
            child = self._children.get(name)
            if child is None or child.poll() is not None:
                continue
            child.send_signal(signal.SIGINT)
            try:
                child.wait(END_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
