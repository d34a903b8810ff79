"""How near to a singularity a trial comes, and what it asks of the joints there: the figures behind the pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mimicik_ros.core import dls, se3
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation.cases import Case
from mimicik_ros.evaluation.trial import Episode

LEAST_IN_BIN = 20


def condition_number(kinematics: Kinematics, q: Array) -> float:
    """Largest over smallest singular value of the Jacobian at q (n,) rad, rotation weighted as in dls.py."""
    values = np.linalg.svd(dls.WEIGHTS[:, None] * kinematics.jacobian(q), compute_uv=False)
    return float(values[0] / max(values[-1], 1e-9))


def demanded_speed(case: Case, dt_s: float) -> Array:
    """Speed (k,) m/s at which the target moves from row to row, a radian counted as in dls.py; 0 at the first row."""
    T = case.stream.poses
    turn = np.swapaxes(T[:-1, :3, :3], 1, 2) @ T[1:, :3, :3]
    shift = np.linalg.norm(np.diff(T[:, :3, 3], axis=0), axis=1)
    way = np.hypot(shift, dls.ROTATION_WEIGHT_M * se3.rotation_angle(turn))
    return np.concatenate([[0.0], way / dt_s])


def joint_speed(episode: Episode, dt_s: float) -> Array:
    """Speed (k,) rad/s of the fastest joint at each tick."""
    speed: Array = np.abs(np.diff(episode.commands[1:], axis=0)).max(axis=1) / dt_s
    return speed


def representative(cases: Sequence[Case], condition: dict[str, Array]) -> Case | None:
    """The case whose reference path peaks at the median of the speeds, of those that meet their singularity on the way."""
    on_the_way = [c for c in cases if 0.2 < float(np.argmax(condition[c.name])) / len(c.reference) < 0.9]
    chosen = on_the_way or list(cases)
    if not chosen:
        return None
    peaks = [float(np.abs(np.diff(c.reference, axis=0)).max()) for c in chosen]
    return chosen[int(np.argsort(peaks)[len(peaks) // 2])]


def binned(x: Array, y: Array, edges: Array, percentile: float | None = None, least: int = LEAST_IN_BIN) -> tuple[Array, Array]:
    """Geometric centre of each bin of x that holds `least` values or more, and the mean (or percentile) of y in it.

    Values of x beyond the edges count to the first or last bin.
    """
    place = np.clip(np.digitize(x, edges), 1, len(edges) - 1)
    centres, values = [], []
    for i in range(1, len(edges)):
        inside = y[place == i]
        if len(inside) >= least:
            centres.append(np.sqrt(edges[i - 1] * edges[i]))
            values.append(inside.mean() if percentile is None else np.percentile(inside, percentile))
    return np.array(centres), np.array(values)
