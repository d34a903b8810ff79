"""The governed target: the pose one tick ahead on the straight way to the target, at speeds from which a stop is possible."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from mimicik_ros.config import Config
from mimicik_ros.core.limits import stopping_step
from mimicik_ros.core.types import Array


@dataclass(frozen=True)
class Governor:
    """Largest step of one tick and its largest reduction from tick to tick: linear (m) and angular (rad)."""

    linear_step_m: float
    angular_step_rad: float
    linear_reduction_m: float
    angular_reduction_rad: float

    @classmethod
    def from_config(cls, config: Config) -> Governor:
        """Governor of a configuration. Joints without acceleration limits need no room to stop."""
        servo, dt = config.servo, config.dt_s
        free = all(math.isinf(a) for a in config.robot.acceleration_limits_rad_s2)
        return cls(servo.max_linear_speed_m_s * dt, servo.max_angular_speed_rad_s * dt,
                   math.inf if free else servo.max_linear_acceleration_m_s2 * dt * dt,
                   math.inf if free else servo.max_angular_acceleration_rad_s2 * dt * dt)

    def govern(self, T_base_tool: Array, T_base_target: Array, speed_scale: float) -> Array:
        """Pose (4, 4) one tick ahead: position on the chord, rotation on the geodesic, both by one fraction.

        Args:
            T_base_tool: (4, 4) pose of the last command.
            T_base_target: (4, 4).
            speed_scale: 0..1, of the engagement ramp.
        """
        offset = T_base_target[:3, 3] - T_base_tool[:3, 3]
        turn = np.asarray(pin.log3(T_base_tool[:3, :3].T @ T_base_target[:3, :3]))
        distance, angle = math.sqrt(offset @ offset), math.sqrt(turn @ turn)
        linear = min(speed_scale * self.linear_step_m, stopping_step(distance, self.linear_reduction_m))
        angular = min(speed_scale * self.angular_step_rad, stopping_step(angle, self.angular_reduction_rad))
        fraction = 1.0
        if distance > linear:
            fraction = linear / distance
        if angle > angular:
            fraction = min(fraction, angular / angle)
        if fraction >= 1.0:
            return T_base_target
        T = np.eye(4)
        T[:3, :3] = T_base_tool[:3, :3] @ pin.exp3(fraction * turn)
        T[:3, 3] = T_base_tool[:3, 3] + fraction * offset
        return T
