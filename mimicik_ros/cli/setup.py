"""What verbs share: the configuration and robot they are told of, and joint values on the command line."""

from __future__ import annotations

import argparse
import dataclasses

import numpy as np

from mimicik_ros import config as configuration
from mimicik_ros.config import Config
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.share import share_path


def add_config(parser: argparse.ArgumentParser, model: bool = True) -> None:
    """The options --config and --model."""
    parser.add_argument("--config", help="YAML configuration (default: AIRBOT Play with G2 gripper)")
    if model:
        parser.add_argument("--model", help="ONNX file (default: the configured one)")


def config_of(args: argparse.Namespace) -> Config:
    """The configuration that the options name. Raises ConfigError."""
    config = configuration.load(args.config) if args.config else Config()
    if getattr(args, "model", None):
        config = dataclasses.replace(config, policy=dataclasses.replace(config.policy, model=args.model))
    return config


def robot_of(config: Config) -> Kinematics:
    """The configured robot. Raises RobotError or ConfigError."""
    robot = config.robot
    return Kinematics(share_path(robot.urdf), robot.base_frame, robot.tool_frame, robot.joint_names)


def joints_of(text: str, option: str, kinematics: Kinematics) -> Array:
    """Joint values (n,) rad from "q1 ... qn". Raises ConfigError where they are no n numbers within the limits."""
    try:
        q = np.array([float(v) for v in text.replace(",", " ").split()])
    except ValueError:
        q = np.zeros(0)
    n = kinematics.n
    if len(q) != n or not np.isfinite(q).all():
        raise ConfigError(f"{option}: expected {n} finite numbers in quotes, \"q1 ... q{n}\" (rad), got '{text}'")
    for name, value, low, high in zip(kinematics.joint_names, q, kinematics.lower, kinematics.upper, strict=True):
        if not low <= value <= high:
            raise ConfigError(f"{option}: {name} = {value:g} rad lies outside [{low:g}, {high:g}]")
    return q
