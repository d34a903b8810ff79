"""`mimicik solve`: one pose -> joints, how good they are, and whether the pose is within reach.

The servo moves an ideal arm from the initial joints first, so the answer is the one nearest in motion; only where that does not
reach the pose are other starts tried.
"""

from __future__ import annotations

import argparse
import json
import math
import re

import numpy as np

from mimicik_ros.cli.setup import add_config, config_of, joints_of
from mimicik_ros.core.errors import ConfigError

SETTLE_S = 10.0
NUMBER = re.compile(r"^-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("solve", help="one pose -> joints, residual, reachable or not, without ROS")
    parser.add_argument("pose", nargs=7, type=float, metavar="V", help="x y z qx qy qz qw in the base frame (m)")
    parser.add_argument("--q-init", metavar='"q1 ... qn"', help="joints to start from (default: the middle of the ranges)")
    parser.add_argument("--starts", type=int, default=50, help="starts to try before the pose counts as out of reach")
    parser.add_argument("--solver", default="servo", choices=("servo", "dls"), help="dls: without the model")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_config(parser)
    parser._negative_number_matcher = NUMBER  # argparse before Python 3.14 takes -1e-05 for an option
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from mimicik_ros.core import se3
    from mimicik_ros.core.freshness import OUT_OF_RANGE_RAD
    from mimicik_ros.core.limits import JointLimits
    from mimicik_ros.core.reach import solve_pose
    from mimicik_ros.core.servo import IKServo
    from mimicik_ros.evaluation.rollout import settle, without_gates

    config = without_gates(config_of(args))
    pose = np.array(args.pose)
    norm = float(np.linalg.norm(pose[3:]))
    if not np.isfinite(pose).all() or norm < 1e-3:
        raise ConfigError("pose: expected seven finite numbers x y z qx qy qz qw with a quaternion that is not zero")
    if args.starts < 1:
        raise ConfigError(f"--starts: must be at least 1, got {args.starts}")
    arm = IKServo.from_config(config, args.solver)
    kinematics = arm.kinematics
    limits = JointLimits.from_config(config, kinematics)
    middle = (limits.lower + limits.upper) / 2
    q_init = joints_of(args.q_init, "--q-init", kinematics, OUT_OF_RANGE_RAD) if args.q_init else middle
    T_target = se3.pose_from_quat(pose[:3], pose[3:])
    q_near = settle(arm, T_target, q_init, math.ceil(SETTLE_S * config.servo.rate_hz))
    found = solve_pose(kinematics, T_target, q_near, limits.lower, limits.upper, args.starts)
    error, servo = found.residual, config.servo
    reachable = error.position_m <= servo.strict_position_m and error.rotation_rad <= servo.strict_rotation_rad
    if args.json:
        print(json.dumps({
            "reachable": reachable, "q_rad": dict(zip(kinematics.joint_names, found.q.tolist(), strict=True)),
            "position_error_m": error.position_m, "rotation_error_rad": error.rotation_rad,
            "sigma_min": found.sigma_min, "starts": found.starts}, indent=2))
    else:
        print("reachable" if reachable else "not reachable; the nearest joints found are:")
        for name, value in zip(kinematics.joint_names, found.q, strict=True):
            print(f"  {name:10s} {value:+.6f} rad  {math.degrees(value):+8.2f} deg")
        print(f"  residual   {1e3 * error.position_m:.4f} mm, {math.degrees(error.rotation_rad):.4f} deg")
        print(f"  sigma_min  {found.sigma_min:.4f} (0 = singular), starts {found.starts}")
    return 0 if reachable else 1
