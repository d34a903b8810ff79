"""Human-like end-effector motion of our own making: minimum-jerk reaches, pauses and hand tremor, from a seed."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation.streams import HEADER, Stream

REACH_S, PAUSE_S = (2.0, 3.5), (0.2, 0.6)
BOX_M = np.array([[0.0, 0.08], [-0.08, 0.08], [-0.06, 0.04]])  # of the waypoints, beside the first pose
TURN_RAD = 0.3  # largest component of a waypoint's rotation vector
TREMOR_RMS_M, TREMOR_HZ = 5e-5, (8.0, 12.0)


def minimum_jerk(s: Array) -> Array:
    """Share of a move done at share s of its time (Flash & Hogan 1985)."""
    share: Array = s**3 * (10.0 + s * (6.0 * s - 15.0))
    return share


def hand_tremor(t_s: Array, rms_m: float, rng: np.random.Generator) -> Array:
    """Displacements (k, 3) m at times (k,): a tone in TREMOR_HZ on each axis, of this rms over all three."""
    hz, phase = rng.uniform(*TREMOR_HZ, 3), rng.uniform(0, 2 * np.pi, 3)
    shake: Array = rms_m * np.sqrt(2.0 / 3.0) * np.sin(2 * np.pi * t_s[:, None] * hz + phase)
    return shake


def human_motion(T_start: Array, seconds: float, period_s: float, seed: int) -> Stream:
    """A stream that begins at rest at T_start (4, 4) and reaches from waypoint to waypoint.

    Reaches follow the minimum-jerk profile, positions on chords, rotations on geodesics of the first
    pose's frame; tremor of TREMOR_RMS_M rides on the positions and swells in over the first second.
    """
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, seconds, period_s)
    offset, turn = np.zeros((len(t), 3)), np.zeros((len(t), 3))
    here, twist, now = np.zeros(3), np.zeros(3), 0.5
    while now < seconds:
        reach_s = rng.uniform(*REACH_S)
        goal, goal_twist = rng.uniform(BOX_M[:, 0], BOX_M[:, 1]), rng.uniform(-TURN_RAD, TURN_RAD, 3)
        s = np.clip((t - now) / reach_s, 0.0, 1.0)[:, None]
        profile = minimum_jerk(s)
        moving = t >= now
        offset[moving] = (here + profile * (goal - here))[moving]
        turn[moving] = (twist + profile * (goal_twist - twist))[moving]
        here, twist, now = goal, goal_twist, now + reach_s + rng.uniform(*PAUSE_S)
    tremor = hand_tremor(t, TREMOR_RMS_M, rng) * np.clip(t, 0, 1)[:, None]
    rotation = T_start[:3, :3] @ se3.rotation_exp(turn)
    return Stream(t, T_start[:3, 3] + offset + tremor, se3.quat_from_rotation(rotation))


def write_stream(stream: Stream, path: Path) -> None:
    """Write a stream as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for t, p, quat in zip(stream.t_s, stream.position_m, stream.quat_xyzw, strict=True):
            writer.writerow([f"{t:.3f}", *(f"{v:.6f}" for v in p), *(f"{v:.7f}" for v in quat)])
