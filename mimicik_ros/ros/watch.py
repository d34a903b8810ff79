"""Watches for other publishers: on joint_command they fight for the arm, on the target topic they are doubtful."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node


class PublisherWatch:
    """Counts the publishers of two topics that are not this node's own.

    Args:
        node: whose graph is asked.
        command_topic, target_topic: fully resolved names.
        warn: takes one line each time that a count changes to more than it should be.
    """

    def __init__(self, node: Node, command_topic: str, target_topic: str, warn: Callable[[str], None]) -> None:
        self._node, self._warn = node, warn
        self._command_topic, self._target_topic = command_topic, target_topic
        self.commanders = 0
        self.targeters = 0

    def look(self, reaction: str) -> bool:
        """Count anew. Returns whether another commander is there and reaction is `error`."""
        commanders = max(0, self._node.count_publishers(self._command_topic) - 1)  # one is ours
        targeters = self._node.count_publishers(self._target_topic)
        if commanders > self.commanders and reaction == "warn":
            self._warn(self.line(commanders))
        if targeters > max(1, self.targeters):
            self._warn(f"{self._target_topic}: {targeters} publishers; their targets mix, stop all but one")
        self.commanders, self.targeters = commanders, targeters
        return commanders > 0 and reaction == "error"

    def line(self, commanders: int | None = None) -> str:
        """One line about the other commanders."""
        count = self.commanders if commanders is None else commanders
        return (f"{self._command_topic}: {count} other publisher(s); stop them, then call ~/enable, "
                "or set output.other_publisher to warn")
