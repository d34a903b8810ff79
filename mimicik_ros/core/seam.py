"""The blend over a change of plan: what lies between the old motion and the new dies away at bounded speed and acceleration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from mimicik_ros.config import TargetConfig
from mimicik_ros.core import se3
from mimicik_ros.core.types import Array

# Largest absolute values over 0..1 of the quintics below: 15/8, 10/sqrt(3), and |h''| of the second at 0.2427.
OFFSET_SPEED, OFFSET_ACCELERATION = 1.875, 10.0 / math.sqrt(3.0)
DRIFT_ACCELERATION = 3.941


@dataclass(frozen=True)
class Seam:
    """An offset (6,) m, rad that begins with a velocity (6,) and ends at zero, at rest, after duration_s.

    With u = (t - start) / duration it is offset * (1 - 10 u^3 + 15 u^4 - 6 u^5) + velocity * duration *
    (u - 6 u^3 + 8 u^4 - 3 u^5): the quintic of Flash & Hogan 1985 for these ends and no acceleration at either.
    """

    offset: Array
    velocity: Array
    start_s: float
    duration_s: float

    def at(self, time_s: float) -> Array:
        """Offset (6,) m, rad at a time."""
        u = min(max((time_s - self.start_s) / self.duration_s, 0.0), 1.0) if self.duration_s > 0.0 else 1.0
        of_offset = 1.0 - u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
        of_velocity = u - u**3 * (6.0 - 8.0 * u + 3.0 * u * u)
        total: Array = of_offset * self.offset + of_velocity * self.duration_s * self.velocity
        return total


def begin(T_from: Array, velocity_from: Array, T_plan: Array, velocity_plan: Array, start_s: float,
          config: TargetConfig) -> Seam:
    """The shortest seam from a motion to a plan whose speed and acceleration stay within the configured ones.

    Speed: beyond the difference of the two velocities at the start, which is there whatever is done.

    Args:
        T_from, T_plan: (4, 4) at start_s, in the base frame.
        velocity_from, velocity_plan: (6,) m/s, rad/s there, in the base frame.
        start_s: when it begins.
        config: bounds.
    """
    offset = se3.difference(T_from, T_plan)
    turn = se3.rotation_exp(offset[3:])
    velocity = velocity_from - velocity_plan
    # Angular velocity of exp(offset(t)) R_plan(t) is the offset's own plus the plan's turned by it; Jlog3^T maps the offset's
    # angular velocity to the rate of its rotation vector.
    velocity[3:] = pin.Jlog3(turn).T @ (velocity_from[3:] - turn @ velocity_plan[3:])
    duration = max(
        _duration(offset[:3], velocity[:3], config.blend_linear_speed_m_s, config.blend_linear_acceleration_m_s2),
        _duration(offset[3:], velocity[3:], config.blend_angular_speed_rad_s, config.blend_angular_acceleration_rad_s2))
    return Seam(offset, velocity, start_s, duration)


def _duration(offset: Array, velocity: Array, speed: float, acceleration: float) -> float:
    """Least T with OFFSET_SPEED d / T <= speed and OFFSET_ACCELERATION d / T^2 + DRIFT_ACCELERATION v / T <= acceleration."""
    d, v = float(np.linalg.norm(offset)), float(np.linalg.norm(velocity))
    drift = DRIFT_ACCELERATION * v
    by_acceleration = (drift + math.sqrt(drift * drift + 4.0 * acceleration * OFFSET_ACCELERATION * d)) / (2.0 * acceleration)
    return max(OFFSET_SPEED * d / speed, by_acceleration)
