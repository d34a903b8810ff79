"""What can be asked of the node: enable, hold, reset, go home. Each takes effect at the next tick."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from mimicik_ros.ros.session import Session

NOT_ACTIVE = "the node is not active"


class Services:
    """The services of a configured node.

    Args:
        node: owner.
        session: gives the session, None while the node is not active: then everything is refused.
    """

    def __init__(self, node: Node, session: Callable[[], Session | None]) -> None:
        self._node, self._session = node, session
        self._services = [
            node.create_service(SetBool, "~/enable", self._serve(lambda session, request: session.request_enable(request.data))),
            node.create_service(Trigger, "~/hold", self._serve(lambda session, _: session.request_hold())),
            node.create_service(Trigger, "~/reset", self._serve(lambda session, _: session.request_reset())),
            node.create_service(Trigger, "~/go_home", self._serve(lambda session, _: session.request_home())),
        ]

    def destroy(self) -> None:
        """Destroy every service."""
        for service in self._services:
            self._node.destroy_service(service)

    def _serve(self, ask: Callable[[Session, Any], str | None]) -> Callable[[Any, Any], Any]:
        """A callback that asks the session; ask returns why it refuses, or None."""

        def callback(request: Any, response: Any) -> Any:
            session = self._session()
            refused = NOT_ACTIVE if session is None else ask(session, request)
            response.success = refused is None
            response.message = "from the next tick on" if refused is None else f"refused: {refused}"
            return response

        return callback
