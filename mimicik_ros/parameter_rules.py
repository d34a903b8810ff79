"""What parameters must be together, beyond the range of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mimicik_ros.core.errors import ConfigError

if TYPE_CHECKING:
    from mimicik_ros.config import Config


def check(config: Config, origin: str) -> None:
    """Raises ConfigError where two parameters do not go together."""
    n = len(config.robot.joint_names)
    for key in ("velocity_limits_rad_s", "acceleration_limits_rad_s2"):
        got = len(getattr(config.robot, key))
        if got != n:
            raise ConfigError(f"{origin}: robot.{key} has {got} values for {n} joints; give one per joint")
    _check_gripper(config, origin)
    for key in ("xyz_m", "rpy_rad"):
        if len(getattr(config.mount, key)) != 3:
            raise ConfigError(f"{origin}: mount.{key} has {len(getattr(config.mount, key))} values; give three")
    if 0.0 < config.output.command_rate_hz < config.servo.rate_hz:
        raise ConfigError(f"{origin}: output.command_rate_hz is {config.output.command_rate_hz:g} Hz, below servo.rate_hz "
                          f"{config.servo.rate_hz:g} Hz; give at least that, or 0 for one command at each tick")


def _check_gripper(config: Config, origin: str) -> None:
    target, output = config.target, config.output
    if not (output.append_gripper or output.gripper_topic):
        return
    if target.gripper_lower >= target.gripper_upper:
        raise ConfigError(f"{origin}: target.gripper_lower {target.gripper_lower:g} must lie below target.gripper_upper "
                          f"{target.gripper_upper:g}")
    if not target.gripper_lower <= output.gripper_position <= target.gripper_upper:
        raise ConfigError(f"{origin}: output.gripper_position {output.gripper_position:g} must lie in target.gripper_lower .. "
                          f"gripper_upper [{target.gripper_lower:g}, {target.gripper_upper:g}]; change one of them")
