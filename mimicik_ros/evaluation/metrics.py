"""The figures of a run, with their definitions (docs/evaluation.md): accuracy, calm and limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.types import Array, Flags

STRICT_M, STRICT_RAD = 1e-3, np.radians(0.2)
SUCCESS_MM = (1, 5, 10)
SPIKES_RAD = (0.02, 0.05, 0.1)  # change of a joint's step from tick to tick; 0.05 rad at 20 Hz = 20 rad/s^2
BRANCH_SWITCH_RAD = 0.5
DIVERGED_M, DIVERGED_S = 0.1, 1.0
SLACK = 1e-6  # relative, for rounding in messages


def pose_errors(T_actual: Array, T_wanted: Array) -> tuple[Array, Array]:
    """Euclidean position error (k,) m and geodesic rotation error (k,) rad of poses (k, 4, 4)."""
    position = np.linalg.norm(T_actual[:, :3, 3] - T_wanted[:, :3, 3], axis=1)
    turn = np.swapaxes(T_actual[:, :3, :3], 1, 2) @ T_wanted[:, :3, :3]
    return position, se3.rotation_angle(turn)


def spread(values: Array) -> dict[str, float]:
    """Mean, 95th and 99th percentile."""
    if not len(values):
        return {"mean": float("nan"), "p95": float("nan"), "p99": float("nan")}
    with np.errstate(invalid="ignore"):  # between a finite and an infinite value: NaN
        p95, p99 = np.percentile(values, [95, 99])
    return {"mean": float(np.mean(values)), "p95": float(p95), "p99": float(p99)}


def strict(position_m: Array, rotation_rad: Array) -> Flags:
    """Errors (k,) that are strict: <= 1 mm and <= 0.2 deg."""
    both: Flags = (position_m <= STRICT_M) & (rotation_rad <= STRICT_RAD)
    return both


def p50_p99(values: Array) -> dict[str, float]:
    """Median and 99th percentile; NaN where there are no values."""
    if not len(values):
        return {"p50": float("nan"), "p99": float("nan")}
    p50, p99 = np.percentile(values, [50, 99])
    return {"p50": float(p50), "p99": float(p99)}


def accuracy(position_m: Array, rotation_rad: Array) -> dict[str, object]:
    """Errors (k,) as figures: mm and deg, success rates (share of ticks below 1, 5, 10 mm), strict (<= 1 mm and <= 0.2 deg)."""
    return {
        "position_error_mm": spread(1e3 * position_m),
        "rotation_error_deg": spread(np.degrees(rotation_rad)),
        **{f"success_{d}mm_percent": _percent(position_m < 1e-3 * d) for d in SUCCESS_MM},
        "strict_percent": _percent(strict(position_m, rotation_rad)),
    }


def calm(q: Array, dt_s: float) -> dict[str, float | int]:
    """Commands q (k, n) rad, one a tick: spikes, jerk (rad/s^3), branch switches and the fastest joint (rad/s)."""
    return calm_of([q], dt_s)


def calm_of(runs: Sequence[Array], dt_s: float) -> dict[str, float | int]:
    """The figures of `calm` over several runs, each (k, n) rad: shares of all their ticks, no step across two runs."""
    steps = [np.diff(q, axis=0) for q in runs]
    jumps = _stacked([np.diff(s, axis=0) for s in steps])
    largest = np.abs(_stacked(steps)).max(axis=1, initial=0.0)
    jerk = jerk_of(runs, dt_s)
    jump = np.abs(jumps).max(axis=1, initial=0.0)
    return {
        "spike_percent": _percent(jump > SPIKES_RAD[1]),
        **{f"spike_{limit:g}rad_percent": _percent(jump > limit) for limit in SPIKES_RAD},
        "jerk_rms": float(np.sqrt(np.mean(jerk**2))) if jerk.size else 0.0,
        "jerk_max": float(np.abs(jerk).max(initial=0.0)),
        "branch_switches": int((largest > BRANCH_SWITCH_RAD).sum()),
        "max_velocity": float(largest.max(initial=0.0) / dt_s),
    }


def jerk_of(runs: Sequence[Array], dt_s: float) -> Array:
    """Third difference of commands (k, n) rad over dt^3, of every joint and tick of every run (m, n), rad/s^3."""
    jerk: Array = _stacked([np.diff(q, 3, axis=0) for q in runs]) / dt_s**3
    return jerk


def divergences(position_m: Array, dt_s: float, reachable: Flags | None = None) -> int:
    """Number of times that the position error (k,) m stays above 100 mm for 1 s or longer, at one tick a period.

    Args:
        position_m: (k,) errors.
        dt_s: the period.
        reachable: (k,) ticks whose target is within reach; the others end a run. None: all are, and on a stream that is not
            within reach and within the limits the number says how often the arm could not follow.
    """
    above = position_m > DIVERGED_M
    starts, ends = runs_of(above if reachable is None else above & reachable)
    return int((ends - starts >= round(DIVERGED_S / dt_s)).sum())


def runs_of(flags: Flags) -> tuple[np.ndarray[Any, np.dtype[np.intp]], np.ndarray[Any, np.dtype[np.intp]]]:
    """First index, and the index after the last, of each run of true values in flags (k,)."""
    edges = np.diff(np.concatenate([[False], flags, [False]]).astype(int))
    return np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)


def limit_violations(q: Array, dt_s: float, lower: Array, upper: Array, velocity: Array, acceleration: Array) -> int:
    """Number of commands (k, n), at a fixed period, beyond a position, velocity or acceleration limit in any joint."""
    steps = np.diff(q, axis=0)
    bad = np.zeros(len(q), dtype=bool)
    bad |= ((q < lower - SLACK) | (q > upper + SLACK)).any(axis=1)
    bad[1:] |= (np.abs(steps) > velocity * dt_s * (1 + SLACK) + SLACK).any(axis=1)
    bad[2:] |= (np.abs(np.diff(steps, axis=0)) > acceleration * dt_s**2 * (1 + SLACK) + SLACK).any(axis=1)
    return int(bad.sum())


def _stacked(arrays: Sequence[Array]) -> Array:
    return np.concatenate(arrays) if arrays else np.zeros((0, 1))


def _percent(flags: Flags) -> float:
    return float(100.0 * np.mean(flags)) if len(flags) else 0.0
