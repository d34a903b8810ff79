"""What verbs share: configuration and robot, joint values on the command line, JSON."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from mimicik_ros import config as configuration
from mimicik_ros.config import Config
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.types import Array
from mimicik_ros.share import share_path

if TYPE_CHECKING:  # `mimicik doctor` must run, and say so, where Pinocchio is missing or is the wrong package
    from mimicik_ros.core.kinematics import Kinematics


def add_config(parser: argparse.ArgumentParser, model: bool = True) -> None:
    """The options --config and --model."""
    parser.add_argument("--config", help="YAML configuration (default: AIRBOT Play with G2 gripper)")
    if model:
        parser.add_argument("--model", help="ONNX file (default: the configured one)")


def config_of(args: argparse.Namespace) -> Config:
    """The configuration that the options name, for the node in the namespace that they name. Raises ConfigError."""
    namespace = getattr(args, "namespace", "").strip("/")
    node = f"/{namespace}/mimicik" if namespace else "/mimicik"
    config = configuration.load(args.config, node) if args.config else Config()
    if getattr(args, "model", None):
        config = dataclasses.replace(config, policy=dataclasses.replace(config.policy, model=args.model))
    return config


def robot_of(config: Config) -> Kinematics:
    """The configured robot. Raises RobotError or ConfigError."""
    from mimicik_ros.core.kinematics import Kinematics

    robot = config.robot
    return Kinematics(share_path(robot.urdf), robot.base_frame, robot.tool_frame, robot.joint_names)


def joints_of(text: str, option: str, kinematics: Kinematics, slack_rad: float = 0.0) -> Array:
    """Joint values (n,) rad from "q1 ... qn".

    Args:
        text: the values, apart by spaces or commas.
        option: named in errors.
        kinematics: the robot.
        slack_rad: so far outside its limits a joint may lie, as measured ones do at times.

    Raises:
        ConfigError: they are no n finite numbers, or one lies further outside its limits than the slack.
    """
    try:
        q = np.array([float(v) for v in text.replace(",", " ").split()])
    except ValueError:
        q = np.zeros(0)
    n = kinematics.n
    if len(q) != n or not np.isfinite(q).all():
        raise ConfigError(f"{option}: expected {n} finite numbers in quotes, \"q1 ... q{n}\" (rad), got '{text}'")
    for name, value, low, high in zip(kinematics.joint_names, q, kinematics.lower, kinematics.upper, strict=True):
        if not low - slack_rad <= value <= high + slack_rad:
            raise ConfigError(f"{option}: {name} = {value:g} rad lies outside [{low:g}, {high:g}]")
    return q
