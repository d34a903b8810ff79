"""`mimicik <verb>`: exit code 0 ok, 1 a check failed, 2 usage or bad input."""

from __future__ import annotations

import argparse
import importlib
import sys

from mimicik_ros import __version__
from mimicik_ros.core.errors import MimicIKError

VERBS = ("doctor", "demo", "replay", "solve", "train", "export", "evaluate")
EXTRA_OF = {
    "torch": "train", "onnx": "train", "tqdm": "train", "matplotlib": "eval", "rclpy": "ros", "sensor_msgs": "ros",
    "geometry_msgs": "ros",
}


def main(argv: list[str] | None = None) -> int:
    """Run one verb. Every expected error is one line on standard error and exit code 2."""
    parser = argparse.ArgumentParser(prog="mimicik", description="Real-time learned inverse kinematics, checked on every tick.")
    parser.add_argument("--version", action="version", version=f"mimicik {__version__}")
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        importlib.import_module(f"mimicik_ros.cli.{verb}").add_parser(subparsers)
    args = parser.parse_args(argv)
    try:
        return int(args.run(args))
    except MimicIKError as error:
        print(f"error: {error}", file=sys.stderr)
    except ModuleNotFoundError as error:
        name = (error.name or "").split(".")[0]
        if name not in EXTRA_OF:
            raise
        print(f"error: `mimicik {args.verb}` needs '{name}'; pip install 'mimicik_ros[{EXTRA_OF[name]}]'", file=sys.stderr)
    except OSError as error:
        print(f"error: {error.filename or ''}: {error.strerror or error}; give a path that can be written", file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
