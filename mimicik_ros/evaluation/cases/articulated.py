"""A gripper that holds a handle: doors and cabinets on hinges, drawers, knobs, with dimensions of real furniture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation.cases.case import Case
from mimicik_ros.evaluation.cases.follow import follow
from mimicik_ros.evaluation.cases.smooth import move
from mimicik_ros.evaluation.streams import Stream

TRIES = 200
REST_S = 0.5


@dataclass(frozen=True)
class Handle:
    """A mechanism: hinge radius (m, 0 for a turn about the handle itself), travel (rad, or m for a slide), seconds."""

    radius_m: tuple[float, float]
    travel: tuple[float, float]
    seconds: tuple[float, float]
    slides: bool = False


# Interior doors are 0.61-0.91 m wide with the handle 60-70 mm from the edge (DIN 18101 leaf widths); kitchen cabinet doors
# 0.3-0.6 m; drawer slides 0.25-0.5 m, of which an arm of this reach opens a part; knobs and valves turn 90-180 degrees.
HANDLES = {
    "door": Handle((0.55, 0.84), (0.35, 0.7), (3.0, 6.0)),
    "cabinet": Handle((0.25, 0.55), (0.6, 1.4), (3.0, 6.0)),
    "drawer": Handle((0.0, 0.0), (0.15, 0.4), (2.0, 5.0), slides=True),
    "knob": Handle((0.0, 0.0), (0.8, 2.6), (1.5, 4.0)),
}


def articulated(kinematics: Kinematics, rng: np.random.Generator, count: int, period_s: float) -> list[Case]:
    """`count` cases in turn: opened and closed with minimum jerk, grasp rigid, placed where all of it is reachable.

    One without such a place in TRIES draws is left out.
    """
    cases: list[Case] = []
    names = tuple(HANDLES)
    for i in range(count):
        name = names[i % len(names)]
        for _ in range(TRIES):
            q = rng.uniform(kinematics.lower + 0.1, kinematics.upper - 0.1)
            poses = _motion(HANDLES[name], kinematics.fk(q), rng, period_s)
            path, met = follow(kinematics, poses, q)
            if met.all():
                cases.append(Case("articulated", f"{name}_{i:03d}", Stream.of_poses(poses, period_s), q, path, met))
                break
    return cases


def _motion(handle: Handle, T_grasp: Array, rng: np.random.Generator, period_s: float) -> Array:
    """Poses (k, 4, 4) of a rigid grasp: tool x points at the handle; hinges upright in the tool's frame, knobs about tool x."""
    travel = rng.uniform(*handle.travel) * rng.choice([-1.0, 1.0])
    there = move(np.zeros(1), np.array([travel]), rng.uniform(*handle.seconds), period_s)[:, 0]
    rest = round(REST_S / period_s)
    s = np.concatenate([np.zeros(rest), there, np.full(rest, travel), there[::-1], np.zeros(rest)])
    poses = np.repeat(T_grasp[None], len(s), axis=0)
    if handle.slides:
        poses[:, :3, 3] -= np.abs(s)[:, None] * T_grasp[:3, 0]
        return poses
    radius = rng.uniform(*handle.radius_m)
    axis = T_grasp[:3, 2] if radius > 0.0 else T_grasp[:3, 0]
    hinge = T_grasp[:3, 3] + radius * np.sign(travel) * T_grasp[:3, 1]
    turn = se3.rotation_exp(s[:, None] * axis)
    poses[:, :3, :3] = turn @ T_grasp[:3, :3]
    poses[:, :3, 3] = hinge + (turn @ (T_grasp[:3, 3] - hinge)[:, None])[..., 0]
    return poses
