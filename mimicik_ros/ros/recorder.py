"""Listens to everything around the node and keeps it in memory, stamped at receipt, for the demo and for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from mimicik_ros.ros import conversions, diagnostics
from mimicik_ros.ros.outputs import MESSAGE_TYPES, command_positions

_DEEP = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=200, reliability=ReliabilityPolicy.BEST_EFFORT)


class Recorder(Node):
    """Records status, joint_command, joint_states, target_pose, governed_target, command_pose and residual.

    Args:
        joint_names: our n joints; joint_states is kept in this order, incomplete messages are left out.
        command_type: output.type of the node.
        node_name: name of the node whose private topics are recorded, in this node's namespace.
        kwargs: passed to rclpy's Node.
    """

    def __init__(self, joint_names: tuple[str, ...], command_type: str = "joint_state", node_name: str = "mimicik",
                 **kwargs: Any) -> None:
        super().__init__("mimicik_recorder", **kwargs)
        self._names = joint_names
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self._listen(MESSAGE_TYPES[command_type], "joint_command", "joint_command", self._command)
        self._listen(JointState, "joint_states", "joint_states", self._joints)
        self._listen(DiagnosticStatus, f"{node_name}/status", "status", self._status)
        self._listen(TwistStamped, f"{node_name}/residual", "residual", self._residual)
        for name in ("target_pose", "governed_target", "command_pose"):
            self._listen(PoseStamped, f"{node_name}/{name}", name, self._pose)

    def records(self) -> dict[str, dict[str, Any]]:
        """Columns by topic, each an array (or a list of dicts under `values`) over the received messages.

        Every topic has steady_s and ros_s (receipt). joint_command and joint_states: q (k, n) rad; joint_states and the
        poses: stamp_s; poses: position_m (k, 3), quat_xyzw (k, 4); residual: stamp_s, position_m (k,), rotation_rad (k,);
        status: level (k,), values (text by key). A topic without messages has empty columns steady_s and ros_s.
        """
        out: dict[str, dict[str, Any]] = {}
        for topic, rows in self._rows.items():
            keys = list(rows[0]) if rows else ["steady_s", "ros_s"]
            columns = {key: [row[key] for row in list(rows)] for key in keys}
            out[topic] = {k: v if k == "values" else np.array(v) for k, v in columns.items()}
        return out

    def rows(self, topic: str) -> list[dict[str, Any]]:
        """Rows of one topic, the same list that grows while messages arrive."""
        return self._rows[topic]

    def clear(self) -> None:
        """Forget everything."""
        for rows in self._rows.values():
            rows.clear()

    def _listen(self, message_type: type[Any], topic: str, key: str, read: Any) -> None:
        rows = self._rows.setdefault(key, [])

        def keep(message: Any) -> None:
            row = read(message)
            if row is not None:
                steady_s = self._steady.now().nanoseconds * 1e-9
                rows.append({"steady_s": steady_s, "ros_s": self.get_clock().now().nanoseconds * 1e-9, **row})

        self.create_subscription(message_type, topic, keep, _DEEP)

    def _command(self, message: Any) -> dict[str, Any]:
        return {"q": command_positions(message, len(self._names))}

    def _joints(self, message: JointState) -> dict[str, Any] | None:
        place = {name: i for i, name in enumerate(message.name)}
        if any(name not in place for name in self._names):
            return None
        q = np.array([message.position[place[name]] for name in self._names])
        return {"stamp_s": conversions.seconds(message.header.stamp), "q": q}

    def _pose(self, message: PoseStamped) -> dict[str, Any]:
        target = conversions.target_sample(message, 0.0)
        return {"stamp_s": target.stamp_s, "position_m": target.position_m, "quat_xyzw": target.quat_xyzw}

    def _residual(self, message: TwistStamped) -> dict[str, Any]:
        residual = conversions.residual_of(message)
        return {"stamp_s": conversions.seconds(message.header.stamp), "position_m": residual.position_m,
                "rotation_rad": residual.rotation_rad}

    def _status(self, message: DiagnosticStatus) -> dict[str, Any]:
        return {"level": int.from_bytes(message.level, "little"), "values": diagnostics.status_values(message)}
