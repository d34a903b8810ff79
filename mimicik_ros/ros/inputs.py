"""The subscriptions of a configured node: which topic fills what in the inbox."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Path
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from mimicik_ros.ros.inbox import Inbox
from mimicik_ros.ros.qos import JOINTS_QOS, TARGET_QOS, subscription_events


class Inputs:
    """Subscribes an inbox.

    Attributes:
        target_topics: resolved names of the topics on which targets come.

    Args:
        node: owner.
        inbox: whose methods the callbacks are; they only copy.
        report: takes one line about a peer with an incompatible QoS.
    """

    def __init__(self, node: Node, inbox: Inbox, report: Callable[[str], None]) -> None:
        self._node = node

        def listen(message_type: type[Any], topic: str, callback: Any, qos: Any) -> Any:
            events = subscription_events(node.resolve_topic_name(topic), report)
            return node.create_subscription(message_type, topic, callback, qos, event_callbacks=events)

        targets = [
            listen(PoseStamped, "~/target_pose", inbox.take_pose, TARGET_QOS),
            listen(Path, "~/target_path", inbox.take_path, TARGET_QOS),
            listen(TwistStamped, "~/target_twist", inbox.take_twist, TARGET_QOS),
        ]
        self.target_topics = tuple(subscription.topic_name for subscription in targets)
        self._subscriptions = [
            *targets, listen(JointState, "joint_states", inbox.take_joints, JOINTS_QOS),
            listen(Float64, "~/target_gripper", inbox.take_gripper, TARGET_QOS)]

    def destroy(self) -> None:
        """Destroy every subscription."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
