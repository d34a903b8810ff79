"""Closed-form inverse kinematics of a 6-joint arm with parallel joints 2 and 3 and a spherical wrist: up to 8 branches.

Product of exponentials (Lynch & Park, Modern Robotics, ch. 4 and 6): with axes w_i and points p_i in the base frame at q = 0,
T = R_1 ... R_6 M. The wrist centre c does not move with joints 4 to 6, so joints 1 to 3 place it and joints 4 to 6 turn the
tool; each joint then follows from one of the Paden-Kahan subproblems (Murray, Li & Sastry 1994, section 3.3).
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from mimicik_ros.core import dls
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.limits import JointLimits
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation.baselines.baseline import Answer

STRUCTURE = 1e-6  # rad and m by which the arm may differ from the structure
SINGULAR = 1e-9  # m, or the sine of an angle, below which a joint has no say and keeps its value
AT_LIMIT_RAD = 1e-9
TURN = 2.0 * math.pi


class ClosedForm:
    """The branch nearest to the last command (largest joint difference) inside the position limits.

    Where no branch is inside them, or the wrist is out of reach, the branch with the smallest error after a clip.

    Raises:
        ConfigError: the arm has another structure.
    """

    def __init__(self, kinematics: Kinematics, limits: JointLimits) -> None:
        self._kin, self._limits = kinematics, limits
        self._w, self._p, self._M = zero_screws(kinematics)
        w, p = self._w, self._p
        if kinematics.n != 6 or kinematics.table.prismatic.any():
            raise _other_structure(kinematics, "6 revolute joints")
        self._c = c = wrist_centre(w, p)
        self._along = float(w[1] @ (c - p[0]))  # of the wrist centre, on axis 2
        self._upper = p[2] - p[1] - w[1] * (w[1] @ (p[2] - p[1]))  # from axis 2 to axis 3, square to both
        self._fore = c - p[2] - w[1] * (w[1] @ (c - p[2]))  # from axis 3 to the wrist centre
        _check(kinematics, w, p, c, float(min(np.linalg.norm(self._upper), np.linalg.norm(self._fore))))
        self._q3_zero = _angle(w[2], -self._upper, self._fore)  # angle at the elbow, at q = 0
        self._q5_zero = _angle(w[4], w[3], w[5])

    def joints(self, q_ref: Array, T_goal: Array, low: Array, high: Array) -> Answer:
        """See PoseSolver; one evaluation, so no iterations. The box does not bind the choice: the way there is shortened."""
        found = self.branches(T_goal, q_ref, self._limits.lower, self._limits.upper)
        if len(found):
            return Answer(found[np.abs(found - q_ref).max(axis=1).argmin()])
        candidates = np.clip(self._candidates(T_goal, q_ref, stretch=True), self._limits.lower, self._limits.upper)
        errors = [dls.weighted_error(self._kin, q, T_goal) for q in candidates]
        return Answer(candidates[int(np.argmin(errors))] if errors else None)

    def branches(self, T_goal: Array, q_ref: Array, lower: Array, upper: Array) -> Array:
        """All exact solutions (k, 6) rad, k <= 8, of a pose (4, 4) inside lower..upper (6,), each turned nearest to q_ref.

        At a singularity joints that only their sum or difference matters of are not counted: joint 4 (q5 = 0) or joint 1
        (wrist centre on axis 1) keeps q_ref's value.
        """
        found = []
        for q in self._candidates(T_goal, q_ref, stretch=False):
            turns = np.stack([q - TURN, q, q + TURN])
            inside = (turns >= lower - AT_LIMIT_RAD) & (turns <= upper + AT_LIMIT_RAD)
            if inside.any(axis=0).all():
                far = np.where(inside, np.abs(turns - q_ref), np.inf)
                found.append(np.clip(turns[far.argmin(axis=0), np.arange(6)], lower, upper))
        return np.array(found).reshape(-1, 6)

    def _candidates(self, T_goal: Array, q_ref: Array, stretch: bool) -> list[Array]:
        """Solutions without regard to limits, each angle within pi of q_ref; with stretch, also where the arm is too short."""
        w, p = self._w, self._p
        D = T_goal @ np.linalg.inv(self._M)  # the motion from q = 0
        centre = D[:3, :3] @ self._c + D[:3, 3]
        out = []
        for q1 in self._first(centre, q_ref[0], stretch):
            R1 = pin.exp3(q1 * w[0])
            arm = R1.T @ (centre - p[0]) + p[0] - p[1]
            arm = arm - w[1] * (w[1] @ arm)  # from axis 2 to the wrist centre, square to it, before joint 1 turns
            for q3 in self._third(arm, stretch):
                R3 = pin.exp3(q3 * w[2])
                reach = self._upper + R3 @ self._fore
                q2 = _angle(w[1], reach, arm) if np.linalg.norm(reach) > SINGULAR else q_ref[1]
                R = (R1 @ pin.exp3(q2 * w[1]) @ R3).T @ D[:3, :3]
                out += [np.array([q1, q2, q3, *wrist]) for wrist in self._wrist(R, q_ref[3])]
        return [q_ref + (q - q_ref + math.pi) % TURN - math.pi for q in out]

    def _first(self, centre: Array, q1_ref: float, stretch: bool) -> list[float]:
        """q1 for which the wrist centre lies where it must along axis 2 (w2 . R1^T x = d: a cos q1 + b sin q1 = e)."""
        w, x = self._w, centre - self._p[0]
        axial = float(w[1] @ w[0]) * float(w[0] @ x)
        a, b = float(w[1] @ x) - axial, float(w[1] @ (pin.skew(x) @ w[0]))
        e, r = self._along - axial, math.hypot(a, b)
        if r < SINGULAR:
            return [q1_ref] if abs(e) < SINGULAR or stretch else []
        if abs(e) > r + SINGULAR and not stretch:
            return []
        middle, half = math.atan2(b, a), math.acos(min(1.0, max(-1.0, e / r)))
        return [middle + half, middle - half]

    def _third(self, arm: Array, stretch: bool) -> list[float]:
        """q3 from the distance of axis 2 and wrist centre (law of cosines), elbow one way and the other."""
        a, b = float(np.linalg.norm(self._upper)), float(np.linalg.norm(self._fore))
        d = float(np.linalg.norm(arm))
        if not stretch and not abs(a - b) - SINGULAR <= d <= a + b + SINGULAR:
            return []
        elbow = math.acos(min(1.0, max(-1.0, (a * a + b * b - d * d) / (2.0 * a * b))))
        return [elbow - self._q3_zero, -elbow - self._q3_zero]

    def _wrist(self, R: Array, q4_ref: float) -> list[tuple[float, float, float]]:
        """(q4, q5, q6) with rot(w4, q4) rot(w5, q5) rot(w6, q6) = R (3, 3)."""
        w4, w5, w6 = self._w[3:]
        axis6 = R @ w6
        sine = float(np.linalg.norm(pin.skew(w4) @ axis6))
        tilt = math.atan2(sine, float(w4 @ axis6))
        out = []
        for q5 in (tilt - self._q5_zero, -tilt - self._q5_zero):
            R5 = pin.exp3(q5 * w5)
            q4 = q4_ref if sine < SINGULAR else _angle(w4, R5 @ w6, axis6)
            rest = (pin.exp3(q4 * w4) @ R5).T @ R
            out.append((q4, q5, _angle(w6, w5, rest @ w5)))
        return out


def zero_screws(kinematics: Kinematics) -> tuple[Array, Array, Array]:
    """Axes (n, 3) and a point (n, 3) m on each, and the tool pose (4, 4), in the base frame at q = 0."""
    T, table = np.eye(4), kinematics.table
    axes, points = [], []
    for placement, axis in zip(table.placements, table.axes, strict=True):
        T = T @ placement
        axes.append(T[:3, :3] @ axis)
        points.append(T[:3, 3].copy())
    return np.array(axes), np.array(points), T @ table.tool


def wrist_centre(w: Array, p: Array) -> Array:
    """The point (3,) m nearest to the last three axes, by least squares."""
    across = [np.eye(3) - np.outer(axis, axis) for axis in w[3:]]
    system = np.concatenate(across)
    wanted = np.concatenate([a @ point for a, point in zip(across, p[3:], strict=True)])
    centre: Array = np.linalg.lstsq(system, wanted, rcond=None)[0]
    return centre


def _check(kinematics: Kinematics, w: Array, p: Array, centre: Array, shortest_m: float) -> None:
    if np.linalg.norm(np.cross(w[1], w[2])) > STRUCTURE:
        raise _other_structure(kinematics, "joints 2 and 3 parallel")
    if max(np.linalg.norm(np.cross(w[i], centre - p[i])) for i in (3, 4, 5)) > STRUCTURE:
        raise _other_structure(kinematics, "joints 4, 5 and 6 through one point")
    if max(abs(w[4] @ w[3]), abs(w[4] @ w[5])) > STRUCTURE:
        raise _other_structure(kinematics, "joint 5 square to joints 4 and 6")
    if np.linalg.norm(np.cross(w[0], w[1])) < STRUCTURE or shortest_m < STRUCTURE:
        raise _other_structure(kinematics, "joints 1 and 2 not parallel and two links of some length")


def _other_structure(kinematics: Kinematics, needed: str) -> ConfigError:
    return ConfigError(f"closed-form: {kinematics.origin} has another structure; needed are {needed}; use another solver")


def _angle(axis: Array, start: Array, end: Array) -> float:
    """Signed angle (rad) about a unit axis (3,) from start to end (3,), both projected square to it (subproblem 1)."""
    a, b = start - axis * (axis @ start), end - axis * (axis @ end)
    return math.atan2(float(axis @ (pin.skew(a) @ b)), float(a @ b))

