"""Inverse kinematics of one pose, without motion: multi-start damped least squares inside the limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mimicik_ros.core import dls
from mimicik_ros.core.kinematics import Kinematics, residual
from mimicik_ros.core.types import Array, Residual

STEPS = 100
DAMPING = 0.02
TOLERANCE = 1e-6  # weighted error (m) at which a start is done
SEED = 0


@dataclass(frozen=True)
class Reach:
    """The best joints found (n,) rad, their residual, the starts tried, and the smallest singular value there."""

    q: Array
    residual: Residual
    starts: int
    sigma_min: float


def solve_pose(kinematics: Kinematics, T_goal: Array, q_init: Array, low: Array, high: Array, starts: int) -> Reach:
    """Joints for a pose (4, 4) in the base frame: from q_init first, then from seeded random joints until one reaches it.

    Args:
        kinematics: the robot.
        T_goal: (4, 4).
        q_init: (n,) rad, the first start; put into the limits.
        low, high: (n,) rad, position limits of the answer.
        starts: at most this many starts.
    """
    rng = np.random.default_rng(SEED)
    best = dls.refine(kinematics, np.clip(q_init, low, high), T_goal, low, high, STEPS, DAMPING, TOLERANCE)
    tried = 1
    while best.error > TOLERANCE and tried < starts:
        tried += 1
        q = rng.uniform(low, high)
        found = dls.refine(kinematics, q, T_goal, low, high, STEPS, DAMPING, TOLERANCE)
        if found.error < best.error:
            best = found
    return Reach(best.q, residual(kinematics.fk(best.q), T_goal), tried, kinematics.sigma_min(best.q))
