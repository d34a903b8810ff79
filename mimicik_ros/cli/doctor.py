"""`mimicik doctor`: what is installed, whether it fits together, and what to do where it does not."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata

from mimicik_ros import __version__
from mimicik_ros.cli.setup import add_config, config_of, robot_of
from mimicik_ros.config import Config
from mimicik_ros.core.errors import MimicIKError
from mimicik_ros.share import share_path

PACKAGES = ("numpy", "pin", "onnxruntime", "onnxruntime-gpu", "urdf-parser-py", "PyYAML", "ros-rclpy", "torch", "matplotlib")

REMEDIES = {
    "onnxruntime": "pip install onnxruntime", "pinocchio": "pip install pin",
    "ROS 2": "source a distribution built for this interpreter, or pip install 'mimicik_ros[ros]'",
    "robot": "pip install pin urdf-parser-py", "model": "pip install onnxruntime pin",
}


@dataclass(frozen=True)
class Check:
    """One line of the report. ok is None for plain information."""

    name: str
    ok: bool | None
    text: str


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("doctor", help="check the installation, the robot and the model")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_config(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    checks = [_interpreter(), _packages()]
    for name, check in (("onnxruntime", _one_runtime), ("pinocchio", _pinocchio), ("launch", _launch), ("ROS 2", _ros)):
        checks += _guarded(name, lambda check=check: [check()])
    try:
        config = config_of(args)
    except MimicIKError as error:
        checks.append(Check("configuration", False, str(error)))
    else:
        checks.append(Check("configuration", True, args.config or "built-in defaults (AIRBOT Play with G2 gripper)"))
        checks += _guarded("robot", lambda: _robot(config)) + _guarded("model", lambda: _model(config))
    failed = [check for check in checks if check.ok is False]
    if args.json:
        print(json.dumps({"ok": not failed, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        for check in checks:
            mark = {True: "ok  ", False: "FAIL", None: "    "}[check.ok]
            print(f"{mark} {check.name:14s} {check.text}")
        print("all checks passed" if not failed else f"{len(failed)} check(s) failed")
    return 1 if failed else 0


def _guarded(name: str, make: Callable[[], list[Check]]) -> list[Check]:
    try:
        return make()
    except MimicIKError as error:
        return [Check(name, False, str(error))]
    except ImportError as error:
        reason = (str(error).splitlines() or [""])[0]
        return [Check(name, False, f"cannot import '{error.name}': {reason}; {REMEDIES.get(name, 'install the package again')}")]


def _interpreter() -> Check:
    good = sys.version_info >= (3, 10)
    text = f"mimicik_ros {__version__}, Python {platform.python_version()} at {sys.executable}, {platform.platform()}"
    return Check("interpreter", good, text if good else text + "; needs Python 3.10 or newer")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _packages() -> Check:
    return Check("packages", None, ", ".join(f"{p} {_version(p) or '-'}" for p in PACKAGES))


def _one_runtime() -> Check:
    import onnxruntime

    both = _version("onnxruntime") is not None and _version("onnxruntime-gpu") is not None
    if both:
        return Check("onnxruntime", False, "onnxruntime and onnxruntime-gpu are both installed and overwrite each other; "
                     "pip uninstall both, then install one")
    return Check("onnxruntime", True, f"{onnxruntime.__version__}, providers: {', '.join(onnxruntime.get_available_providers())}")


def _pinocchio() -> Check:
    import pinocchio

    if not hasattr(pinocchio, "buildModelFromUrdf"):
        return Check("pinocchio", False, "an unrelated package of that name; pip uninstall pinocchio; pip install pin")
    return Check("pinocchio", True, f"{pinocchio.__version__}")


def _launch() -> Check:
    spec = importlib.util.find_spec("launch")
    if spec is None or spec.origin is None:  # a plain folder of that name, as in this checkout, has no origin
        return Check("launch", None, "not installed (comes with a ROS 2 distribution; only `ros2 launch` needs it)")
    import launch

    if not hasattr(launch, "LaunchDescription"):
        return Check("launch", False, "an unrelated package of that name; pip uninstall launch")
    return Check("launch", True, "ROS 2 launch is there")


def _ros() -> Check:
    if importlib.util.find_spec("rclpy") is None:
        return Check("ROS 2", None, "no rclpy: the library and `replay` work, the node does not; source a distribution or "
                     "pip install 'mimicik_ros[ros]'")
    from rclpy.utilities import get_rmw_implementation_identifier

    try:
        middleware = get_rmw_implementation_identifier()
    except RuntimeError as error:
        return Check("ROS 2", False, f"rclpy is there but no middleware loads: {str(error).splitlines()[0]}")
    domain, reach = os.environ.get("ROS_DOMAIN_ID", "0"), os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
    return Check("ROS 2", True, f"rclpy with {middleware}, ROS_DOMAIN_ID {domain}, discovery {reach}")


def _robot(config: Config) -> list[Check]:
    kinematics = robot_of(config)
    robot = config.robot
    checks = [Check("robot", True, f"{kinematics.origin}: {kinematics.base_frame} -> {kinematics.tool_frame}, "
                    f"kinematic hash {kinematics.kinematic_hash()}")]
    for i, joint in enumerate(kinematics.joints):
        given = "none" if joint.velocity is None else f"{joint.velocity:g}"
        checks.append(Check(f"  {joint.name}", None, (
            f"position [{joint.lower:g}, {joint.upper:g}] rad (URDF), velocity {robot.velocity_limits_rad_s[i]:g} rad/s "
            f"(configuration; URDF {given}), acceleration {robot.acceleration_limits_rad_s2[i]:g} rad/s^2 (configuration)")))
    return checks


def _model(config: Config) -> list[Check]:
    from mimicik_ros.core.policy import Policy

    path = share_path(config.policy.model)
    policy = Policy.load(path, config.policy.provider, config.policy.threads)
    policy.card.check_against(robot_of(config), config.servo.rate_hz, str(path))
    golden = len(policy.card.golden_observation)
    return [Check("model", True, f"{path}: {policy.card.robot_name}, of {policy.card.created}, on {policy.provider}, "
                  f"{golden} golden vectors reproduced, fits the robot")]
