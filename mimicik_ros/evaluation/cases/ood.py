"""Targets that no calm operator gives: tremor, noise, jumps, beyond reach, into the joint limits, gaps, sign flips."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array, Flags
from mimicik_ros.evaluation.cases.case import Case
from mimicik_ros.evaluation.cases.follow import follow
from mimicik_ros.evaluation.cases.smooth import move
from mimicik_ros.evaluation.cases.teleop import synthetic
from mimicik_ros.evaluation.motion import hand_tremor
from mimicik_ros.evaluation.streams import Stream

TREMOR_RMS_M = 2.5e-4
NOISE_M, NOISE_RAD = 2e-3, 0.01
JUMP_M = (0.05, 0.2)
OUTSIDE_M = 0.3  # so far beyond the last reachable pose
AWAY_S, BACK_S = 2.0, 3.0
GAP_TICKS = (4, 40)

Disturbance = Callable[[Kinematics, Case, np.random.Generator, float], Case | None]


def out_of_distribution(kinematics: Kinematics, rng: np.random.Generator, count: int, period_s: float) -> list[Case]:
    """`count` cases: motion that the arm can follow, disturbed in each way in turn."""
    kinds: tuple[Disturbance, ...] = (tremor, noise, jumps, beyond_reach, into_limits, gaps, sign_flips)
    cases: list[Case] = []
    while len(cases) < count:
        kind = kinds[len(cases) % len(kinds)]
        calm = synthetic(kinematics, rng, 0, period_s)
        case = kind(kinematics, calm, rng, period_s)
        if case is not None:
            cases.append(dataclasses.replace(case, suite="ood", name=f"{kind.__name__}_{len(cases):03d}"))
    return cases


def tremor(_: Kinematics, case: Case, rng: np.random.Generator, _period_s: float) -> Case:
    """Physiological hand tremor: 8-12 Hz, TREMOR_RMS_M in position, sampled (and so aliased) at the period."""
    shake = hand_tremor(case.stream.t_s, TREMOR_RMS_M, rng)
    return dataclasses.replace(case, stream=dataclasses.replace(case.stream, position_m=case.stream.position_m + shake))


def noise(_: Kinematics, case: Case, rng: np.random.Generator, _period_s: float) -> Case:
    """White noise on every target: NOISE_M and NOISE_RAD a component."""
    poses, k = case.stream.poses, len(case.stream.t_s)
    rotation = poses[:, :3, :3] @ se3.rotation_exp(NOISE_RAD * rng.standard_normal((k, 3)))
    position = case.stream.position_m + NOISE_M * rng.standard_normal((k, 3))
    return dataclasses.replace(case, stream=Stream(case.stream.t_s, position, se3.quat_from_rotation(rotation)))


def jumps(kinematics: Kinematics, case: Case, rng: np.random.Generator, period_s: float) -> Case | None:
    """The target jumps aside and back, and rests after each jump: a seam between two action chunks."""
    first = case.stream.poses[0]
    aside = first.copy()
    direction = rng.standard_normal(3)
    aside[:3, 3] += rng.uniform(*JUMP_M) * direction / np.linalg.norm(direction)
    rest = round(BACK_S / period_s)
    path, met = follow(kinematics, aside[None], case.q_init)
    if not met.all():
        return None
    poses = np.concatenate([np.repeat(T[None], rest, axis=0) for T in (first, aside, first)])
    reference = np.concatenate([np.repeat(q[None], rest, axis=0) for q in (case.q_init, path[0], case.q_init)])
    return _of(poses, case.q_init, reference, np.ones(len(poses), dtype=bool), period_s)


def beyond_reach(kinematics: Kinematics, case: Case, rng: np.random.Generator, period_s: float) -> Case | None:
    """The target moves out of reach along the tool's direction from the base, rests there, and comes back to rest."""
    T = case.stream.poses[0]
    outward = T[:3, 3] / np.linalg.norm(T[:3, 3])
    far = T[:3, 3] + (1.0 - np.linalg.norm(T[:3, 3]) + OUTSIDE_M * rng.random()) * outward
    out = move(T[:3, 3], far, AWAY_S, period_s)
    poses = np.repeat(T[None], len(out), axis=0)
    poses[:, :3, 3] = out
    path, met = follow(kinematics, poses, case.q_init)
    if met.all():
        return None
    # Back along the same path, where it was met on the way out.
    order = np.concatenate([np.arange(len(out)), np.full(round(1.0 / period_s), len(out) - 1), np.arange(len(out))[::-1],
                            np.zeros(round(BACK_S / period_s), dtype=int)])
    return _of(poses[order], case.q_init, path[order], met[order], period_s)


def into_limits(kinematics: Kinematics, case: Case, rng: np.random.Generator, period_s: float) -> Case | None:
    """Targets of a joint path that runs 0.4 rad beyond one joint's limit, rests there and comes back to rest."""
    joint, high = int(rng.integers(kinematics.n)), bool(rng.random() < 0.5)
    beyond = case.q_init.copy()
    beyond[joint] = kinematics.upper[joint] + 0.4 if high else kinematics.lower[joint] - 0.4
    there = move(case.q_init, beyond, max(AWAY_S, abs(beyond - case.q_init).max() / 0.5), period_s)
    path = np.concatenate([there, np.repeat(beyond[None], round(1.0 / period_s), axis=0), there[::-1],
                           np.repeat(case.q_init[None], round(BACK_S / period_s), axis=0)])
    met = np.all((path >= kinematics.lower) & (path <= kinematics.upper), axis=1)
    return _of(kinematics.fk_batch(path), case.q_init, np.clip(path, kinematics.lower, kinematics.upper), met, period_s)


def gaps(_: Kinematics, case: Case, rng: np.random.Generator, _period_s: float) -> Case:
    """Runs of rows are missing, so the target leaps ahead after each."""
    keep = np.ones(len(case.stream.t_s), dtype=bool)
    at = int(rng.integers(10, 30))
    while at < len(keep):
        length = int(rng.integers(*GAP_TICKS))
        keep[at : at + length] = False
        at += length + int(rng.integers(20, 60))
    keep[-20:] = True
    stream = case.stream
    return dataclasses.replace(case, stream=Stream(stream.t_s[keep], stream.position_m[keep], stream.quat_xyzw[keep]),
                               reference=case.reference[keep], reachable=case.reachable[keep])


def sign_flips(_: Kinematics, case: Case, rng: np.random.Generator, _period_s: float) -> Case:
    """Quaternions of random sign: the same rotations."""
    signs = rng.choice([-1.0, 1.0], (len(case.stream.t_s), 1))
    return dataclasses.replace(case, stream=dataclasses.replace(case.stream, quat_xyzw=signs * case.stream.quat_xyzw))


def _of(poses: Array, q_init: Array, reference: Array, met: Flags, period_s: float) -> Case:
    return Case("ood", "", Stream.of_poses(poses, period_s), q_init, reference, met)
