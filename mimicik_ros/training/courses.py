"""Courses for closed-loop training: tool lines out and back, through singularities, out of homes and beyond reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array, Flags

HOME_SHARE, RANDOM_SHARE, THROUGH_SHARE, BEYOND_SHARE, TREMOR_SHARE = 0.4, 0.15, 0.35, 0.15, 0.2
LENGTH_M, BEYOND_M = (0.05, 0.4), (0.2, 0.8)
SPEED_M_S, TURN_RAD_S = (0.03, 0.3), (0.3, 1.2)  # peaks
TURN_RAD_M = 2.0  # largest turn per metre of a line
OVERSHOOT = (1.2, 3.0)  # how far past the singular pose a line through it goes, in its distance
TICKS = (20, 400)
REST = 1.2  # a course lasts so many periods; it rests at its start after the first
TREMOR_M = 2.5e-4 / np.sqrt(3.0)


@dataclass(frozen=True)
class Course:
    """k courses: target(t) = (p0 + a v, R0 exp(a w)) with a(t) = (1 - cos(2 pi t / ticks)) / 2: out and back, from rest to rest.

    Attributes:
        q: (k, n) rad, joints at the start, which meet the first target.
        T: (k, 4, 4) first target; v: (k, 3) m; w: (k, 3) rad in the tool frame; ticks: (k,); tremor_m: (k,) a component.
    """

    q: Array
    T: Array
    v: Array
    w: Array
    ticks: Array
    tremor_m: Array

    def targets(self, tick: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Rotations (k, 3, 3) and positions (k, 3) m at ticks (k,)."""
        a = 0.5 * (1.0 - np.cos(2.0 * np.pi * np.minimum(tick / self.ticks, 1.0)))[:, None]
        shake = self.tremor_m[:, None] * rng.standard_normal((len(a), 3))
        return self.T[:, :3, :3] @ se3.rotation_exp(a * self.w), self.T[:, :3, 3] + a * self.v + shake

    def replaced(self, where: Flags, other: Course) -> Course:
        """These courses with those of `other` (as many as `where` marks) in the places marked."""
        merged = []
        for mine, new in zip(self.__dict__.values(), other.__dict__.values(), strict=True):
            both = mine.copy()
            both[where] = new
            merged.append(both)
        return Course(*merged)


def draw(kinematics: Kinematics, rng: np.random.Generator, size: int, singular: Array, homes: Array, period_s: float) -> Course:
    """Courses that begin at or lead through singular configurations (s, n), at homes (h, n), or anywhere.

    A line leaves its start in a random direction; or leads from beside a singular configuration through its pose and on; or
    leads outward from the base, mostly beyond reach, and comes back.
    """
    kind = rng.random(size)
    at = singular[rng.integers(0, len(singular), size)]
    q = at.copy()
    is_home = (kind < HOME_SHARE) & (len(homes) > 0)
    if len(homes):
        q[is_home] = homes[rng.integers(0, len(homes), int(is_home.sum()))]
    anywhere = (kind >= HOME_SHARE) & (kind < HOME_SHARE + RANDOM_SHARE)
    q[anywhere] = rng.uniform(kinematics.lower, kinematics.upper, (int(anywhere.sum()), kinematics.n))
    through = kind > 1.0 - THROUGH_SHARE
    q[through] += (rng.uniform(-0.4, 0.4, q.shape) * rng.random((size, 1)))[through]
    q = np.clip(q, kinematics.lower, kinematics.upper)
    T, T_at = kinematics.fk_batch(q), kinematics.fk_batch(at)
    length = rng.uniform(*LENGTH_M, (size, 1))
    v = length * _directions(rng, size)
    w = TURN_RAD_M * length * rng.random((size, 1)) * _directions(rng, size)
    stretch = np.where(through, rng.uniform(*OVERSHOOT, size), 1.0)[:, None]
    towards = se3.rotation_log(np.swapaxes(T[:, :3, :3], 1, 2) @ T_at[:, :3, :3])
    v = np.where(through[:, None], stretch * (T_at[:, :3, 3] - T[:, :3, 3]), v)
    w = np.where(through[:, None], stretch * towards, w)
    beyond = (rng.random(size) < BEYOND_SHARE) & ~through
    outward = T[:, :3, 3] - kinematics.table.placements[0][:3, 3]
    outward /= np.linalg.norm(outward, axis=1, keepdims=True) + 1e-9
    v = np.where(beyond[:, None], rng.uniform(*BEYOND_M, (size, 1)) * outward, v)
    seconds = np.pi * np.maximum(np.linalg.norm(v, axis=1) / rng.uniform(*SPEED_M_S, size),
                                 np.linalg.norm(w, axis=1) / rng.uniform(*TURN_RAD_S, size))
    tremor = np.where(rng.random(size) < TREMOR_SHARE, TREMOR_M, 0.0)
    return Course(q, T, v, w, np.clip(seconds / period_s, *TICKS), tremor)


def _directions(rng: np.random.Generator, size: int) -> Array:
    d = rng.standard_normal((size, 3))
    return d / np.linalg.norm(d, axis=1, keepdims=True)
