"""What is logged once about the robot: the limits in force and where each comes from, and the order of joint_states."""

from __future__ import annotations

from mimicik_ros.config import Config
from mimicik_ros.core.kinematics import Kinematics


def limit_lines(config: Config, kinematics: Kinematics) -> list[str]:
    """One line per joint with position (URDF), velocity and acceleration (configuration) limits and their origin."""
    margin = config.robot.position_margin_rad
    out = []
    for i, joint in enumerate(kinematics.joints):
        given = f"URDF gives {joint.velocity:g}" if joint.velocity is not None else "URDF gives none (0 = not given)"
        out.append(
            f"{joint.name}: position [{joint.lower + margin:.4f}, {joint.upper - margin:.4f}] rad (URDF less "
            f"{margin:g}), velocity {config.robot.velocity_limits_rad_s[i]:g} rad/s (configuration; {given}), "
            f"acceleration {config.robot.acceleration_limits_rad_s2[i]:g} rad/s^2 (configuration)")
    return out


def mapping_line(topic: str, joint_names: tuple[str, ...], order: tuple[str, ...]) -> str:
    """One line that says where each of our joints stands in the messages of topic."""
    places = ", ".join(f"{name} <- [{order.index(name)}]" for name in joint_names if name in order)
    extra = [name for name in order if name not in joint_names]
    return f"{topic}: joints are taken by name: {places}" + (f"; ignored: {', '.join(extra)}" if extra else "")
