"""A velocity of the tool as a target: integrated, never far from the tool, and fading away when nothing more is heard."""

from __future__ import annotations

import numpy as np

from mimicik_ros.config import Config, TargetConfig
from mimicik_ros.core import se3
from mimicik_ros.core.status import Status
from mimicik_ros.core.target_inputs import TwistSample
from mimicik_ros.core.types import Array


def fault(twist: TwistSample, now_s: float, config: Config) -> tuple[Status, str] | None:
    """Why a twist that has just come cannot be used; None where it can."""
    robot, freshness = config.robot, config.freshness
    if twist.fault is not None:
        return twist.fault, twist.detail
    empty = twist.frame_id == "" and freshness.assume_base_frame
    if twist.frame_id not in (robot.base_frame_id, robot.tool_frame_id) and not empty:
        return Status.BAD_FRAME, f"twist in '{twist.frame_id}', expected '{robot.base_frame_id}' or '{robot.tool_frame_id}'"
    if not (np.isfinite(twist.velocity).all() and np.isfinite(twist.stamp_s)):
        return Status.NON_FINITE, "twist"
    if twist.stamp_s == 0.0 and not freshness.accept_zero_stamp:
        return Status.NO_STAMP, "twist with stamp 0"
    if twist.stamp_s > now_s + freshness.future_tolerance_s:
        return Status.STAMP_IN_FUTURE, f"twist {twist.stamp_s - now_s:.3f} s ahead"
    return None


def age_s(twist: TwistSample, now_s: float, steady_s: float) -> float:
    """The worse of the ages by stamp and by receipt."""
    by_stamp = now_s - twist.stamp_s if twist.stamp_s != 0.0 else 0.0
    return max(by_stamp, steady_s - twist.receipt_s)


def share(age: float, config: TargetConfig) -> float:
    """Share of its velocity that a twist of this age still has: 1 up to the timeout, then evenly down to 0."""
    late = age - config.twist_timeout_s
    if late <= 0.0:
        return 1.0
    return max(0.0, 1.0 - late / config.twist_decay_s) if config.twist_decay_s > 0.0 else 0.0


def over_s(age: float, config: TargetConfig) -> float:
    """Time since a twist of this age has faded away; 0 while it has not."""
    return max(0.0, age - config.twist_timeout_s - config.twist_decay_s)


def advance(T: Array, twist: TwistSample, age: float, dt_s: float, T_base_tool: Array, config: Config) -> Array:
    """The target (4, 4) one tick later.

    Args:
        T: (4, 4) target so far, in the base frame.
        twist: along the axes of the base frame, or of the tool frame: then of the target's own axes.
        age: of the twist, in s.
        dt_s: time since the target so far.
        T_base_tool: (4, 4) pose of the last command, near which the target stays.
        config: speeds at most, timing, lead.
    """
    velocity = twist.velocity * share(age, config.target)
    if twist.frame_id == config.robot.tool_frame_id:
        R = T[:3, :3]
        velocity = np.concatenate([R @ velocity[:3], R @ velocity[3:]])
    fastest = max(1.0, float(np.linalg.norm(velocity[:3])) / config.servo.max_linear_speed_m_s,
                  float(np.linalg.norm(velocity[3:])) / config.servo.max_angular_speed_rad_s)
    return leashed(se3.shifted(T, velocity * (dt_s / fastest)), T_base_tool, config.target)


def leashed(T: Array, T_base_tool: Array, config: TargetConfig) -> Array:
    """T (4, 4), or where it is further from the tool than twist_lead_m or twist_lead_rad, the pose at that distance."""
    lead = se3.difference(T, T_base_tool)
    distance, angle = float(np.linalg.norm(lead[:3])), float(np.linalg.norm(lead[3:]))
    if distance <= config.twist_lead_m and angle <= config.twist_lead_rad:
        return T
    lead[:3] *= min(1.0, config.twist_lead_m / max(distance, 1e-12))
    lead[3:] *= min(1.0, config.twist_lead_rad / max(angle, 1e-12))
    return se3.shifted(T_base_tool, lead)
