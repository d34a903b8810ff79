"""`mimicik <verb>`: exit code 0 ok, 1 a check failed, 2 usage or bad input."""

from __future__ import annotations

import argparse
import importlib
import sys

from mimicik_ros import __version__
from mimicik_ros.core.errors import MimicIKError

VERBS = ("doctor", "demo", "web", "replay", "solve", "dataset", "train", "export", "evaluate", "ablate")
ROS_MODULES = ("rclpy", "sensor_msgs", "geometry_msgs", "std_msgs", "trajectory_msgs", "visualization_msgs", "diagnostic_msgs",
               "nav_msgs", "std_srvs", "lifecycle_msgs", "rcl_interfaces", "builtin_interfaces")
EXTRA_OF = {"torch": "train", "onnx": "train", "onnxscript": "train", "tensorboard": "train", "tqdm": "train",
            "matplotlib": "eval", "pyarrow": "data", "rosbags": "data",
            **dict.fromkeys(("pink", "qpsolvers", "daqp", "pytracik", "pybullet", "pybullet_data"), "baselines"),
            **dict.fromkeys(("viser", "websockets"), "web"), **dict.fromkeys(ROS_MODULES, "ros")}
CORE = {"numpy": "numpy", "yaml": "pyyaml", "urdf_parser_py": "urdf-parser-py", "pinocchio": "pin", "onnxruntime": "onnxruntime"}


def main(argv: list[str] | None = None) -> int:
    """Run one verb. Every expected error is one line on standard error and exit code 2."""
    try:
        args = _parse(argv)
        return int(args.run(args))
    except MimicIKError as error:
        _say(str(error))
    except ImportError as error:
        name = (error.name or "").split(".")[0]
        if name not in EXTRA_OF and name not in CORE:
            raise
        remedy = f"pip install {CORE[name]}" if name in CORE else f"pip install 'mimicik_ros[{EXTRA_OF[name]}]'"
        # A module that is there but does not load says why; a missing one is named.
        why = f"needs '{name}'" if isinstance(error, ModuleNotFoundError) else f"cannot load '{name}' ({_first_line(error)})"
        _say(f"mimicik {why}; {remedy}")
    except OSError as error:
        _say(f"{error.filename or ''}: {error.strerror or error}; give a path that can be written")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    return 2


def _parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mimicik", description="Real-time learned inverse kinematics, checked on every tick.")
    parser.add_argument("--version", action="version", version=f"mimicik {__version__}")
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        importlib.import_module(f"mimicik_ros.cli.{verb}").add_parser(subparsers)
    return parser.parse_args(argv)


def _say(message: str) -> None:
    print(f"error: {message}", file=sys.stderr)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["no reason given"])[0]


if __name__ == "__main__":
    sys.exit(main())
