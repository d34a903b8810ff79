"""The way to home.q_rad: straight in joint space, at home.speed_rad_s at most, within every limit."""

from __future__ import annotations

import dataclasses

import numpy as np

from mimicik_ros.config import Config, HomeConfig
from mimicik_ros.core import limits as joint_limits
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.limits import JointLimits
from mimicik_ros.core.types import Array, LimitedStep

ARRIVED_RAD = 1e-6


def refusal(config: Config, limits: JointLimits) -> str | None:
    """Why this arm cannot go home; None where it can.

    Raises:
        ConfigError: home.q_rad was given and does not fit. The default need not fit every arm: there ~/go_home is refused.
    """
    home, names = config.home.q_rad, config.robot.joint_names
    reason = None
    if len(home) != len(names):
        reason = f"home.q_rad has {len(home)} values for {len(names)} joints"
    else:
        for name, q, low, high in zip(names, home, limits.lower, limits.upper, strict=True):
            if reason is None and not low <= q <= high:
                reason = f"home.q_rad: {q:g} of {name} lies outside its limits [{low:.4f}, {high:.4f}] rad"
    if reason is not None and home != HomeConfig().q_rad:
        raise ConfigError(f"{reason}; give joints inside the limits")
    return reason


def step(q_ref: Array, velocity: Array, low: Array, high: Array, config: HomeConfig, limits: JointLimits) -> LimitedStep:
    """One tick on the way.

    Args:
        q_ref, velocity: (n,) rad, rad/s of the last command.
        low, high: (n,) rad, commands that limits, lead and first step allow.
        config: home and speed.
        limits: of the joints.
    """
    slow = dataclasses.replace(limits, velocity=np.minimum(limits.velocity, config.speed_rad_s))
    way = joint_limits.towards(q_ref, velocity, np.array(config.q_rad), slow)
    inside = np.clip(way.q_command, low, high)
    return way if np.array_equal(inside, way.q_command) else joint_limits.step(q_ref, velocity, inside - q_ref, slow)


def arrived(step: LimitedStep, config: HomeConfig) -> bool:
    """Whether the command is home and stands still."""
    off = np.abs(step.q_command - np.array(config.q_rad)).max()
    return bool(off <= ARRIVED_RAD and not np.abs(step.velocity_rad_s).max() > ARRIVED_RAD)
