"""FK-exact joint motion, made anew for every batch: random, near singularities, smooth with tremor, and teleoperation.

Every source gives (q, delta_q): joints (B, n) rad and the step of one period (B, n) rad. The target pose (B, 4, 4) is FK of their
sum, moved by tremor in smooth motion and teleoperation.
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
HOME_COPIES = 200  # of each start pose among the singular seeds
LARGEST_STEP = 1.7  # times step_rad: the largest step that a sample or a demonstration has
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
    """Seeded source of training batches for one robot: a batch follows from the seed and its step alone.

    Args:
        kinematics: the robot.
        period_s: control period.
        step_rad: range of the uniform joint steps (rad per joint and period).
        mix: shares of random, singular, smooth, teleop.
        homes: (h, n) configurations around which singular starts are also drawn (the vendor's start poses).
        teleop: demonstrations to draw from; None gives their share to random steps.
        seed: of everything drawn.
    """

    def __init__(self, kinematics: Kinematics, period_s: float, step_rad: float, mix: tuple[float, float, float, float],
                 homes: Array, teleop: Demonstrations | None, seed: int) -> None:
        self._kin, self._dt, self._step, self._seed = kinematics, period_s, step_rad, seed
        self.homes, self.period_s = homes, period_s
        random, singular, smooth, demos = mix
        if teleop is None:
            random, demos = random + demos, 0.0
        self._teleop = teleop
        self._mix = np.array([random, singular, smooth, demos]) / (random + singular + smooth + demos)
        self._seeds = singular_seeds(kinematics, homes, seed)

    def batch(self, size: int, step: int = 0, part: tuple[int, int] = (0, 1)) -> Batch:
        """The batch of an optimiser step: `size` samples from all sources, or one process's part of them.

        Args:
            size: samples of the whole batch.
            step: index of the batch; any order of calls gives the same batches.
            part: (rank, processes): rows rank, rank + processes, ... Each process draws the whole batch, which is cheap, and
                computes kinematics for its rows only.
        """
        rng = np.random.default_rng([self._seed, step + 1])  # the stream [seed, 0] is that of `seed` alone
        counts = np.floor(self._mix * size).astype(int)
        counts[0] += size - counts.sum()
        random, singular, smooth, demos = (int(k) for k in counts)
        parts = [self._random(rng, random), self._singular(rng, singular), self._smooth(rng, smooth)]
        if demos and self._teleop is not None:
            parts.append(self._teleop.draw(step, demos, rng))
        shift = np.concatenate([np.zeros((random + singular, 3)), self._tremor(rng, smooth + demos)])
        mine = slice(part[0], None, part[1])
        q, delta_q = (np.concatenate(x)[mine] for x in zip(*parts, strict=True))
        delta_q = np.clip(q + delta_q, self._kin.lower, self._kin.upper) - q
        T_target = self._kin.fk_batch(q + delta_q)
        T_target[:, :3, 3] += shift[mine]
        return Batch(encode(q, self._kin.fk_batch(q), T_target), delta_q, q, T_target)

    def _steps(self, rng: np.random.Generator, size: int) -> Array:
        """Uniform steps, of which half are full, a third scaled down, to a fiftieth at most, and the rest up to LARGEST_STEP."""
        kind = rng.random((size, 1))
        small = np.exp(rng.uniform(np.log(0.02), 0.0, (size, 1)))
        large = rng.uniform(1.0, LARGEST_STEP, (size, 1))
        scale = np.where(kind < 0.5, 1.0, np.where(kind < 0.85, small, large))
        return scale * rng.uniform(-self._step, self._step, (size, self._kin.n))

    def _random(self, rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        return rng.uniform(self._kin.lower, self._kin.upper, (size, self._kin.n)), self._steps(rng, size)

    def _singular(self, rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        """In and out of singularities: a quarter starts exactly on a seed, the rest up to some hundredths of a rad beside it."""
        seeds = self._seeds[rng.integers(0, len(self._seeds), size)]
        spread = rng.choice([0.0, 0.01, 0.03, 0.1], (size, 1))
        q = np.clip(seeds + spread * rng.standard_normal(seeds.shape), self._kin.lower, self._kin.upper)
        return q, self._steps(rng, size)

    def _smooth(self, rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        """One period of a minimum-jerk move between random configurations (Flash & Hogan 1985), a fifth of them at rest."""
        start = rng.uniform(self._kin.lower, self._kin.upper, (size, self._kin.n))
        reach = rng.standard_normal((size, self._kin.n)) * rng.uniform(0.05, 0.6, (size, 1))
        goal = np.clip(start + reach, self._kin.lower, self._kin.upper)
        duration = rng.uniform(0.8, 4.0, (size, 1))
        phase = rng.random((size, 1))
        now, after = minimum_jerk(phase), minimum_jerk(np.minimum(phase + self._dt / duration, 1.0))
        resting = rng.random((size, 1)) < 0.2
        delta_q = np.where(resting, 0.0, (after - now) * (goal - start))
        limit = LARGEST_STEP * self._step
        return start + now * (goal - start), np.clip(delta_q, -limit, limit)

    def _tremor(self, rng: np.random.Generator, size: int) -> Array:
        """Displacements (size, 3) m of targets: one sample of the tremor's difference over a period."""
        rms = rng.uniform(*TREMOR_RMS_M, (size, 1))
        hz = rng.uniform(*TREMOR_HZ, (size, 1))
        phase = rng.uniform(0, 2 * np.pi, (size, 3))
        return rms * np.sqrt(2.0 / 3.0) * (np.sin(phase + 2 * np.pi * hz * self._dt) - np.sin(phase))


def singular_seeds(kinematics: Kinematics, homes: Array, seed: int) -> Array:
    """Configurations (k, n) rad around which singular motion is made: the most singular random ones, and homes (h, n)."""
    found = singular_configurations(kinematics, np.random.default_rng(seed))
    return np.concatenate([found, np.repeat(homes.reshape(-1, kinematics.n), HOME_COPIES, axis=0)])


def singular_configurations(kinematics: Kinematics, rng: np.random.Generator) -> Array:
    """The SINGULAR_SHARE of POOL random configurations with the smallest singular value: (k, n) rad."""
    q = rng.uniform(kinematics.lower, kinematics.upper, (POOL, kinematics.n))
    sigma = np.array([kinematics.sigma_min(x) for x in q])
    return q[np.argsort(sigma)[: int(SINGULAR_SHARE * POOL)]]


def minimum_jerk(s: Array) -> Array:
    """Share of a move done at share s of its time (Flash & Hogan 1985)."""
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))
