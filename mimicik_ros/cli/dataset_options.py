"""The options of `mimicik dataset` and its subcommands, and their values."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

from mimicik_ros.cli.setup import add_config
from mimicik_ros.core.errors import ConfigError

Run = Callable[[argparse.Namespace], int]
MAX_SPEED_RAD_S = 6.3  # twice the fastest joint of the AIRBOT Play's older URDF


def add_parsers(parser: argparse.ArgumentParser, runs: dict[str, Run]) -> None:
    """One parser per subcommand; runs gives the function of each."""
    subparsers = parser.add_subparsers(dest="subverb", metavar="SUBCOMMAND", required=True)

    def add(name: str, text: str) -> argparse.ArgumentParser:
        sub = subparsers.add_parser(name, help=text, description=text)
        sub.set_defaults(run=runs[name])
        return sub

    _synth(add("synth", "synthetic episodes: random, singular and smooth motion"))
    _lerobot(add("import-lerobot", "episodes of a LeRobot dataset (parquet v2 or v3)"))
    _bag(add("import-bag", "rosbag2 recordings (mcap or sqlite3)"))
    _csv(add("import-csv", "CSV tables of joints: t,q1..qn[,qc1..qcn][,x,y,z,qx,qy,qz,qw]"))
    _retarget(add("retarget", "end-effector streams (CSV: t,x,y,z,qx,qy,qz,qw) to joint-space demonstrations"))
    _info(add("info", "counts, ranges, steps, singularity coverage and faults of a dataset"))
    _split(add("split", "split by episode into several files"))


def _synth(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("out", help=".parquet file to write")
    add_config(sub, model=False)
    sub.add_argument("--episodes", type=int, default=1000)
    sub.add_argument("--seconds", type=float, default=10.0, help="length of an episode (default: 10)")
    sub.add_argument("--seed", type=int, default=0)
    sub.add_argument("--workers", type=int, default=1, help="processes; the result does not depend on it")
    sub.add_argument("--mix", default="random=0.5,singular=0.2,smooth=0.3", help="shares of the kinds (default: %(default)s)")
    sub.add_argument("--step-rad", type=float, default=0.06, help="random joint steps lie in +- this (default: 0.06)")
    sub.add_argument("--home", action="append", default=[], metavar='"q1 ... qn"', help="a singular start pose; repeatable")


def _lerobot(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("folder", help="holds meta/info.json and data/chunk-*/*.parquet")
    _import(sub)
    sub.add_argument("--state", default="observation.state", help="column of the joints (default: %(default)s)")
    sub.add_argument("--action", default="action", help="column of the commanded joints; 'next' takes the next row's joints")
    sub.add_argument("--state-quat", default="observation.state_quat", help="measured tool pose, xyz + xyzw, where it is there")
    sub.add_argument("--action-quat", default="action_quat", help="target tool pose, xyz + xyzw, where it is there")
    sub.add_argument("--joints", metavar="FIRST:END", help="which values are joints: 0:6 leaves a gripper out")


def _bag(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("bags", nargs="+", metavar="BAG", help="folder of a bag, or a .mcap or .db3 file")
    _import(sub)
    sub.add_argument("--joint-states", default="joint_states", metavar="TOPIC",
                     help="default: the one that ends with joint_states")
    sub.add_argument("--joint-command", default="joint_command", metavar="TOPIC",
                     help="JointState, Float64MultiArray or JointTrajectory (default: the one that ends with joint_command)")
    sub.add_argument("--target-pose", default="target_pose", metavar="TOPIC",
                     help="PoseStamped (default: the one that ends with target_pose)")


def _csv(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("files", nargs="+", metavar="FILE")
    _import(sub)
    sub.add_argument("--time", default="t", help="column of the time in seconds (default: t)")
    sub.add_argument("--joint", default="q{i}", help="columns of the joints: {i} number, {name} name (default: %(default)s)")
    sub.add_argument("--command", default="qc{i}", help="columns of the commands, where they are there (default: %(default)s)")
    sub.add_argument("--pose", default="x,y,z,qx,qy,qz,qw", help="columns of the target pose, where they are there")


def _import(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("out", help=".parquet file to write")
    add_config(sub, model=False)
    sub.add_argument("--degrees", action="store_true", help="joints are given in degrees")
    sub.add_argument("--max-speed", type=float, default=MAX_SPEED_RAD_S, metavar="RAD_S",
                     help="a faster joint is a jump (default: %(default)s)")
    sub.add_argument("--strict", action="store_true", help="exit 1 if anything was dropped or cut")
    sub.add_argument("--report", metavar="FILE", help="also write the whole account as JSON ('-' for standard output)")


def _retarget(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("paths", nargs="+", metavar="PATH", help="CSV files, or folders of them")
    sub.add_argument("out", help=".parquet file to write")
    add_config(sub, model=False)
    sub.add_argument("--placements", type=int, default=4, help="seeded placements of every stream (default: 4)")
    sub.add_argument("--as-is", action="store_true", help="the poses are in the base frame already: no placing, no scaling")
    sub.add_argument("--scale", default="0.5:1", metavar="LOW:HIGH",
                     help="factor of positions, drawn in this range (default: %(default)s)")
    sub.add_argument("--max-step-rad", type=float, default=0.15, help="largest step of a joint in a period (default: 0.15)")
    sub.add_argument("--most-s", type=float, default=20.0, help="longer streams are cut into equal parts (default: 20)")
    sub.add_argument("--seed", type=int, default=0)
    sub.add_argument("--workers", type=int, default=1, help="processes; the result does not depend on it")
    sub.add_argument("--strict", action="store_true", help="exit 1 if a file gave nothing")


def _info(sub: argparse.ArgumentParser) -> None:
    _files(sub)
    add_config(sub, model=False)
    sub.add_argument("--plots", metavar="DIR", help="write joints.png, steps.png and coverage.png")
    sub.add_argument("--json", metavar="FILE", nargs="?", const="-", help="figures as JSON (no FILE or '-': standard output)")
    sub.add_argument("--any-robot", action="store_true", help="read another robot's file as if it were this one's")
    sub.add_argument("--max-speed", type=float, default=MAX_SPEED_RAD_S, metavar="RAD_S", help="a faster joint is a fault")
    sub.add_argument("--strict", action="store_true", help="exit 1 if an episode has a fault")


def _split(sub: argparse.ArgumentParser) -> None:
    _files(sub)
    sub.add_argument("--out", required=True, metavar="DIR", help="folder for NAME.parquet of every part")
    sub.add_argument("--fractions", default="train=0.8,val=0.1,test=0.1", help="default: %(default)s")
    sub.add_argument("--seed", type=int, default=0)


def _files(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("files", nargs="+", metavar="FILE", help="dataset files, or folders of them")


def require_positive(args: argparse.Namespace, *names: str) -> None:
    """Raises ConfigError where one of these options is not positive and finite."""
    for name in names:
        if not (getattr(args, name) > 0 and math.isfinite(getattr(args, name))):
            raise ConfigError(f"--{name.replace('_', '-')}: must be positive, got {getattr(args, name):g}")


def seed_of(args: argparse.Namespace) -> int:
    """--seed. Raises ConfigError where it is negative."""
    if args.seed < 0:
        raise ConfigError(f"--seed: must not be negative, got {args.seed}")
    return int(args.seed)


def joint_range_of(text: str | None) -> tuple[int, int] | None:
    """--joints, FIRST:END. Raises ConfigError."""
    if text is None:
        return None
    first, colon, last = text.partition(":")
    if not (colon and first.isdigit() and last.isdigit() and int(first) < int(last)):
        raise ConfigError(f"--joints: expected FIRST:END such as 0:6, got '{text}'")
    return int(first), int(last)


def scale_of(text: str) -> tuple[float, float]:
    """--scale, LOW:HIGH. Raises ConfigError."""
    try:
        low, high = (float(v) for v in text.split(":"))
    except ValueError:
        low, high = 0.0, 0.0
    if not 0.0 < low <= high < math.inf:
        raise ConfigError(f"--scale: expected LOW:HIGH such as 0.5:1, got '{text}'")
    return low, high
