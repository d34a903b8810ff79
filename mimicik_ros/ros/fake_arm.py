"""A node that behaves like the vendor's driver, with the faults of real ones; see driver_model for the arm behind it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from mimicik_ros.ros import process
from mimicik_ros.ros.driver_model import DriverModel
from mimicik_ros.ros.outputs import MESSAGE_TYPES
from mimicik_ros.ros.qos import COMMAND_QOS, REPORT_QOS

GOOD_HOME_RAD = (0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708)
VENDOR_HOME_RAD = (0.0,) * 6  # exactly singular
_NOISE_NAMES = ("gripper",)

_PARAMETERS: dict[str, Any] = {
    "joint_names": [f"joint{i}" for i in range(1, 7)],
    "home_rad": list(GOOD_HOME_RAD),
    "command_type": "joint_state",
    "rate_hz": 250.0,
    "lag_s": 0.05,
    "steady_offset_rad": 0.0,
    "dropout_rate": 0.0,  # probability that a joint_states message is left out
    "shuffle_names": False,  # a new order of joints in each message
    "gripper": True,  # an extra joint on joint_states, an extra value accepted in commands
    "seed": 0,
}


class FakeArm(Node):
    """Takes joint_command, publishes joint_states. Every argument is passed to rclpy's Node."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("fake_arm", **kwargs)
        values = {name: self.declare_parameter(name, default).value for name, default in _PARAMETERS.items()}
        self._names: list[str] = list(values["joint_names"])
        self._extra: tuple[str, ...] = _NOISE_NAMES if values["gripper"] else ()
        self._dropout, self._shuffle = float(values["dropout_rate"]), bool(values["shuffle_names"])
        self._random = np.random.default_rng(int(values["seed"]))
        self.model = DriverModel(np.array(values["home_rad"]), float(values["lag_s"]), float(values["steady_offset_rad"]))
        self.rejected = 0
        self._period_s = 1.0 / float(values["rate_hz"])
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._last_s = self._steady.now().nanoseconds * 1e-9
        message_type = MESSAGE_TYPES[values["command_type"]]
        self._publisher = self.create_publisher(JointState, "joint_states", REPORT_QOS)
        self._commands = self.create_subscription(message_type, "joint_command", self._on_command, COMMAND_QOS)
        self.get_logger().info(f"ready: {len(self._names)} joints at {values['rate_hz']:g} Hz")
        self._loop = self.create_timer(self._period_s, self._on_timer, clock=self._steady)

    def _on_command(self, message: Any) -> None:
        if isinstance(message, JointTrajectory):
            reason = self._take_trajectory(message)
        elif isinstance(message, JointState):
            reason = self._take(list(message.position), list(message.velocity))
        else:
            reason = self._take(list(message.data), [np.inf] * self.model.n, exact=True)
        if reason is not None:
            self.rejected += 1
            self.get_logger().error(f"joint_command rejected: {reason}", throttle_duration_sec=1.0)

    def _take(self, positions: list[float], caps: list[float], exact: bool = False) -> str | None:
        n = self.model.n
        wanted = {n + 1} if exact and self._extra else {n, n + len(self._extra)}
        if len(positions) not in wanted:
            return f"expected {' or '.join(map(str, sorted(wanted)))} positions, got {len(positions)}"
        speed = np.array(caps[:n]) if caps else None
        if exact:  # a position controller has no cap: the set-point jumps to the command
            speed = np.full(n, 1e6)
        return self.model.command(np.array(positions[:n]), speed)

    def _take_trajectory(self, message: JointTrajectory) -> str | None:
        if not message.points or any(name not in message.joint_names for name in self._names):
            return f"a trajectory needs points and the joints {', '.join(self._names)}"
        point = message.points[-1]
        if len(point.positions) != len(message.joint_names):
            return f"{len(message.joint_names)} joint names but {len(point.positions)} positions"
        index = [list(message.joint_names).index(name) for name in self._names]
        goal = np.array(point.positions)[index]
        duration = max(point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec, self._period_s)
        return self.model.command(goal, np.maximum(np.abs(goal - self.model.setpoint) / duration, 1e-6))

    def _on_timer(self) -> None:
        now_s = self._steady.now().nanoseconds * 1e-9
        q = self.model.step(now_s - self._last_s)
        self._last_s = now_s
        if self._random.random() < self._dropout:
            return
        names, positions = [*self._names, *self._extra], [*map(float, q), *(0.0 for _ in self._extra)]
        order = self._random.permutation(len(names)) if self._shuffle else range(len(names))
        out = JointState(name=[names[i] for i in order], position=[positions[i] for i in order],
                         effort=[float("nan")] * len(names))  # legal and common on real drivers
        out.header.stamp = self.get_clock().now().to_msg()
        self._publisher.publish(out)


def main(args: list[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM. Returns the exit code: 0, or 2 for bad ROS arguments."""
    ending = process.Ending()
    if not process.init(args):
        return 2
    try:
        executor = SingleThreadedExecutor()
        executor.add_node(FakeArm())
        ending.spin(executor)
        return 0
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    sys.exit(main())
