"""Bounded damped least squares: a few Levenberg-Marquardt steps towards a pose, inside a box, never for the worse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array

ROTATION_WEIGHT_M = 0.25  # a radian counts as this many metres: 1 mm weighs about as much as 0.2 deg
FULL_DAMPING_M = 0.02  # weighted error from which the damping is full
LEAST_DAMPING = 1e-4
WAY_DAMPING = 0.02
WEIGHTS = np.array([1.0, 1.0, 1.0, ROTATION_WEIGHT_M, ROTATION_WEIGHT_M, ROTATION_WEIGHT_M])


@dataclass(frozen=True)
class Refined:
    """Joints (n,) rad, their weighted error (m), the steps tried, and the error where it started."""

    q: Array
    error: float
    steps: int
    start_error: float


def pose_error(kinematics: Kinematics, q: Array, T_goal: Array) -> Array:
    """Weighted pose error (6,) in the tool frame: metres, then radians times ROTATION_WEIGHT_M."""
    T = kinematics.fk(q)
    Rt = T[:3, :3].T
    error = np.empty(6)
    error[:3] = Rt @ (T_goal[:3, 3] - T[:3, 3])
    error[3:] = ROTATION_WEIGHT_M * pin.log3(Rt @ T_goal[:3, :3])
    return error


def weighted_error(kinematics: Kinematics, q: Array, T_goal: Array) -> float:
    """Norm of pose_error (m)."""
    return float(np.linalg.norm(pose_error(kinematics, q, T_goal)))


def refine(kinematics: Kinematics, q_start: Array, T_goal: Array, low: Array, high: Array, max_steps: int, damping: float,
           tolerance: float) -> Refined:
    """Reduce the pose error by damped steps (Nakamura & Hanafusa 1986; damping by error: Sugihara 2011).

    A joint at its bound whose step points outward is held there and the others are solved again, so the box costs no
    accuracy where the other joints can make up for it. A step that does not reduce the error is undone and damped more.

    Args:
        kinematics: the robot.
        q_start: (n,) rad, inside the box.
        T_goal: (4, 4) in the base frame.
        low, high: (n,) rad, the box.
        max_steps: at most this many steps.
        damping: largest damping, as a singular value.
        tolerance: stop below this weighted error (m).
    """
    q = q_start
    error = pose_error(kinematics, q, T_goal)
    norm = start = float(np.linalg.norm(error))
    boost, steps = 1.0, 0
    while steps < max_steps and norm > tolerance:
        steps += 1
        J = WEIGHTS[:, None] * kinematics.jacobian(q)
        strength = boost * max(LEAST_DAMPING, damping * min(1.0, norm / FULL_DAMPING_M))
        candidate = _bounded_step(J, error, strength, q, low, high)
        moved = pose_error(kinematics, candidate, T_goal)
        moved_norm = float(np.linalg.norm(moved))
        if moved_norm < norm:
            if moved_norm > 0.9999 * norm:
                return Refined(candidate, moved_norm, steps, start)
            q, error, norm, boost = candidate, moved, moved_norm, max(0.3 * boost, 0.1)
        else:
            boost *= 5.0
    return Refined(q, norm, steps, start)


def damped_steps(kinematics: Kinematics, q: Array, T_goal: Array, motion: Array) -> tuple[Array, Array]:
    """Two free steps (n,) rad from q (n,): towards T_goal (4, 4), and along a motion (6,) m, rad in the base frame."""
    J = WEIGHTS[:, None] * kinematics.jacobian(q)
    A = J @ J.T
    A[np.diag_indices_from(A)] += WAY_DAMPING**2
    Rt = kinematics.fk(q)[:3, :3].T
    along = np.concatenate([Rt @ motion[:3], ROTATION_WEIGHT_M * (Rt @ motion[3:])])
    steps = J.T @ np.linalg.solve(A, np.stack([pose_error(kinematics, q, T_goal), along], axis=1))
    return steps[:, 0], steps[:, 1]


def _bounded_step(J: Array, error: Array, damping: float, q: Array, low: Array, high: Array) -> Array:
    """q + the damped step, with joints that would leave the box fixed at its face and the rest solved again."""
    n = len(q)
    free = np.ones(n, dtype=bool)
    step = np.zeros(n)
    for _ in range(n):
        Jf = J[:, free]
        left = error - J[:, ~free] @ step[~free]
        A = Jf.T @ Jf
        A[np.diag_indices_from(A)] += damping * damping
        step[free] = np.linalg.solve(A, Jf.T @ left)
        goal = q + step
        out = free & ((goal < low) | (goal > high))
        if not out.any():
            break
        step[out] = np.clip(goal[out], low[out], high[out]) - q[out]
        free &= ~out
        if not free.any():
            break
    return np.clip(q + step, low, high)
