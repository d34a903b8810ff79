"""A joint path that follows target poses from given joints, and where it meets them: the referee of reach."""

from __future__ import annotations

import numpy as np

from mimicik_ros.core import dls
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array, Flags
from mimicik_ros.evaluation.metrics import runs_of

STEPS, DAMPING, TOLERANCE_M = 40, 0.02, 1e-5
MET_M = 2e-4  # weighted error (dls.WEIGHTS) below which a target counts as met
MARGIN_RAD = 0.01  # inside the joint limits, as the default configuration has it


def follow(kinematics: Kinematics, poses: Array, q_start: Array) -> tuple[Array, Flags]:
    """Bounded damped least squares from row to row, without limits of speed.

    Args:
        kinematics: the robot.
        poses: (k, 4, 4) targets in the base frame.
        q_start: (n,) rad.

    Returns:
        Joints (k, n) rad, and whether each row is met.
    """
    low, high = kinematics.lower + MARGIN_RAD, kinematics.upper - MARGIN_RAD
    q, path, met = np.clip(q_start, low, high), np.empty((len(poses), kinematics.n)), np.empty(len(poses), dtype=bool)
    for i, pose in enumerate(poses):
        found = dls.refine(kinematics, q, pose, low, high, STEPS, DAMPING, TOLERANCE_M)
        q, path[i], met[i] = found.q, found.q, found.error <= MET_M
    return path, met


def leading(met: Flags) -> int:
    """How many rows are met before the first that is not."""
    return len(met) if met.all() else int(np.argmin(met))


def longest(met: Flags) -> slice:
    """The longest run of rows that are met (empty where none is)."""
    starts, ends = runs_of(met)
    if not len(starts):
        return slice(0, 0)
    i = int(np.argmax(ends - starts))
    return slice(int(starts[i]), int(ends[i]))
