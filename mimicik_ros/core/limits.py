"""Position, velocity and acceleration limits of the command: what may be sent next, whatever was asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mimicik_ros.config import Config
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array, LimitedStep


@dataclass(frozen=True)
class JointLimits:
    """Limits of the command, (n,) each: rad, rad/s, rad/s^2 (infinite = none), and the period dt_s."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    dt_s: float

    @classmethod
    def from_config(cls, config: Config, kinematics: Kinematics) -> JointLimits:
        """Limits of a configuration. Raises ConfigError where the margin leaves no range."""
        margin = config.robot.position_margin_rad
        lower, upper = kinematics.lower + margin, kinematics.upper - margin
        for name, low, high in zip(kinematics.joint_names, lower, upper, strict=True):
            if low >= high:
                raise ConfigError(f"robot.position_margin_rad: {margin:g} leaves joint '{name}' no range; lower it")
        return cls(lower, upper, np.array(config.robot.velocity_limits_rad_s),
                   np.array(config.robot.acceleration_limits_rad_s2), config.dt_s)


def stopping_step(distance: float, reduction: float) -> float:
    """Largest step of one tick from which a stop within `distance` is possible.

    Steps shrink by at most `reduction` a tick: s + (s - A) + ... <= d. With k = the least whole number for which
    d <= A k (k + 1) / 2, s = d / k + A (k - 1) / 2.

    Args:
        distance: d, what is left (any unit); below 0 counts as 0.
        reduction: A = acceleration * dt^2 (same unit); infinite = no bound on the deceleration.
    """
    if distance <= 0.0:
        return 0.0
    if math.isinf(reduction):
        return distance
    k = max(1.0, math.ceil(0.5 * (math.sqrt(1.0 + 8.0 * distance / reduction) - 1.0) - 1e-9))
    return distance / k + 0.5 * reduction * (k - 1.0)


def velocity_interval(q_ref: Array, velocity: Array, limits: JointLimits) -> tuple[Array, Array]:
    """Velocities (n,) rad/s, lowest and highest, that keep every limit now and allow a stop before the position limits.

    Args:
        q_ref: (n,) last command.
        velocity: (n,) rad/s of the last command.
        limits: the limits.
    """
    dt = limits.dt_s
    change = limits.acceleration * dt
    reduction = limits.acceleration * dt * dt
    high = _stoppable(limits.upper - q_ref, limits, reduction)
    low = -_stoppable(q_ref - limits.lower, limits, reduction)
    # Where limits were tightened while moving, the acceleration limit wins: brake as hard as it allows.
    low = np.maximum(np.minimum(low, velocity + change), velocity - change)
    high = np.minimum(np.maximum(high, velocity - change), velocity + change)
    return np.minimum(low, high), high


def _stoppable(room: Array, limits: JointLimits, reduction: Array) -> Array:
    """Highest speeds (n,) rad/s within the velocity limit from which a stop within room (n,) rad is possible."""
    speed = limits.velocity.copy()
    fastest = speed * limits.dt_s
    near = np.flatnonzero(room < fastest + 0.5 * fastest * fastest / reduction)  # elsewhere full speed can be stopped
    for i in near:
        speed[i] = min(speed[i], stopping_step(room[i], reduction[i]) / limits.dt_s)
    return speed


def towards(q_ref: Array, velocity: Array, q_goal: Array, limits: JointLimits) -> LimitedStep:
    """The step on the straight way to q_goal (n,) rad from which every joint can still stop there."""
    way = q_goal - q_ref
    reduction = limits.acceleration * limits.dt_s**2
    shares = [stopping_step(d, a) / d for d, a in zip(np.abs(way), reduction, strict=True) if d > 0.0]
    return step(q_ref, velocity, min(shares, default=0.0) * way, limits)


def step(q_ref: Array, velocity: Array, delta_q: Array, limits: JointLimits) -> LimitedStep:
    """The step nearest to delta_q that keeps every limit: one factor for all joints, so that the direction is kept.

    Where the old velocity rules out every multiple of delta_q, the old velocity is first reduced, again by one factor, as
    far as the accelerations allow, and as much of delta_q is added as then fits.

    Args:
        q_ref: (n,) last command.
        velocity: (n,) rad/s of the last command.
        delta_q: (n,) rad asked for; must be finite.
        limits: the limits.
    """
    low, high = velocity_interval(q_ref, velocity, limits)
    wanted = delta_q / limits.dt_s
    base = np.zeros_like(wanted)
    scale = _largest_factor(base, wanted, low, high)
    if scale is None:
        base = np.clip(_least_kept(velocity, limits) * velocity, low, high)
        scale = _largest_factor(base, wanted, low, high) or 0.0
    v = np.clip(base + scale * wanted, low, high)
    return LimitedStep(q_ref + v * limits.dt_s, v, float(scale))


def brake(q_ref: Array, velocity: Array, limits: JointLimits) -> LimitedStep:
    """The step that stops soonest along the present direction; at rest it is no step at all."""
    low, high = velocity_interval(q_ref, velocity, limits)
    v = np.clip(_least_kept(velocity, limits) * velocity, low, high)
    return LimitedStep(q_ref + v * limits.dt_s, v, 0.0)


def _largest_factor(base: Array, wanted: Array, low: Array, high: Array) -> float | None:
    """Largest s in [0, 1] with low <= base + s * wanted <= high, or None."""
    least, most = 0.0, 1.0
    slack = 1e-12
    for b, w, lo, hi in zip(base, wanted, low, high, strict=True):
        if abs(w) < 1e-15:
            if b < lo - slack or b > hi + slack:
                return None
            continue
        first, second = (lo - b) / w, (hi - b) / w
        least, most = max(least, min(first, second)), min(most, max(first, second))
    return most if most >= least - slack and most >= 0.0 else None


def _least_kept(velocity: Array, limits: JointLimits) -> float:
    """Smallest share of the old velocity that the acceleration limits let remain."""
    speed = np.abs(velocity)
    moving = speed > 1e-12
    if not moving.any():
        return 0.0
    share = 1.0 - limits.acceleration[moving] * limits.dt_s / speed[moving]
    return float(max(0.0, share.max()))
