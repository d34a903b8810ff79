"""Filters against tremor for poses: one-euro and critically damped second order, on position and rotation alike."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from mimicik_ros.config import TargetConfig
from mimicik_ros.core import se3
from mimicik_ros.core.types import Array

SPEED_CUTOFF_HZ = 1.0  # of one_euro's speed estimate, as its authors propose


@dataclass(frozen=True)
class Filtered:
    """A filter after one sample.

    Attributes:
        T: (4, 4) filtered pose.
        T_in: (4, 4) the sample.
        velocity: (6,) m/s, rad/s: of the filtered pose (second_order), of the samples, smoothed (one_euro).
        time_s: of the sample.
        lag_s: how far the filtered position is behind a steady motion of this speed.
    """

    T: Array
    T_in: Array
    velocity: Array
    time_s: float
    lag_s: float = 0.0


def step(before: Filtered | None, T: Array, time_s: float, config: TargetConfig, longest_s: float) -> Filtered:
    """The filter after one sample more; it begins anew at the sample after a gap longer than longest_s or a jump of the clock.

    Args:
        before: after the last sample; None at the start.
        T: (4, 4) the sample, in the base frame.
        time_s: of the sample; equal to the last one's: the same sample again.
        config: kind and cut-off; must not be none.
        longest_s: largest time between two samples of one motion.
    """
    if before is None or not 0.0 <= time_s - before.time_s <= longest_s:
        return Filtered(T, T, np.zeros(6), time_s)
    if time_s == before.time_s:
        return before
    kind = _one_euro if config.filter == "one_euro" else _second_order
    return dataclasses.replace(kind(before, T, time_s - before.time_s, config), T_in=T, time_s=time_s)


def _one_euro(before: Filtered, T: Array, dt_s: float, config: TargetConfig) -> Filtered:
    """Low pass whose cut-off rises with speed (Casiez, Roussel & Vogel 2012). Lag 1 / (2 pi cut-off)."""
    raw = se3.difference(T, before.T_in) / dt_s
    velocity = before.velocity + _gain(SPEED_CUTOFF_HZ, dt_s) * (raw - before.velocity)
    linear = config.filter_cutoff_hz + config.filter_beta_linear * float(np.linalg.norm(velocity[:3]))
    angular = config.filter_cutoff_hz + config.filter_beta_angular * float(np.linalg.norm(velocity[3:]))
    way = se3.difference(T, before.T)
    way[:3] *= _gain(linear, dt_s)
    way[3:] *= _gain(angular, dt_s)
    return Filtered(se3.shifted(before.T, way), T, velocity, 0.0, 1.0 / (2.0 * math.pi * linear))


def _gain(cutoff_hz: float, dt_s: float) -> float:
    return 1.0 / (1.0 + 1.0 / (2.0 * math.pi * cutoff_hz * dt_s))


def _second_order(before: Filtered, T: Array, dt_s: float, config: TargetConfig) -> Filtered:
    """x'' = w^2 (u - x) - 2 w x', solved exactly for an input that runs straight between samples. Lag 2 / w = 1 / (pi cut-off).

    With s the input's slope, x = u - 2 s / w + d, and d dies away as (d0 + (d0' + w d0) t) exp(-w t).
    """
    w = 2.0 * math.pi * config.filter_cutoff_hz
    slope = se3.difference(T, before.T_in) / dt_s
    d = se3.difference(before.T, before.T_in) + 2.0 * slope / w
    rate = before.velocity - slope
    drive, fade = rate + w * d, math.exp(-w * dt_s)
    offset = (d + drive * dt_s) * fade - 2.0 * slope / w
    velocity = slope + (rate - w * drive * dt_s) * fade
    return Filtered(se3.shifted(T, offset), T, velocity, 0.0, 2.0 / w)
