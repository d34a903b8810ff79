"""FK-exact joint motion, made anew for every batch: random, near singularities, smooth with tremor, and teleoperation.

Every source gives (q, delta_q, T_target): joints (B, n) rad, the step of one period (B, n) rad and the target pose (B, 4, 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mimicik_ros.core.features import encode
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array, Float32Array

POOL = 60_000  # random configurations of which the most singular ones are kept
SINGULAR_SHARE = 0.04
TREMOR_RMS_M = (5e-5, 2.5e-4)  # physiological hand tremor, 8-12 Hz
TREMOR_HZ = (8.0, 12.0)


@dataclass(frozen=True)
class Batch:
    """One batch: observation (B, n + 6) float32, delta_q (B, n) rad, q (B, n) rad, T_target (B, 4, 4)."""

    observation: Float32Array
    delta_q: Array
    q: Array
    T_target: Array


class Demonstrations(Protocol):
    """Recorded steps to draw from."""

    def draw(self, step: int, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Joints and steps, (size, n) rad each, for one optimiser step; the same arguments give the same rows."""
        ...


class Synthesis:
    """Seeded generator of training batches for one robot.

    Args:
        kinematics: the robot.
        period_s: control period.
        step_rad: range of the uniform joint steps (rad per joint and period).
        mix: shares of random, singular, smooth, teleop.
        homes: (h, n) configurations around which singular starts are also drawn (the vendor's start poses).
        teleop: demonstrations to draw from, or (q, delta_q) pairs, each (k, n), empty where there are none.
        seed: of everything drawn.
    """

    def __init__(self, kinematics: Kinematics, period_s: float, step_rad: float, mix: tuple[float, float, float, float],
                 homes: Array, teleop: Demonstrations | tuple[Array, Array], seed: int) -> None:
        self._kin, self._dt, self._step, self._teleop = kinematics, period_s, step_rad, teleop
        self.homes, self.period_s = homes, period_s
        self._rng = np.random.default_rng(seed)
        random, singular, smooth, demos = mix
        if isinstance(teleop, tuple) and len(teleop[0]) == 0:
            random, demos = random + demos, 0.0
        self._mix = np.array([random, singular, smooth, demos]) / (random + singular + smooth + demos)
        self._batches = 0
        self._seeds = np.concatenate([singular_configurations(kinematics, self._rng), np.repeat(homes, 200, axis=0)])

    def batch(self, size: int) -> Batch:
        """A new batch of `size` samples from all sources."""
        self._batches += 1
        counts = np.floor(self._mix * size).astype(int)
        counts[0] += size - counts.sum()
        parts = [make(k) for make, k in zip((self._random, self._singular, self._smooth, self._demos), counts, strict=True) if k]
        q, delta_q = (np.concatenate(x) for x in zip(*parts, strict=True))
        delta_q = np.clip(q + delta_q, self._kin.lower, self._kin.upper) - q
        T_target = self._kin.fk_batch(q + delta_q)
        self._shake(T_target, slice(counts[0] + counts[1], None))
        return Batch(encode(q, self._kin.fk_batch(q), T_target), delta_q, q, T_target)

    def _steps(self, size: int) -> Array:
        """Uniform steps, of which half are full, a third scaled down to a fiftieth and the rest up to 1.7 times larger."""
        kind = self._rng.random((size, 1))
        small = np.exp(self._rng.uniform(np.log(0.02), 0.0, (size, 1)))
        large = self._rng.uniform(1.0, 1.7, (size, 1))
        scale = np.where(kind < 0.5, 1.0, np.where(kind < 0.85, small, large))
        return scale * self._rng.uniform(-self._step, self._step, (size, self._kin.n))

    def _random(self, size: int) -> tuple[Array, Array]:
        return self._rng.uniform(self._kin.lower, self._kin.upper, (size, self._kin.n)), self._steps(size)

    def _singular(self, size: int) -> tuple[Array, Array]:
        """In and out of singularities: a quarter starts exactly on a seed, the rest up to some hundredths of a rad beside it."""
        seeds = self._seeds[self._rng.integers(0, len(self._seeds), size)]
        spread = self._rng.choice([0.0, 0.01, 0.03, 0.1], (size, 1))
        q = np.clip(seeds + spread * self._rng.standard_normal(seeds.shape), self._kin.lower, self._kin.upper)
        return q, self._steps(size)

    def _smooth(self, size: int) -> tuple[Array, Array]:
        """One period of a minimum-jerk move between random configurations (Flash & Hogan 1985), a fifth of them at rest."""
        start = self._rng.uniform(self._kin.lower, self._kin.upper, (size, self._kin.n))
        reach = self._rng.standard_normal((size, self._kin.n)) * self._rng.uniform(0.05, 0.6, (size, 1))
        goal = np.clip(start + reach, self._kin.lower, self._kin.upper)
        duration = self._rng.uniform(0.8, 4.0, (size, 1))
        phase = self._rng.random((size, 1))
        now, after = minimum_jerk(phase), minimum_jerk(np.minimum(phase + self._dt / duration, 1.0))
        resting = self._rng.random((size, 1)) < 0.2
        delta_q = np.where(resting, 0.0, (after - now) * (goal - start))
        limit = 1.7 * self._step
        return start + now * (goal - start), np.clip(delta_q, -limit, limit)

    def _demos(self, size: int) -> tuple[Array, Array]:
        if not isinstance(self._teleop, tuple):
            return self._teleop.draw(self._batches - 1, size, self._rng)
        rows = self._rng.integers(0, len(self._teleop[0]), size)
        return self._teleop[0][rows], self._teleop[1][rows]

    def _shake(self, T_target: Array, rows: slice) -> None:
        """Displace targets by one sample of the tremor's difference over a period, in place."""
        size = T_target[rows].shape[0]
        rms = self._rng.uniform(*TREMOR_RMS_M, (size, 1))
        hz = self._rng.uniform(*TREMOR_HZ, (size, 1))
        phase = self._rng.uniform(0, 2 * np.pi, (size, 3))
        wave = np.sin(phase + 2 * np.pi * hz * self._dt) - np.sin(phase)
        T_target[rows, :3, 3] += rms * np.sqrt(2.0 / 3.0) * wave


def singular_configurations(kinematics: Kinematics, rng: np.random.Generator) -> Array:
    """The SINGULAR_SHARE of POOL random configurations with the smallest singular value: (k, n) rad."""
    q = rng.uniform(kinematics.lower, kinematics.upper, (POOL, kinematics.n))
    sigma = np.array([kinematics.sigma_min(x) for x in q])
    return q[np.argsort(sigma)[: int(SINGULAR_SHARE * POOL)]]


def minimum_jerk(s: Array) -> Array:
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))

