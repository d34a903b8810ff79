"""A node that behaves like one of the real drivers, with their faults; driver_rules has the rules, driver_model the arm."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState

from mimicik_ros.core.errors import ConfigError
from mimicik_ros.ros import process
from mimicik_ros.ros.driver_model import DriverModel
from mimicik_ros.ros.driver_rules import DRIVERS
from mimicik_ros.ros.qos import COMMAND_QOS, REPORT_QOS

GOOD_HOME_RAD = (0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708)
VENDOR_HOME_RAD = (0.0,) * 6  # exactly singular

_PARAMETERS: dict[str, Any] = {
    "joint_names": [f"joint{i}" for i in range(1, 7)],
    "home_rad": list(GOOD_HOME_RAD),
    "driver": "vendor",  # one of driver_rules.DRIVERS
    "command_topic": "joint_command",
    "rate_hz": 250.0,  # of the arm's loop; joint_states may come more slowly, as the driver has it
    "lag_s": 0.05,
    "steady_offset_rad": 0.0,
    "dropout_rate": 0.0,  # probability that a joint_states message is left out
    "shuffle_names": False,  # a new order of joints in each message
    "gripper": True,  # an extra joint on joint_states; the ros2_control drivers then want its value too
    "end_velocity": False,  # driver trajectory: allow_nonzero_velocity_at_trajectory_end
    "from_desired": False,  # driver trajectory: interpolate_from_desired_state
    "tolerance_rad": 0.0,  # driver trajectory: constraints.<joint>.trajectory, 0 = none
    "seed": 0,
}


class FakeArm(Node):
    """Takes joint_command, publishes joint_states. Every argument is passed to rclpy's Node."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("fake_arm", **kwargs)
        values = {name: self.declare_parameter(name, default).value for name, default in _PARAMETERS.items()}
        if values["driver"] not in DRIVERS:
            raise ConfigError(f"fake_arm: driver must be one of {', '.join(DRIVERS)}, got '{values['driver']}'")
        kind = DRIVERS[values["driver"]]
        self._names: list[str] = [kind.prefix + name for name in values["joint_names"]]
        gripper = kind.gripper or ("gripper" if values["gripper"] else "")
        self._extra: tuple[str, ...] = (gripper, *kind.others) if gripper else kind.others
        self._dropout, self._shuffle = float(values["dropout_rate"]), bool(values["shuffle_names"])
        self._random = np.random.default_rng(int(values["seed"]))
        self.model = DriverModel(np.array(values["home_rad"]), float(values["lag_s"]), float(values["steady_offset_rad"]))
        options = {name: values[name] for name in ("end_velocity", "from_desired", "tolerance_rad")}
        self.rules = kind.make(self.model, [*self._names, *([gripper] if gripper else [])], options)
        self.accepted = self.rejected = 0
        self.refusals: set[str] = set()
        self._period_s = 1.0 / float(values["rate_hz"])
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._last_s = self._steady.now().nanoseconds * 1e-9
        self._every = max(1, round(float(values["rate_hz"]) / kind.state_rate_hz))
        self._steps = 0
        self._publisher = self.create_publisher(JointState, "joint_states", REPORT_QOS)
        self._commands = self.create_subscription(
            kind.message_type, str(values["command_topic"]), self._on_command, COMMAND_QOS)
        self.get_logger().info(f"ready: {len(self._names)} joints at {values['rate_hz']:g} Hz")
        self._loop = self.create_timer(self._period_s, self._on_timer, clock=self._steady)

    def _on_command(self, message: Any) -> None:
        reason = self.rules.take(message, self._ros_s())
        if reason is None:
            self.accepted += 1
        else:
            self.rejected += 1
            self.refusals.add(reason)
            self.get_logger().error(f"joint_command rejected: {reason}", throttle_duration_sec=1.0)

    def _on_timer(self) -> None:
        now_s = self._steady.now().nanoseconds * 1e-9
        self.rules.advance(self._ros_s())
        q = self.model.step(now_s - self._last_s)
        self._last_s = now_s
        self._steps += 1
        if self._steps % self._every:
            return
        if self._random.random() < self._dropout:
            return
        names, positions = [*self._names, *self._extra], [*map(float, q), *(0.0 for _ in self._extra)]
        order = self._random.permutation(len(names)) if self._shuffle else range(len(names))
        out = JointState(name=[names[i] for i in order], position=[positions[i] for i in order],
                         effort=[float("nan")] * len(names))  # legal and common on real drivers
        out.header.stamp = self.get_clock().now().to_msg()
        self._publisher.publish(out)

    def _ros_s(self) -> float:
        return float(self.get_clock().now().nanoseconds) * 1e-9


def main(args: list[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM. Returns the exit code: 0, or 2 for bad ROS arguments or an unknown driver."""
    ending = process.Ending()
    if not process.init(args):
        return 2
    try:
        executor = SingleThreadedExecutor()
        executor.add_node(FakeArm())
        ending.spin(executor)
        return 0
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    sys.exit(main())
