"""End-effector streams from CSV files: read, brought onto the period, cut at gaps, placed before an arm."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.errors import DataError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.training.dataset.checks import GAP_PERIODS, LATEST_S, NORM_SLACK, too_slow
from mimicik_ros.training.dataset.follow import error_and_jacobian
from mimicik_ros.training.dataset.resample import at, continuous, times

HEADER = ("t", "x", "y", "z", "qx", "qy", "qz", "qw")


@dataclass(frozen=True)
class Stream:
    """What a file held: runs of poses (k, 4, 4), one a period, rows in the file, and what was wrong with some of them."""

    runs: list[Array]
    rows: int
    faults: list[tuple[str, str]]


def files_below(paths: list[Path]) -> list[Path]:
    """The files named, and all *.csv files below the folders named. Raises DataError where there are none."""
    files = [f for p in paths for f in (sorted(p.rglob("*.csv")) if p.is_dir() else [p])]
    missing = [str(f) for f in files if not f.is_file()]
    if missing or not files:
        raise DataError(f"{', '.join(missing) or ', '.join(map(str, paths))}: no CSV file; give streams ({','.join(HEADER)})")
    return files


def read(path: Path, period_s: float, most_s: float) -> Stream:
    """The poses of a file; rows that are none are left out, and the rest is cut at gaps and into parts of most_s at most."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file)
            names = [cell.strip() for cell in next(rows, [])]
            twice = [name for name in HEADER if names.count(name) > 1]
            if twice:
                return Stream([], 0, [("columns", f"column {', '.join(twice)} stands more than once")])
            missing = [name for name in HEADER if name not in names]
            if missing:
                return Stream([], 0, [("columns", f"no column {', '.join(missing)}")])
            places = [names.index(name) for name in HEADER]
            values = np.array([_numbers(row, places) for row in rows if any(row)]).reshape(-1, len(HEADER))
    except (UnicodeDecodeError, csv.Error) as error:
        return Stream([], 0, [("truncated", f"no CSV file ({error})")])
    faults = []

    def without(bad: np.ndarray, kind: str, text: str) -> None:
        nonlocal values
        if bad.any():
            faults.append((kind, f"{text} in {int(bad.sum())} of {len(bad)} rows, first in row {int(np.flatnonzero(bad)[0])}"))
            values = values[~bad]

    rows_found = len(values)
    without(~np.isfinite(values).all(axis=1), "non-finite", "NaN, infinite or missing")
    slow = too_slow(values[:, 0])
    if slow:
        return Stream([], rows_found, [*faults, ("stamps", slow)])
    without(np.abs(values[:, 0]) > LATEST_S, "stamps", "a stamp beyond the year 5000")
    without(np.abs(np.linalg.norm(values[:, 4:], axis=1) - 1.0) > NORM_SLACK, "quaternion", "a quaternion of another norm than 1")
    latest = np.concatenate([[-np.inf], np.maximum.accumulate(values[:, 0])[:-1]]) if len(values) else np.zeros(0)
    without(values[:, 0] <= latest, "stamps", "a stamp that is not after those before it")
    if len(values) < 2:
        return Stream([], rows_found, [*faults, ("short", "fewer than two rows")])
    steps = np.diff(values[:, 0])
    gaps = np.flatnonzero(steps > GAP_PERIODS * max(float(np.median(steps)), period_s)) + 1
    if len(gaps):
        faults.append(("gap", f"{len(gaps)} gaps, the longest {steps.max():.4g} s"))
    parts = [part for a, b in zip([0, *gaps], [*gaps, len(values)], strict=True) for part in _parts(values[a:b], most_s)]
    return Stream([_poses(part, period_s) for part in parts if len(part) > 1], rows_found, faults)


def placed(kinematics: Kinematics, poses: Array, scale: tuple[float, float], rng: np.random.Generator) -> tuple[Array, Array]:
    """Poses (k, 4, 4) relative to the first, scaled, turned at random and begun at a well-conditioned pose of the arm.

    Returns:
        Targets (k, 4, 4) in the base frame, and the joints (n,) rad where they begin.
    """
    q = _home(kinematics, rng)
    turn = se3.rotation_exp(rng.standard_normal(3))
    relative = se3.inverse(poses[0]) @ poses
    moved = se3.pose(turn @ relative[:, :3, :3] @ turn.T, rng.uniform(*scale) * (relative[:, :3, 3] @ turn.T))
    return kinematics.fk(q) @ moved, q


def _home(kinematics: Kinematics, rng: np.random.Generator) -> Array:
    """The best-conditioned of four random configurations in the inner 80 % of the range: (n,) rad."""
    centre, half = (kinematics.lower + kinematics.upper) / 2.0, 0.4 * (kinematics.upper - kinematics.lower)
    q = rng.uniform(centre - half, centre + half, (4, kinematics.n))
    _, J = error_and_jacobian(kinematics, q, kinematics.fk_batch(q))
    best: Array = q[np.argmax(np.linalg.svd(J, compute_uv=False)[:, -1])]
    return best


def _parts(values: Array, most_s: float) -> list[Array]:
    """Equal parts in time, none longer than most_s; a part begins with the last row of the one before."""
    span = values[-1, 0] - values[0, 0]
    count = max(1, int(np.ceil(span / most_s)))
    edges = [*np.searchsorted(values[:, 0], values[0, 0] + span * np.arange(count) / count), len(values) - 1]
    return [values[a:b + 1] for a, b in pairwise(edges)]


def _poses(values: Array, period_s: float) -> Array:
    """Poses (k, 4, 4) every period: positions linear, quaternions linear and normalised."""
    t_s = times(values[0, 0], values[-1, 0], period_s)
    return se3.pose_from_quat(at(t_s, values[:, 0], values[:, 1:4]), at(t_s, values[:, 0], continuous(values[:, 4:])))


def _numbers(row: list[str], places: list[int]) -> list[float]:
    try:
        return [float(row[place]) for place in places]
    except (ValueError, IndexError):  # judged with the other rows that are none
        return [np.nan] * len(places)
