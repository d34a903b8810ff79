"""The figures of a run, with their definitions (docs/evaluation.md): accuracy, calm and limits."""

from __future__ import annotations

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.types import Array

STRICT_M, STRICT_RAD = 1e-3, np.radians(0.2)
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
    p95, p99 = np.percentile(values, [95, 99])
    return {"mean": float(np.mean(values)), "p95": float(p95), "p99": float(p99)}


def accuracy(position_m: Array, rotation_rad: Array) -> dict[str, object]:
    """Errors (k,) as figures: mm and deg, success rates (share of ticks below 1, 5, 10 mm), strict (<= 1 mm and <= 0.2 deg)."""
    strict = (position_m <= STRICT_M) & (rotation_rad <= STRICT_RAD)
    return {
        "position_error_mm": spread(1e3 * position_m),
        "rotation_error_deg": spread(np.degrees(rotation_rad)),
        **{f"success_{d}mm_percent": _percent(position_m < 1e-3 * d) for d in (1, 5, 10)},
        "strict_percent": _percent(strict),
    }


def calm(q: Array, dt_s: float) -> dict[str, object]:
    """Commands q (k, n) rad, one a tick: spikes, branch switches and the fastest joint (rad/s)."""
    steps = np.diff(q, axis=0)
    jumps = np.abs(np.diff(steps, axis=0)).max(axis=1) if len(steps) > 1 else np.zeros(0)
    largest = np.abs(steps).max(axis=1) if len(steps) else np.zeros(0)
    return {
        "spike_percent": _percent(jumps > SPIKES_RAD[1]),
        **{f"spike_{limit:g}rad_percent": _percent(jumps > limit) for limit in SPIKES_RAD},
        "branch_switches": int((largest > BRANCH_SWITCH_RAD).sum()),
        "max_velocity": float(largest.max() / dt_s) if len(largest) else 0.0,
    }


def divergences(position_m: Array, dt_s: float) -> int:
    """Number of times that the position error (k,) m stays above 100 mm for 1 s or longer, at one tick a period.

    Divergence only where the stream is within reach and within the limits; else it says how often the arm could not follow.
    """
    above = np.concatenate([[False], position_m > DIVERGED_M, [False]]).astype(int)
    edges = np.diff(above)
    lengths = np.flatnonzero(edges < 0) - np.flatnonzero(edges > 0)
    return int((lengths >= round(DIVERGED_S / dt_s)).sum())


def limit_violations(q: Array, dt_s: float, lower: Array, upper: Array, velocity: Array, acceleration: Array) -> int:
    """Number of commands (k, n), at a fixed period, beyond a position, velocity or acceleration limit in any joint."""
    steps = np.diff(q, axis=0)
    bad = np.zeros(len(q), dtype=bool)
    bad |= ((q < lower - SLACK) | (q > upper + SLACK)).any(axis=1)
    bad[1:] |= (np.abs(steps) > velocity * dt_s * (1 + SLACK) + SLACK).any(axis=1)
    bad[2:] |= (np.abs(np.diff(steps, axis=0)) > acceleration * dt_s**2 * (1 + SLACK) + SLACK).any(axis=1)
    return int(bad.sum())


def _percent(flags: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> float:
    return float(100.0 * np.mean(flags)) if len(flags) else 0.0
