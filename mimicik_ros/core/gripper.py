"""The gripper's value: inside its limits, and never faster than allowed."""

from __future__ import annotations

from mimicik_ros.config import TargetConfig


def advance(position: float, wanted: float, dt_s: float, config: TargetConfig) -> float:
    """Value one tick later: from position towards wanted by at most gripper_speed * dt_s, inside the limits.

    Args:
        position, wanted: in the driver's unit (m for the G2 gripper); wanted must be finite.
        dt_s: length of the tick.
        config: limits and speed.
    """
    low, high = config.gripper_lower, config.gripper_upper
    goal, most = min(max(wanted, low), high), config.gripper_speed * dt_s
    return min(max(position + min(max(goal - position, -most), most), low), high)
