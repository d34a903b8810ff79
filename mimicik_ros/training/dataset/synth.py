"""Synthetic episodes: random motion, motion in and out of singularities, smooth motion with pauses; exact by FK, seeded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.training.dataset.pool import ordered, robot_arguments
from mimicik_ros.training.dataset.schema import Episode
from mimicik_ros.training.synthesis import LARGEST_STEP, TREMOR_HZ, TREMOR_RMS_M, minimum_jerk, singular_seeds

KINDS = ("random", "singular", "smooth")
LEG_S = (0.8, 4.0)  # time of a minimum-jerk move
TURN_S = (0.2, 1.0)  # time in which random joint velocities turn into others
REST_SHARE = 0.2  # of the legs of smooth motion are pauses


@dataclass(frozen=True)
class Plan:
    """What is to be made.

    Attributes:
        episodes: how many.
        seconds: length of each.
        seed: of everything; episode i follows from (seed, i) alone.
        mix: shares of KINDS.
        period_s: time between rows.
        step_rad: range of random joint steps; no step is larger than LARGEST_STEP times this.
        homes: (h, n) rad, further singular configurations (the vendor's start poses).
    """

    episodes: int
    seconds: float
    seed: int
    mix: tuple[float, float, float]
    period_s: float
    step_rad: float
    homes: Array

    @property
    def rows(self) -> int:
        """Rows of an episode."""
        return max(2, round(self.seconds / self.period_s))


def mix_of(text: str) -> tuple[float, float, float]:
    """Shares from "random=0.5,singular=0.3,smooth=0.2"; a kind that is not named has none. Raises ConfigError."""
    shares = dict.fromkeys(KINDS, 0.0)
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        try:
            if name not in shares:
                raise ValueError
            shares[name] = float(value)
        except ValueError as error:
            raise ConfigError(f"--mix: '{part}' is none of {', '.join(f'{k}=SHARE' for k in KINDS)}") from error
    values = np.array(list(shares.values()))
    if not np.isfinite(values).all() or (values < 0).any() or values.sum() <= 0:
        raise ConfigError(f"--mix: shares must not be negative, nor all zero, got '{text}'")
    random, singular, smooth = (float(v) for v in values / values.sum())
    return random, singular, smooth


def synthesise(kinematics: Kinematics, plan: Plan, workers: int) -> Iterator[Episode]:
    """The episodes of a plan, in order, whatever the number of workers."""
    seeds = singular_seeds(kinematics, plan.homes, plan.seed)
    return ordered((Maker, (*robot_arguments(kinematics), plan, seeds)), make_episode, range(plan.episodes), workers)


class Maker:
    """What one process needs to make episodes: the robot, the plan and the singular configurations (k, n) rad."""

    def __init__(self, urdf: str, base_frame: str, tool_frame: str, joint_names: tuple[str, ...], plan: Plan,
                 seeds: Array) -> None:
        self.kinematics = Kinematics(urdf, base_frame, tool_frame, joint_names)
        self.plan, self.seeds = plan, seeds


def make_episode(maker: Maker, number: int) -> Episode:
    """Episode `number` of the plan: the arm follows its commands exactly, each is where the next row begins.

    The target is FK of the command; that of smooth motion carries hand tremor, which the command does not follow.
    """
    kinematics, plan = maker.kinematics, maker.plan
    rng = np.random.default_rng([plan.seed, number])
    kind = KINDS[rng.choice(len(KINDS), p=plan.mix)]
    path = {"random": _random, "singular": _singular, "smooth": _smooth}[kind](maker, rng)
    path = np.clip(path, kinematics.lower, kinematics.upper)  # of rounding at a limit
    q, command = path[:-1], path[1:]
    t_s = plan.period_s * np.arange(len(q))
    T = kinematics.fk_batch(command)
    position = T[:, :3, 3] + (_tremor(rng, t_s) if kind == "smooth" else 0.0)
    return Episode(t_s, q, command, position, se3.quat_from_rotation(T[:, :3, :3]), "synth")


def _random(maker: Maker, rng: np.random.Generator) -> Array:
    """Joints (rows + 1, n): their velocities turn from one random value into another; at a limit a joint turns back."""
    kinematics, plan = maker.kinematics, maker.plan
    turn = max(2, round(rng.uniform(*TURN_S) / plan.period_s))
    scale = np.where(rng.random() < 0.5, 1.0, np.exp(rng.uniform(np.log(0.02), np.log(LARGEST_STEP))))
    knots = scale * rng.uniform(-plan.step_rad, plan.step_rad, (plan.rows // turn + 2, kinematics.n))
    places = np.arange(plan.rows) / turn
    steps = np.stack([np.interp(places, np.arange(len(knots)), k) for k in knots.T], axis=1)
    walked = np.concatenate([np.zeros((1, kinematics.n)), np.cumsum(steps, axis=0)])
    path = rng.uniform(kinematics.lower, kinematics.upper) + walked
    span = kinematics.upper - kinematics.lower
    folded = np.mod(path - kinematics.lower, 2.0 * span)
    return kinematics.lower + np.minimum(folded, 2.0 * span - folded)


def _singular(maker: Maker, rng: np.random.Generator) -> Array:
    """Minimum-jerk moves out of a singular configuration and back into it or another one near by."""
    kinematics = maker.kinematics
    low, high = kinematics.lower, kinematics.upper

    def beside() -> Array:
        seed = maker.seeds[rng.integers(len(maker.seeds))] if at is None or rng.random() < 0.3 else at
        return np.clip(seed + rng.choice([0.0, 0.01, 0.03, 0.1]) * rng.standard_normal(kinematics.n), low, high)

    at = None
    at = beside()
    stops = [at]
    for _ in range(_most_legs(maker.plan)):
        away = np.clip(stops[-1] + rng.uniform(0.05, 0.6) * rng.standard_normal(kinematics.n), low, high)
        stops += [away, beside()]
    return _legs(maker.plan, rng, stops, 0.0)


def _smooth(maker: Maker, rng: np.random.Generator) -> Array:
    """Minimum-jerk moves (Flash & Hogan 1985) between random configurations, with pauses."""
    kinematics = maker.kinematics
    stops = [rng.uniform(kinematics.lower, kinematics.upper)]
    for _ in range(_most_legs(maker.plan)):
        reach = rng.uniform(0.05, 0.6) * rng.standard_normal(kinematics.n)
        stops.append(np.clip(stops[-1] + reach, kinematics.lower, kinematics.upper))
    return _legs(maker.plan, rng, stops, REST_SHARE)


def _most_legs(plan: Plan) -> int:
    return int(plan.seconds / LEG_S[0]) + 2


def _legs(plan: Plan, rng: np.random.Generator, stops: list[Array], rest_share: float) -> Array:
    """Joints (rows + 1, n) on the way through the stops; a leg is so long that no joint exceeds the largest step."""
    parts, rows = [stops[0][None]], 1
    for start, goal in pairwise(stops):
        need = 1.875 * np.abs(goal - start).max() / (LARGEST_STEP * plan.step_rad)  # peak of minimum jerk: 15/8 of the mean speed
        k = max(round(rng.uniform(*LEG_S) / plan.period_s), int(np.ceil(need)), 2)
        parts.append(start + minimum_jerk(np.arange(1, k + 1) / k)[:, None] * (goal - start))
        pause = round(rng.uniform(*LEG_S) / plan.period_s) if rng.random() < rest_share else 0
        parts.append(np.repeat(goal[None], pause, axis=0))
        rows += k + pause
        if rows > plan.rows:
            break
    path = np.concatenate(parts)
    return np.concatenate([path, np.repeat(path[-1:], max(0, plan.rows + 1 - len(path)), axis=0)])[: plan.rows + 1]


def _tremor(rng: np.random.Generator, t_s: Array) -> Array:
    """Displacement (k, 3) m: a tone of 8-12 Hz in every axis, physiological in size."""
    rms, hz = rng.uniform(*TREMOR_RMS_M), rng.uniform(*TREMOR_HZ)
    return rms * np.sqrt(2.0 / 3.0) * np.sin(rng.uniform(0.0, 2.0 * np.pi, 3) + 2.0 * np.pi * hz * t_s[:, None])
