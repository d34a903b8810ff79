"""The governed target: the pose one tick ahead on the straight way to the target, at speeds from which a stop is possible."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from mimicik_ros.config import Config
from mimicik_ros.core import dls
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.limits import JointLimits, stopping_step
from mimicik_ros.core.types import Array


@dataclass(frozen=True)
class Governor:
    """Largest step of one tick: linear (m) and angular (rad)."""

    linear_step_m: float
    angular_step_rad: float

    @classmethod
    def from_config(cls, config: Config) -> Governor:
        """Governor of a configuration."""
        servo, dt = config.servo, config.dt_s
        return cls(servo.max_linear_speed_m_s * dt, servo.max_angular_speed_rad_s * dt)

    def govern(self, T_base_tool: Array, T_base_target: Array, speed_scale: float, most: float = 1.0) -> Array:
        """Pose (4, 4) one tick ahead: position on the chord, rotation on the geodesic, both by one fraction.

        Args:
            T_base_tool: (4, 4) pose of the last command.
            T_base_target: (4, 4).
            speed_scale: 0..1, of the engagement ramp.
            most: 0..1, largest fraction of the way, from `stoppable`.
        """
        offset = T_base_target[:3, 3] - T_base_tool[:3, 3]
        turn = np.asarray(pin.log3(T_base_tool[:3, :3].T @ T_base_target[:3, :3]))
        distance, angle = math.sqrt(offset @ offset), math.sqrt(turn @ turn)
        linear, angular = speed_scale * self.linear_step_m, speed_scale * self.angular_step_rad
        fraction = most
        if distance > linear:
            fraction = min(fraction, linear / distance)
        if angle > angular:
            fraction = min(fraction, angular / angle)
        if fraction >= 1.0:
            return T_base_target
        T = np.eye(4)
        T[:3, :3] = T_base_tool[:3, :3] @ pin.exp3(fraction * turn)
        T[:3, 3] = T_base_tool[:3, 3] + fraction * offset
        return T


def stoppable(kinematics: Kinematics, q_ref: Array, velocity: Array, T_base_target: Array, target_velocity: Array,
              limits: JointLimits) -> float:
    """Fraction of the way to the target that one tick may cover so that every joint can still stop there.

    The way is measured in joint space by one damped step. What the target itself moves in a tick is not to be stopped: a
    target that moves steadily is followed without lag, one that rests or jumps is approached with room to stop.

    Args:
        kinematics: the robot.
        q_ref, velocity: (n,) rad, rad/s of the last command.
        T_base_target: (4, 4).
        target_velocity: (6,) in the base frame, m/s then rad/s.
        limits: of the joints.
    """
    if np.isinf(limits.acceleration).all():
        return 1.0
    way, own = dls.damped_steps(kinematics, q_ref, T_base_target, target_velocity * limits.dt_s)
    fraction = 1.0
    for distance, target_step, v, acceleration in zip(way, own, velocity, limits.acceleration, strict=True):
        reach = abs(distance)
        reduction = acceleration * limits.dt_s * limits.dt_s
        if reach <= reduction:
            continue
        along = math.copysign(1.0, distance)
        carried = min(max(min(v * limits.dt_s * along, target_step * along), 0.0), reach)
        fraction = min(fraction, (carried + stopping_step(reach - carried, reduction)) / reach)
    return fraction
