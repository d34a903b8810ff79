"""Rows at their own times brought onto the period of the dataset: linear between rows, quaternions by the short way."""

from __future__ import annotations

import numpy as np

from mimicik_ros.core.types import Array
from mimicik_ros.training.dataset.recording import Recording

SAME = 0.02  # rows this near to the period (as a share of it) stay as they are


def continuous(quat_xyzw: Array) -> Array:
    """Unit quaternions (k, 4) of which none changes its sign against the one before."""
    quat = quat_xyzw / np.linalg.norm(quat_xyzw, axis=1, keepdims=True)
    quat[1:] *= np.cumprod(np.where((quat[1:] * quat[:-1]).sum(axis=1) < 0.0, -1.0, 1.0))[:, None]
    return quat


def times(start_s: float, end_s: float, period_s: float) -> Array:
    """start_s, start_s + period_s, ... up to end_s, a rounding error past it included."""
    return start_s + period_s * np.arange(int((end_s - start_s) / period_s + 1e-6) + 1)


def at(t_s: Array, known_s: Array, values: Array) -> Array:
    """Values (k, m) at known_s (k,), linear in between, at t_s: (len(t_s), m)."""
    return np.stack([np.interp(t_s, known_s, column) for column in values.T], axis=1)


def onto_period(recording: Recording, period_s: float) -> Recording:
    """The recording with a row every period_s from its first row on. Quaternions must be continuous in sign."""
    known = recording.t_s
    if np.abs(np.diff(known) - period_s).max() <= SAME * period_s:
        return recording
    t_s = times(known[0], known[-1], period_s)

    def moved(values: Array | None) -> Array | None:
        return None if values is None else at(t_s, known, values)

    quat = moved(recording.quat_xyzw)
    return Recording(recording.name, t_s, at(t_s, known, recording.q), moved(recording.q_command), moved(recording.position_m),
                     None if quat is None else quat / np.linalg.norm(quat, axis=1, keepdims=True),
                     moved(recording.measured_position_m))
