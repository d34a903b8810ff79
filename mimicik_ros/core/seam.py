"""What is left of the old motion after a change of plan: an offset that dies away at bounded speed and acceleration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from mimicik_ros.config import TargetConfig
from mimicik_ros.core import se3
from mimicik_ros.core.limits import stopping_step
from mimicik_ros.core.types import Array

KEPT = 0.8  # of the acceleration is planned with; the rest is for ticks of unequal length and for turning round


@dataclass(frozen=True)
class Seam:
    """Offset (6,) m, rad of the target from its plan in the base frame, and its rate (6,) m/s, rad/s."""

    offset: Array
    rate: Array

    @classmethod
    def none(cls) -> Seam:
        """The target is its plan."""
        return cls(np.zeros(6), np.zeros(6))


def advance(seam: Seam, dt_s: float, config: TargetConfig) -> Seam:
    """The seam dt_s later: on the straight way to nothing, where it ends at rest.

    The rate changes by at most the configured acceleration, and is not raised above the configured speed. It can be made anew
    at every tick, by a policy that sends at every tick, and still gets there.
    """
    if dt_s <= 0.0:
        return seam
    linear = _advance(seam.offset[:3], seam.rate[:3], dt_s, config.blend_linear_speed_m_s, config.blend_linear_acceleration_m_s2)
    angular = _advance(seam.offset[3:], seam.rate[3:], dt_s, config.blend_angular_speed_rad_s,
                       config.blend_angular_acceleration_rad_s2)
    return Seam(np.concatenate([linear[0], angular[0]]), np.concatenate([linear[1], angular[1]]))


def rebased(seam: Seam, T_old: Array, velocity_old: Array, T_new: Array, velocity_new: Array) -> Seam:
    """The seam over another plan, so that pose and velocity of the target stay what they are.

    Args:
        seam: over the old plan.
        T_old, velocity_old: pose (4, 4) and velocity (6,) m/s, rad/s of the old plan now, in the base frame.
        T_new, velocity_new: of the new plan.
    """
    offset = se3.difference(se3.shifted(T_old, seam.offset), T_new)
    rate = seam.rate + velocity_old - velocity_new
    # The target's rotation is exp(offset) R_plan: its angular velocity is the offset's own plus the plan's turned by it.
    # Transposed, Pinocchio's right Jacobians are the left ones, which map the rate of a rotation vector to that velocity.
    velocity = pin.Jexp3(seam.offset[3:]).T @ seam.rate[3:] + se3.rotation_exp(seam.offset[3:]) @ velocity_old[3:]
    turn = se3.rotation_exp(offset[3:])
    rate[3:] = pin.Jlog3(turn).T @ (velocity - turn @ velocity_new[3:])
    return Seam(offset, rate)


def _advance(offset: Array, rate: Array, dt_s: float, speed: float, acceleration: float) -> tuple[Array, Array]:
    distance = float(np.linalg.norm(offset))
    wanted = np.zeros(3)
    if distance > 0.0:
        fastest = min(speed, stopping_step(distance, KEPT * acceleration * dt_s * dt_s) / dt_s)
        wanted = offset * (-fastest / distance)
    change = wanted - rate
    size, most = float(np.linalg.norm(change)), acceleration * dt_s
    if size > most:
        change = change * (most / size)
    rate = rate + change
    return offset + rate * dt_s, rate
