"""Watches for other publishers: on joint_command they fight for the arm, on the target topics they are doubtful."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node


class PublisherWatch:
    """Counts the publishers of the command's and the targets' topics that are not this node's own.

    Attributes:
        commanders: others on the command topic.
        targeters: on the target topics together.

    Args:
        node: whose graph is asked.
        command_topic, target_topics: fully resolved names.
        warn: takes one line each time that a count grows to more than it should be.
    """

    def __init__(self, node: Node, command_topic: str, target_topics: tuple[str, ...], warn: Callable[[str], None]) -> None:
        self._node, self._warn = node, warn
        self._command_topic = command_topic
        self._by_topic = dict.fromkeys(target_topics, 0)
        self.commanders = 0

    @property
    def targeters(self) -> int:
        """Publishers of targets, on all topics together."""
        return sum(self._by_topic.values())

    def look(self, reaction: str) -> bool:
        """Count anew. Returns whether another commander is there and reaction is `error`."""
        commanders = max(0, self._node.count_publishers(self._command_topic) - 1)  # one is ours
        if commanders > self.commanders and reaction == "warn":
            self._warn(self.line(commanders))
        self.commanders = commanders
        self._look_at_targets()
        return commanders > 0 and reaction == "error"

    def _look_at_targets(self) -> None:
        before = self._by_topic
        self._by_topic = {topic: self._node.count_publishers(topic) for topic in before}
        for topic, count in self._by_topic.items():
            if count > max(1, before[topic]):
                self._warn(f"{topic}: {count} publishers; their targets mix, stop all but one")
        used = [topic for topic, count in self._by_topic.items() if count]
        if len(used) > max(1, sum(1 for count in before.values() if count)):
            self._warn(f"targets may come on {' and '.join(used)}; target.source says which count")

    def line(self, commanders: int | None = None) -> str:
        """One line about the other commanders."""
        count = self.commanders if commanders is None else commanders
        return (f"{self._command_topic}: {count} other publisher(s); stop them, then call ~/enable, "
                "or set output.other_publisher to warn")
