"""Smooth joint motion over the whole range, and its targets by forward kinematics: reachable by construction."""

from __future__ import annotations

import numpy as np

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation.cases.case import Case
from mimicik_ros.evaluation.cases.follow import MARGIN_RAD
from mimicik_ros.evaluation.motion import minimum_jerk
from mimicik_ros.evaluation.streams import Stream

MEAN_SPEED_RAD_S = (0.2, 0.8)
REACH_RAD = 0.8


def random_motion(kinematics: Kinematics, rng: np.random.Generator, count: int, period_s: float) -> list[Case]:
    """`count` cases of four minimum-jerk moves between random configurations, wherever they lead."""
    cases = []
    low, high = kinematics.lower + MARGIN_RAD, kinematics.upper - MARGIN_RAD
    for i in range(count):
        q = rng.uniform(low, high)
        parts = []
        for _ in range(4):
            goal = np.clip(q + rng.uniform(-REACH_RAD, REACH_RAD, kinematics.n), low, high)
            parts.append(move(q, goal, np.abs(goal - q).max() / rng.uniform(*MEAN_SPEED_RAD_S), period_s))
            q = goal
        cases.append(from_path("random", f"random_{i:03d}", kinematics, np.concatenate(parts), period_s))
    return cases


def from_path(suite: str, name: str, kinematics: Kinematics, path: Array, period_s: float) -> Case:
    """The case of a joint path (k, n) rad."""
    stream = Stream.of_poses(kinematics.fk_batch(path), period_s)
    return Case(suite, name, stream, path[0], path, np.ones(len(path), dtype=bool))


def move(start: Array, goal: Array, seconds: float, period_s: float) -> Array:
    """A move (k, ...) from start to goal with minimum jerk, at rest at both ends."""
    profile = minimum_jerk(np.linspace(0.0, 1.0, max(2, round(seconds / period_s))))
    return start + profile.reshape(-1, *[1] * np.ndim(start)) * (goal - start)
