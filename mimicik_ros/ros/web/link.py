"""The ROS side of the page: what it hears of one arm and its node, the target that it sends, the services that it calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from mimicik_ros.core import se3
from mimicik_ros.core.freshness import SMALLEST_NORM
from mimicik_ros.core.joints import merge
from mimicik_ros.core.types import Array, JointSnapshot, Residual
from mimicik_ros.ros import conversions, diagnostics
from mimicik_ros.ros.qos import JOINTS_QOS, TARGET_QOS
from mimicik_ros.ros.web.handle import NodeView

SERVICES: dict[str, type[Any]] = {"enable": SetBool, "hold": Trigger, "go_home": Trigger, "reset": Trigger}


@dataclass(frozen=True)
class StatusSeen:
    """One ~/status: level 0 ok, 1 warn, 2 error."""

    level: int
    text: str
    values: dict[str, str]


class WebLink(Node):
    """Topics and services of one arm, relative to this node's namespace.

    Attributes:
        joints: joint states by name.
        status, residual: the last of the node, None before the first.

    Args:
        joint_names: our n joints.
        base_frame: frame of the targets.
        servo_name: name of the servo node.
        joint_states: topic of the driver.
        kwargs: passed to rclpy's Node.
    """

    def __init__(self, joint_names: tuple[str, ...], base_frame: str, servo_name: str = "mimicik",
                 joint_states: str = "joint_states", **kwargs: Any) -> None:
        super().__init__("mimicik_web", **kwargs)
        self._names, self._base_frame = joint_names, base_frame
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.joints = JointSnapshot.empty(len(joint_names))
        self.status: StatusSeen | None = None
        self.residual: Residual | None = None
        self._status_s = self._command_s = self._target_s = -np.inf
        self._T_command: Array | None = None
        self._T_target: Array | None = None
        self.joints_topic = self.resolve_topic_name(joint_states)
        self.create_subscription(JointState, joint_states, self._take_joints, JOINTS_QOS)
        heard = {"status": (DiagnosticStatus, self._take_status), "residual": (TwistStamped, self._take_residual),
                 "command_pose": (PoseStamped, self._take_command), "target_pose": (PoseStamped, self._take_target)}
        for name, (kind, take) in heard.items():
            self.create_subscription(kind, f"{servo_name}/{name}", take, TARGET_QOS)
        self._targets = self.create_publisher(PoseStamped, f"{servo_name}/target_pose", TARGET_QOS)
        self._service_clients = {name: self.create_client(kind, f"{servo_name}/{name}") for name, kind in SERVICES.items()}
        self.servo_name = self.resolve_topic_name(servo_name)

    def steady_s(self) -> float:
        """Steady clock in seconds."""
        return self._steady.now().nanoseconds * 1e-9

    # --- what is known

    def node_view(self) -> NodeView:
        """The node as its last status shows it."""
        if self.status is None:
            return NodeView()
        values = self.status.values
        return NodeView(values.get("status", ""), values.get("mode", ""), self.steady_s() - self._status_s)

    def fresh_q(self, timeout_s: float) -> Array | None:
        """Joints (n,) rad where each is younger than timeout_s and finite, else None."""
        ages = self.steady_s() - self.joints.receipt_s
        good = np.all(np.isfinite(self.joints.q)) and bool(np.all(ages <= timeout_s))
        return self.joints.q if good else None

    def missing_joints(self) -> tuple[str, ...]:
        """Names that no message has brought yet."""
        return tuple(n for n, q in zip(self._names, self.joints.receipt_s, strict=True) if np.isnan(q))

    def fresh_command(self, timeout_s: float) -> Array | None:
        """Tool pose (4, 4) of the command in force, None where the node commands nothing."""
        return self._T_command if self.steady_s() - self._command_s <= timeout_s else None

    def fresh_target(self, timeout_s: float) -> Array | None:
        """Last target pose (4, 4) on the topic, from anybody; None where there is none or it lies in another frame."""
        return self._T_target if self.steady_s() - self._target_s <= timeout_s else None

    # --- what is said

    def publish_target(self, T: Array) -> None:
        """Send T (4, 4) in the base frame, stamped now."""
        self._targets.publish(conversions.pose_message(T, self._base_frame, self.get_clock().now().to_msg()))

    def offers(self, service: str) -> bool:
        """Whether the node offers a service of SERVICES."""
        return bool(self._service_clients[service].service_is_ready())

    def call(self, service: str, answered: Callable[[bool, str], None]) -> None:
        """Call a service of SERVICES; answered gets success and message from the executor, at once where nobody offers it."""
        client = self._service_clients[service]
        if not client.service_is_ready():
            answered(False, f"{self.servo_name} offers no ~/{service}")
            return
        request = SetBool.Request(data=True) if service == "enable" else Trigger.Request()

        def done(future: Any) -> None:
            if future.exception() is not None:
                answered(False, str(future.exception()))
            else:
                answered(future.result().success, future.result().message)

        client.call_async(request).add_done_callback(done)

    # --- what is heard

    def _take_joints(self, message: JointState) -> None:
        self.joints, reason = merge(self.joints, self._names, tuple(message.name), np.asarray(message.position, dtype=float),
                                    conversions.seconds(message.header.stamp), self.steady_s())
        if reason is not None:
            self.get_logger().warning(f"{self.joints_topic}: message rejected: {reason}", throttle_duration_sec=2.0)

    def _take_status(self, message: DiagnosticStatus) -> None:
        self.status = StatusSeen(int.from_bytes(message.level, "little"), message.message, diagnostics.status_values(message))
        self._status_s = self.steady_s()

    def _take_residual(self, message: TwistStamped) -> None:
        self.residual = conversions.residual_of(message)

    def _take_command(self, message: PoseStamped) -> None:
        self._T_command, self._command_s = self._pose(message), self.steady_s()

    def _take_target(self, message: PoseStamped) -> None:
        self._T_target, self._target_s = self._pose(message), self.steady_s()

    def _pose(self, message: PoseStamped) -> Array | None:
        """Pose (4, 4), or None where it cannot be shown: the node says by its status what is wrong with it."""
        sample = conversions.target_sample(message, 0.0)
        values = np.concatenate([sample.position_m, sample.quat_xyzw])
        usable = np.all(np.isfinite(values)) and np.linalg.norm(sample.quat_xyzw) >= SMALLEST_NORM
        if not usable or message.header.frame_id not in ("", self._base_frame):
            return None
        return se3.pose_from_quat(sample.position_m, sample.quat_xyzw)
