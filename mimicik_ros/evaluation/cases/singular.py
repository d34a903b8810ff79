"""Straight tool motion through singular configurations, and out of the two start poses of the vendor, which are singular."""

from __future__ import annotations

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation.cases.case import Case
from mimicik_ros.evaluation.cases.follow import MARGIN_RAD, follow, leading
from mimicik_ros.evaluation.cases.smooth import from_path, move
from mimicik_ros.evaluation.streams import Stream

HOMES = {"home_zero": (0.0,) * 6, "home_folded": (0.0, 0.0, 0.0, np.pi / 2, 0.0, -np.pi / 2)}
SPEED_M_S, TURN_RAD_S = (0.05, 0.25), 0.3
RAMP_S, SECONDS, SHORTEST_S = 0.5, 6.0, 2.0
MOVED = {"wrist": 4, "elbow": 2, "shoulder": 1}  # the joint that is moved to where the determinant vanishes
KINDS = (*MOVED, *HOMES)
OTHERS_AT_LEAST = 0.05  # second smallest singular value
BISECTION_RAD = 1e-6
TRIES = 200


def singular(kinematics: Kinematics, rng: np.random.Generator, count: int, period_s: float) -> list[Case]:
    """`count` cases in turn: tool lines through each kind of singularity and out of the homes, and joint paths across them.

    The kinds and homes are the AIRBOT Play's: parallel joints 2 and 3, and a spherical wrist. One that is not found in TRIES
    draws is left out.
    """
    cases: list[Case] = []
    for i in range(count):
        kind = KINDS[i % len(KINDS)]
        make = _across if kind not in HOMES and (i // len(KINDS)) % 3 == 2 else _line
        for _ in range(TRIES):
            q = _configuration(kinematics, kind, rng)
            case = make(kinematics, kind, i, q, rng, period_s) if q is not None else None
            if case is not None:
                cases.append(case)
                break
    return cases


def _configuration(kinematics: Kinematics, kind: str, rng: np.random.Generator) -> Array | None:
    """A configuration (n,) rad of the kind of singularity, random otherwise, that loses one direction only."""
    if kind in HOMES:
        return np.array(HOMES[kind])
    centre, half = (kinematics.lower + kinematics.upper) / 2, 0.4 * (kinematics.upper - kinematics.lower)
    q = _vanishing(kinematics, rng.uniform(centre - half, centre + half), MOVED[kind])
    if q is None or np.linalg.svd(kinematics.jacobian(q), compute_uv=False)[-2] < OTHERS_AT_LEAST:
        return None
    return q


def _vanishing(kinematics: Kinematics, q: Array, joint: int) -> Array | None:
    """q with one joint moved to the highest value where det J J^T touches zero (by bisection on det J); None without one."""
    grid = np.linspace(kinematics.lower[joint] + 0.02, kinematics.upper[joint] - 0.02, 60)

    def determinant(value: float) -> float:
        moved = q.copy()
        moved[joint] = value
        return float(np.linalg.det(kinematics.jacobian(moved)))

    values = np.array([determinant(v) for v in grid])
    crossings = np.flatnonzero(values[:-1] * values[1:] < 0)
    if not len(crossings):
        return None
    low, high, sign = grid[crossings[-1]], grid[crossings[-1] + 1], values[crossings[-1]]
    while high - low > BISECTION_RAD:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if determinant(middle) * sign > 0 else (low, middle)
    moved = q.copy()
    moved[joint] = 0.5 * (low + high)
    return moved


def _line(kinematics: Kinematics, kind: str, index: int, q: Array, rng: np.random.Generator, period_s: float) -> Case | None:
    """A straight line with a turn, met at mid-time by q (at its start for a home); the reachable part from its start."""
    direction, axis = rng.standard_normal(3), rng.standard_normal(3)
    velocity = rng.uniform(*SPEED_M_S) * direction / np.linalg.norm(direction)
    turn = rng.uniform(0.0, TURN_RAD_S) * axis / np.linalg.norm(axis)
    t = period_s * np.arange(round(SECONDS / period_s))
    along = np.where(t < RAMP_S, t**2 / (2 * RAMP_S), t - RAMP_S / 2)  # starts from rest
    if kind not in HOMES:
        along = along - along[len(t) // 2]
    T = kinematics.fk(q)
    poses = se3.pose(T[:3, :3] @ se3.rotation_exp(along[:, None] * turn), T[:3, 3] + along[:, None] * velocity)
    start = q
    if kind not in HOMES:
        back, met = follow(kinematics, poses[len(t) // 2 :: -1], q)
        if not met.all():
            return None
        start = back[-1]
    path, met = follow(kinematics, poses, start)
    end = leading(met)
    if end * period_s < SHORTEST_S or (kind not in HOMES and end <= len(t) // 2):
        return None
    return Case("singular", f"{kind}_line_{index:03d}", Stream.of_poses(poses[:end], period_s), start, path[:end], met[:end])


def _across(kinematics: Kinematics, kind: str, index: int, q: Array, rng: np.random.Generator, period_s: float) -> Case | None:
    """A minimum-jerk joint path whose middle is q."""
    offset = rng.uniform(-0.5, 0.5, kinematics.n)
    ends = q - offset, q + offset
    if any((e < kinematics.lower + MARGIN_RAD).any() or (e > kinematics.upper - MARGIN_RAD).any() for e in ends):
        return None
    return from_path("singular", f"{kind}_across_{index:03d}", kinematics, move(*ends, SECONDS / 2, period_s), period_s)
