"""The node `mimicik_marker`: a handle in RViz that leads the arm, with a menu and the colour of the status."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from rclpy.clock import Clock, ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from visualization_msgs.msg import InteractiveMarkerFeedback, Marker

from mimicik_ros.core import se3
from mimicik_ros.core.errors import ConfigError, MimicIKError
from mimicik_ros.core.freshness import SMALLEST_NORM
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.ros import conversions, diagnostics, marker_description, parameters, process
from mimicik_ros.ros.inbox import Inbox
from mimicik_ros.ros.marker_description import NAME, Entry, ServoState
from mimicik_ros.ros.marker_handle import Handle
from mimicik_ros.ros.marker_menu import MenuCalls
from mimicik_ros.ros.qos import JOINTS_QOS, REPORT_QOS
from mimicik_ros.share import share_path

STATUS_TIMEOUT_S = 1.0  # without ~/status for longer there is no servo
_FEEDBACK_QOS = QoSProfile(depth=100)  # the server's own depth of 1 would lose the press or the release of a mouse button


def rviz_server(node: Node, namespace: str) -> Any:
    """The standard server of interactive markers.

    Raises:
        ConfigError: its package is not installed.
    """
    try:
        from interactive_markers import InteractiveMarkerServer
    except ImportError as error:
        raise ConfigError(
            "the package interactive_markers is not installed: sudo apt install ros-$ROS_DISTRO-interactive-markers "
            "(pip has none; without a ROS distribution use `mimicik web`)") from error
    return InteractiveMarkerServer(node, namespace, feedback_sub_qos=_FEEDBACK_QOS)


class MarkerNode(Node):
    """Publishes ~/target_pose of the servo node in its own namespace, as long as the handle leads.

    Args:
        server_factory: makes the server (insert, setPose, applyChanges, shutdown) from node and namespace.
        servo_name: name of the servo node.
        kwargs: passed to rclpy's Node.

    Raises:
        MimicIKError: a parameter, the robot or the server's package is not good.
    """

    def __init__(self, server_factory: Callable[[Node, str], Any] = rviz_server, servo_name: str = "mimicik",
                 **kwargs: Any) -> None:
        super().__init__("mimicik_marker", **kwargs)
        refused = parameters.declare(self)
        if refused is not None:
            raise refused
        self.config = config = parameters.current(self)
        robot = config.robot
        self._kinematics = Kinematics(share_path(robot.urdf), robot.base_frame, robot.tool_frame, robot.joint_names)
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._inbox = Inbox(robot.joint_names, self._steady_s, self._ros_s, self._warn)
        self.marker = Handle(config.marker.timeout_s)
        self._servo, self._status_s = ServoState(), -np.inf
        self._shown: tuple[float, float, float] | None = None  # colour of the handle in RViz
        self._server = server_factory(self, self.get_name())
        self._target_topic = f"{servo_name}/target_pose"
        self._targets: Publisher | None = None
        self._texts = self.create_publisher(Marker, "~/status_text", REPORT_QOS)
        self._menu = MenuCalls(self, servo_name)
        self.create_subscription(JointState, "joint_states", self._inbox.take_joints, JOINTS_QOS)
        self.create_subscription(DiagnosticStatus, f"{servo_name}/status", self._take_status, REPORT_QOS)
        self.create_timer(config.dt_s, self._on_tick, clock=self._steady)
        self.get_logger().info(f"ready: handle '{NAME}' in {robot.base_frame_id}, RViz namespace "
                               f"{self.resolve_topic_name(self.get_name())}")

    def close(self) -> None:
        """Take the handle out of RViz. Call before destroy_node."""
        self._server.shutdown()

    def _steady_s(self) -> float:
        return self._steady.now().nanoseconds * 1e-9

    def _ros_s(self) -> float:
        return self.get_clock().now().nanoseconds * 1e-9

    def _warn(self, line: str) -> None:
        self.get_logger().warning(line, throttle_duration_sec=2.0)

    # --- what comes in

    def _take_status(self, message: DiagnosticStatus) -> None:
        self._status_s = self._steady_s()
        self._servo = marker_description.servo_state(diagnostics.status_values(message), message.level)
        self.marker.servo(self._servo)

    def take_feedback(self, message: InteractiveMarkerFeedback) -> None:
        """What was done to the handle in RViz; acted on at the next tick."""
        kind, client, now_s = message.event_type, message.client_id, self._steady_s()
        if kind == InteractiveMarkerFeedback.MENU_SELECT:
            entry = next((e for e in Entry if e.number == message.menu_entry_id), None)
            if entry is not None:
                self.marker.select(entry, now_s)
        elif kind == InteractiveMarkerFeedback.MOUSE_DOWN:
            self.marker.mouse_down(client, now_s)
        elif kind in (InteractiveMarkerFeedback.POSE_UPDATE, InteractiveMarkerFeedback.MOUSE_UP):
            T = self._pose_of(message)
            if kind == InteractiveMarkerFeedback.MOUSE_UP:
                self.marker.mouse_up(client, T, now_s)
            elif T is not None:
                self.marker.moved(client, T, now_s)

    def _pose_of(self, message: InteractiveMarkerFeedback) -> Array | None:
        """Pose (4, 4) of a feedback message, None, with a warning, where it cannot be used."""
        frame = self.config.robot.base_frame_id
        sample = conversions.target_sample(PoseStamped(header=message.header, pose=message.pose), 0.0)
        norm = float(np.linalg.norm(sample.quat_xyzw))
        if sample.frame_id != frame:
            self._warn(f"feedback refused: it is in frame '{sample.frame_id}', the handle in '{frame}'")
        elif not (np.isfinite(sample.position_m).all() and np.isfinite(norm) and norm >= SMALLEST_NORM):
            self._warn("feedback refused: its pose is not finite or has no rotation")
        else:
            return se3.pose_from_quat(sample.position_m, sample.quat_xyzw)
        return None

    def tool_pose(self) -> Array | None:
        """Pose (4, 4) of the tool by joint states that are complete, finite and fresh; else None."""
        joints = self._inbox.joints
        age_s = self._steady_s() - joints.receipt_s
        if not np.isfinite(joints.q).all() or not np.all(age_s <= self.config.freshness.joints_timeout_s):
            return None
        return self._kinematics.fk(joints.q)

    # --- the tick

    def _on_tick(self) -> None:
        now_s = self._steady_s()
        if now_s - self._status_s > STATUS_TIMEOUT_S and self._servo.mode is not None:
            self._servo = ServoState()
            self.marker.servo(self._servo)
        step = self.marker.tick(self.tool_pose(), now_s)
        if self.marker.refused is not None:
            self.get_logger().warning(self.marker.refused)
        self._send(step.target)
        self._show(step.seat)
        for entry in step.calls:
            self._menu.call(entry)

    def _send(self, target: Array | None) -> None:
        """Publish a target. The publisher exists only while the handle leads: the servo reports two of them as a conflict."""
        if target is None:
            if self._targets is not None:
                self.destroy_publisher(self._targets)
                self._targets = None
            return
        if self._targets is None:
            self._targets = self.create_publisher(PoseStamped, self._target_topic, 1)
        self._targets.publish(conversions.pose_message(
            target, self.config.robot.base_frame_id, self.get_clock().now().to_msg()))

    def _show(self, seat: Array | None) -> None:
        """Bring RViz up to date. Nothing is sent to the handle while it is dragged; its text is always current."""
        T, robot, scale_m = self.marker.T, self.config.robot, self.config.marker.scale_m
        if T is None:
            return
        rgb = marker_description.colour(self._servo)
        if self.marker.dragger is None and rgb != self._shown:
            title = self.get_namespace().strip("/") or robot.tool_frame
            self._server.insert(marker_description.describe(robot.base_frame_id, T, scale_m, rgb, title),
                                feedback_callback=self.take_feedback)
            self._server.applyChanges()
            self._shown = rgb
        elif seat is not None:
            self._server.setPose(NAME, conversions.pose_message(seat, robot.base_frame_id, self.get_clock().now().to_msg()).pose)
            self._server.applyChanges()
        self._texts.publish(marker_description.status_text(robot.base_frame_id, T, scale_m, self._servo))


def main(args: list[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM: 0; 2, with one line, when it cannot be set up."""
    ending = process.Ending()
    if not process.init(args):
        return 2
    try:
        node = MarkerNode()
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        ending.spin(executor)
        node.close()
        return 0
    except MimicIKError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    sys.exit(main())
