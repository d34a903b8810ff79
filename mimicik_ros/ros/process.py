"""A node as a process: start, spin until a signal, and an orderly end."""

from __future__ import annotations

import signal
import sys

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions


def init(args: list[str] | None) -> bool:
    """Initialise rclpy without its signal handlers. Returns False, with one line printed, for bad ROS arguments.

    rclpy's handlers close the context at once; then no last command could be sent any more.
    """
    try:
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # a bad --ros-args or parameter file
        print(f"error: {str(error).splitlines()[0]}", file=sys.stderr)
        return False
    return True


class Ending:
    """Takes SIGINT and SIGTERM from its creation on and remembers that one came."""

    def __init__(self) -> None:
        self.asked = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._take)

    def spin(self, executor: SingleThreadedExecutor) -> None:
        """Spin until a signal or a shutdown of the context."""
        while not self.asked and rclpy.ok():
            executor.spin_once(timeout_sec=0.1)

    def _take(self, _number: int, _frame: object) -> None:
        self.asked = True
