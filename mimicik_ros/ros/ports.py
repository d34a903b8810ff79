"""Everything that the node says, in one place: publishers and what goes out on them after a tick."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped
from rclpy.lifecycle import LifecycleNode
from std_msgs.msg import Float64

from mimicik_ros.config import Config
from mimicik_ros.core.status import Status
from mimicik_ros.core.types import Array, TickResult
from mimicik_ros.ros import conversions, diagnostics
from mimicik_ros.ros.outputs import MESSAGE_TYPES, encoder
from mimicik_ros.ros.qos import COMMAND_QOS, REPORT_QOS, publisher_events


class Ports:
    """Publishers of one configured node.

    Args:
        node: owner; its command publisher is a lifecycle publisher, silent unless active.
        config: decides the command's type, names and frame.
        report: takes one line about a peer with an incompatible QoS.

    Attributes:
        deliver: what happens to a tick's command: `send`, unless a CommandStream has taken over.
    """

    def __init__(self, node: LifecycleNode, config: Config, report: Callable[[str], None]) -> None:
        self._node = node
        self._frame = config.robot.base_frame_id
        self.reconfigure(config)
        self.deliver: Callable[[Array, Array, Time], None] = self.send

        def create(message_type: type[Any], topic: str, qos: Any, factory: Any = node.create_publisher) -> Any:
            resolved = node.resolve_topic_name(topic)
            return factory(message_type, topic, qos, event_callbacks=publisher_events(resolved, report))

        self.command = create(
            MESSAGE_TYPES[config.output.type], "joint_command", COMMAND_QOS, node.create_lifecycle_publisher)
        self._gripper = create(Float64, "gripper_command", COMMAND_QOS) if config.output.gripper_topic else None
        self._command_pose = create(PoseStamped, "~/command_pose", REPORT_QOS)
        self._governed = create(PoseStamped, "~/governed_target", REPORT_QOS)
        self._residual = create(TwistStamped, "~/residual", REPORT_QOS)
        self._status = create(DiagnosticStatus, "~/status", REPORT_QOS)
        self._diagnostics = create(DiagnosticArray, "/diagnostics", REPORT_QOS)

    def reconfigure(self, config: Config) -> None:
        """Take over values that may change at run time."""
        self._config = config
        self.encode = encoder(config)

    def publish_command(self, result: TickResult, gripper: float | None, time: Time) -> None:
        """Send result.q_command (not None) with its velocity, and the gripper's value where there is one."""
        assert result.q_command is not None
        if gripper is not None and gripper != self._config.output.gripper_position:
            output = dataclasses.replace(self._config.output, gripper_position=gripper)
            self.reconfigure(dataclasses.replace(self._config, output=output))
        if gripper is not None and self._gripper is not None:
            self._gripper.publish(Float64(data=gripper))
        velocity = result.velocity_rad_s if result.velocity_rad_s is not None else 0.0 * result.q_command
        self.deliver(result.q_command, velocity, time)

    def send(self, q: Array, velocity: Array, time: Time) -> None:
        """Publish joints (n,) rad and their velocity (n,) rad/s as they are."""
        self.command.publish(self.encode(q, velocity, time))

    def publish_poses(self, result: TickResult, time: Time) -> None:
        """Send the poses of the command and of the governed target and what lies between them, as far as they exist."""
        if result.T_command is not None:
            self._command_pose.publish(conversions.pose_message(result.T_command, self._frame, time))
        if result.T_governed is not None:
            self._governed.publish(conversions.pose_message(result.T_governed, self._frame, time))
        if result.T_command is not None and result.T_governed is not None:
            self._residual.publish(
                conversions.residual_message(result.T_command, result.T_governed, self._frame, time))

    def publish_status(self, status: Status, values: Mapping[str, Any]) -> None:
        """Send the status of one tick."""
        self._status.publish(diagnostics.status_message(self._node.get_fully_qualified_name(), status, values))

    def publish_diagnostics(self, status: Status, values: Mapping[str, Any], time: Time) -> None:
        """Send the 1 Hz report."""
        name = f"{self._node.get_fully_qualified_name()}: servo"
        self._diagnostics.publish(diagnostics.diagnostic_array(name, status, values, time))

    def destroy(self) -> None:
        """Destroy every publisher."""
        self._node.destroy_lifecycle_publisher(self.command)
        gripper = [self._gripper] if self._gripper is not None else []
        for publisher in (*gripper, self._command_pose, self._governed, self._residual, self._status, self._diagnostics):
            self._node.destroy_publisher(publisher)
