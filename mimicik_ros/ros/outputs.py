"""The command that leaves, as the message type that the driver wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from mimicik_ros.config import Config
from mimicik_ros.core.types import Array

MESSAGE_TYPES: dict[str, type[Any]] = {
    "joint_state": JointState, "float64_multi_array": Float64MultiArray, "joint_trajectory": JointTrajectory,
}

# Drivers that take JointState read velocity as a speed cap; this is the vendor's own value for a joint without one.
_GRIPPER_SPEED_CAP = 0.3

Encoder = Callable[[Array, Array, Time], Any]


def encoder(config: Config) -> Encoder:
    """Function (q (n,) rad, velocity (n,) rad/s, ROS time) -> message of the configured type."""
    gripper = config.output.append_gripper
    names = [*config.driver_joint_names, *([config.output.gripper_joint] if gripper else [])]
    caps = [*config.robot.velocity_limits_rad_s, *([_GRIPPER_SPEED_CAP] if gripper else [])]
    period = config.command_period_s

    def positions(q: Array) -> list[float]:
        return [*map(float, q), *([config.output.gripper_position] if gripper else [])]

    def joint_state(q: Array, velocity: Array, time: Time) -> JointState:
        out = JointState(name=names, position=positions(q), velocity=caps)
        out.header.stamp = time
        return out

    def float64_multi_array(q: Array, velocity: Array, time: Time) -> Float64MultiArray:
        return Float64MultiArray(data=positions(q))

    def joint_trajectory(q: Array, velocity: Array, time: Time) -> JointTrajectory:
        # Stamp 0 means "start now": a trajectory stamped with the present arrives in the past and is dropped.
        speed = [*map(float, velocity), *([0.0] if gripper else [])] if config.output.end_velocity else []
        after = Duration(sec=int(period), nanosec=round((period % 1.0) * 1e9))
        point = JointTrajectoryPoint(positions=positions(q), velocities=speed, time_from_start=after)
        return JointTrajectory(joint_names=names, points=[point])

    return {"joint_state": joint_state, "float64_multi_array": float64_multi_array,
            "joint_trajectory": joint_trajectory}[config.output.type]


def command_positions(message: Any, n: int) -> Array:
    """Positions (n,) rad of a command of any of the three types, read by index as the vendor's driver does."""
    if isinstance(message, JointState):
        return np.array(message.position[:n])
    if isinstance(message, Float64MultiArray):
        return np.array(message.data[:n])
    return np.array(message.points[-1].positions[:n])
