"""The services behind the menu of the RViz handle: called without waiting, each answer logged."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from mimicik_ros.ros.marker_description import Entry

SERVICES: dict[Entry, tuple[type[Any], str]] = {
    Entry.ENABLE: (SetBool, "enable"), Entry.HOLD: (Trigger, "hold"), Entry.GO_HOME: (Trigger, "go_home"),
    Entry.CLEAR_FAULT: (Trigger, "reset"),
}


class MenuCalls:
    """Clients of the servo's services, on behalf of a node in the servo's namespace."""

    def __init__(self, node: Node, servo_name: str) -> None:
        self._node, self._log = node, node.get_logger()
        self._clients = {entry: node.create_client(kind, f"{servo_name}/{name}") for entry, (kind, name) in SERVICES.items()}

    def call(self, entry: Entry) -> None:
        """Call the service of an entry; warn where there is none."""
        client = self._clients[entry]
        if not client.service_is_ready():
            self._log.warning(f"{entry.title}: no service {self._node.resolve_service_name(client.srv_name)}; "
                              "is the servo node there and configured?")
            return
        request = SetBool.Request(data=True) if entry is Entry.ENABLE else Trigger.Request()
        client.call_async(request).add_done_callback(lambda future: self._answered(entry, future))

    def _answered(self, entry: Entry, future: Any) -> None:
        answer = future.result()
        line = f"{entry.title}: {answer.message or ('done' if answer.success else 'refused')}"
        # Two lines, as rclpy takes a logger call at one place for one severity.
        if answer.success:
            self._log.info(line)
        else:
            self._log.warning(line)
