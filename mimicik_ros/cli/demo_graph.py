"""The two processes of the demo, node and fake arm: started, watched and always ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType, TracebackType

from mimicik_ros.config import Config
from mimicik_ros.config import parameters as known_parameters
from mimicik_ros.core.errors import ConfigError, MimicIKError
from mimicik_ros.share import share_path

START_S = 40.0
END_S = 6.0
LAST_DOMAIN = 232  # beyond it the port numbers of DDS end
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # Ctrl-C, a service manager, a closed terminal


def check_domain(domain: int | None) -> None:
    """Raises ConfigError for a number that is no ROS_DOMAIN_ID."""
    if domain is not None and not 0 <= domain <= LAST_DOMAIN:
        raise ConfigError(f"--domain: must lie in [0, {LAST_DOMAIN}], got {domain}")


def private_domain(domain: int | None) -> None:
    """From now on, this process and its children are on a graph of this machine, in this domain or in one of their own."""
    check_domain(domain)
    os.environ["ROS_DOMAIN_ID"] = str(domain if domain is not None else 1 + os.getpid() % 100)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"


def node_parameters(config: Config, complete: bool) -> dict[str, object]:
    """Parameters of the node for DemoGraph: the files, and where complete is true every other value of config too."""
    parameters: dict[str, object] = {"policy.model": share_path(config.policy.model), "robot.urdf": share_path(config.robot.urdf)}
    for name in known_parameters() if complete else ():
        group, key = name.split(".", 1)
        parameters.setdefault(name, _as_argument(getattr(getattr(config, group), key)))
    return parameters


def _as_argument(value: object) -> object:
    """A value as --ros-args reads it."""
    if isinstance(value, bool):
        return str(value).lower()
    if value == "":
        return "''"
    return list(value) if isinstance(value, tuple) else value


class ChildDied(MimicIKError):
    """A process of the graph ended by itself or never became ready."""


class DemoGraph:
    """Context manager: node and fake arm as separate processes on one domain of this machine, with their logs in a folder.

    Must be entered in the main thread. While it is open, the signals of ENDING raise KeyboardInterrupt, so the processes are
    ended with it; while processes are being started or ended, a signal waits, or one of them would be forgotten.
    """

    def __init__(self, folder: Path, node_parameters: dict[str, object], arm_parameters: dict[str, object]) -> None:
        self._specs = (
            ("arm", "mimicik_ros.ros.fake_arm", arm_parameters, "ready:"),
            ("node", "mimicik_ros.ros.node", node_parameters, "active at"),
        )
        self._folder = folder
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
                options = [part for key, value in parameters.items() for part in ("-p", f"{key}:={value}")]
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
