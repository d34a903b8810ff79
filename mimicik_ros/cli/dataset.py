"""`mimicik dataset`: make, bring in, look at and split training data (extra: data)."""

from __future__ import annotations

import argparse
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mimicik_ros.cli.dataset_options import add_parsers, joint_range_of, require_positive, scale_of, seed_of
from mimicik_ros.cli.ending import ending_cleanly
from mimicik_ros.cli.outputs import STDOUT, check_folder, check_outputs, write_json
from mimicik_ros.cli.setup import config_of, joints_of, robot_of
from mimicik_ros.core.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mimicik_ros.config import Config
    from mimicik_ros.core.kinematics import Kinematics
    from mimicik_ros.training.dataset.recording import Recording
    from mimicik_ros.training.dataset.schema import Header


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    runs = {"synth": _synth, "import-lerobot": _lerobot, "import-bag": _bag, "import-csv": _csv, "retarget": _retarget,
            "info": _info, "split": _split}
    add_parsers(subparsers.add_parser("dataset", help="training data: make, import, retarget, info, split (extra: data)"),
                {name: functools.partial(_ended, run) for name, run in runs.items()})


def _ended(run: Callable[[argparse.Namespace], int], args: argparse.Namespace) -> int:
    with ending_cleanly():
        return run(args)


def _synth(args: argparse.Namespace) -> int:
    from mimicik_ros.training.dataset.synth import Plan, mix_of, synthesise
    from mimicik_ros.training.dataset.writer import DatasetWriter

    config, kinematics = _robot(args)
    homes = np.array([joints_of(text, "--home", kinematics) for text in args.home]).reshape(-1, kinematics.n)
    require_positive(args, "episodes", "seconds", "workers", "step_rad")
    check_outputs({"OUT": args.out})
    plan = Plan(args.episodes, args.seconds, seed_of(args), mix_of(args.mix), config.dt_s, args.step_rad, homes)
    made = {"verb": "synth", "episodes": plan.episodes, "seconds": plan.seconds, "seed": plan.seed, "mix": plan.mix,
            "step_rad": plan.step_rad, "homes": homes.tolist()}
    with DatasetWriter(Path(args.out), _header(config, kinematics, made)) as writer:
        for episode in _progress(synthesise(kinematics, plan, args.workers), plan.episodes):
            writer.write(episode)
    _say_written(writer.episodes, writer.rows, Path(args.out), config.dt_s)
    return 0


def _lerobot(args: argparse.Namespace) -> int:
    from mimicik_ros.training.dataset.lerobot import Columns, recordings

    config, kinematics = _robot(args)
    check_outputs({"OUT": args.out, "--report": args.report}, Path(args.folder).glob("data/chunk-*/*.parquet"))
    columns = Columns(args.state, args.action, args.state_quat, args.action_quat, joint_range_of(args.joints))
    found = recordings(Path(args.folder), columns, kinematics.n, args.degrees)
    return _take_in(args, config, kinematics, found, "lerobot", {"from": args.folder})


def _bag(args: argparse.Namespace) -> int:
    from mimicik_ros.training.dataset.bag import Topics, recordings

    config, kinematics = _robot(args)
    files = [file for bag in map(Path, args.bags) for file in (bag.iterdir() if bag.is_dir() else [bag])]
    check_outputs({"OUT": args.out, "--report": args.report}, files)
    clocks: dict[str, str] = {}
    topics = Topics(args.joint_states, args.joint_command, args.target_pose)
    found = recordings([Path(p) for p in args.bags], topics, kinematics.joint_names, args.degrees, clocks)
    code = _take_in(args, config, kinematics, found, "bag", {"from": args.bags})
    for bag, clock in clocks.items():
        if clock:
            print(f"{bag}: aligned by {clock}")
    return code


def _csv(args: argparse.Namespace) -> int:
    from mimicik_ros.training.dataset.csv_import import Names, recordings

    config, kinematics = _robot(args)
    check_outputs({"OUT": args.out, "--report": args.report}, args.files)
    pose = tuple(args.pose.split(","))
    if len(pose) != 7:
        raise ConfigError(f"--pose: expected 7 names of columns (x,y,z,qx,qy,qz,qw), got {len(pose)}")
    names = Names(args.time, args.joint, args.command, pose)
    found = recordings([Path(p) for p in args.files], names, kinematics.joint_names, args.degrees)
    return _take_in(args, config, kinematics, found, "csv", {"from": args.files})


def _take_in(args: argparse.Namespace, config: Config, kinematics: Kinematics, found: Iterable[Recording], source: str,
             made: dict[str, Any]) -> int:
    """Write what is good of the recordings and account for the rest: 0 something kept, 1 --strict and a fault, 2 nothing."""
    from mimicik_ros.training.dataset.checks import Rules
    from mimicik_ros.training.dataset.intake import take_in

    require_positive(args, "max_speed")
    out = Path(args.out)
    rules = Rules(kinematics, config.dt_s, args.max_speed)
    made = {"verb": args.subverb, **made, "degrees": args.degrees, "max_speed_rad_s": args.max_speed}
    report = take_in(found, out, _header(config, kinematics, made), rules, source)
    print(report.text())
    write_json(args.report, report.values())
    if not report.episodes:
        raise DataError(f"nothing usable for {out}; no file was written")
    _say_written(report.episodes, report.rows, out, config.dt_s)
    return 1 if args.strict and (report.count("cut") or report.count("dropped")) else 0


def _retarget(args: argparse.Namespace) -> int:
    from mimicik_ros.training.dataset.retarget import Account, Placing, retarget
    from mimicik_ros.training.dataset.streams import files_below
    from mimicik_ros.training.dataset.writer import DatasetWriter

    config, kinematics = _robot(args)
    require_positive(args, "placements", "max_step_rad", "most_s", "workers")
    placements = 0 if args.as_is else args.placements
    placing = Placing(placements, scale_of(args.scale), config.dt_s, args.max_step_rad, args.most_s, seed_of(args))
    files = files_below([Path(p) for p in args.paths])
    check_outputs({"OUT": args.out}, files)
    out, account = Path(args.out), Account()
    made = {"verb": "retarget", "from": args.paths, "files": len(files), "placements": placing.placements, "scale": placing.scale,
            "max_step_rad": placing.max_step_rad, "most_s": placing.most_s, "seed": placing.seed}
    with DatasetWriter(out, _header(config, kinematics, made)) as writer:
        for done in _progress(retarget(kinematics, files, placing, args.workers), len(files)):
            for episode in done.episodes:
                writer.write(episode)
            account.add(done)
    print(account.text())
    if not writer.episodes:
        raise DataError(f"nothing usable for {out}; no file was written")
    _say_written(writer.episodes, writer.rows, out, config.dt_s)
    return 1 if args.strict and account.dropped else 0


def _info(args: argparse.Namespace) -> int:
    from mimicik_ros.training.dataset.checks import Rules
    from mimicik_ros.training.dataset.info import describe
    from mimicik_ros.training.dataset.info_text import page
    from mimicik_ros.training.dataset.reader import Dataset

    _, kinematics = _robot(args)
    require_positive(args, "max_speed")
    data = Dataset(args.files, kinematics, args.any_robot)
    check_outputs({"--json": args.json}, data.files)
    if args.plots:
        check_folder("--plots", Path(args.plots))
    if data.header.n != kinematics.n:
        raise DataError(f"{data.files[0]}: of {data.header.n} joints, this robot has {kinematics.n}; give its --config")
    figures, sample = describe(data, kinematics, Rules(kinematics, data.header.period_s, args.max_speed))
    if args.json != STDOUT:
        print(page(figures))
    write_json(args.json, figures)
    if args.plots:
        from mimicik_ros.training.dataset.plots import write_plots

        paths = write_plots(sample, kinematics, Path(args.plots))
        if args.json != STDOUT:
            print(f"pictures: {', '.join(map(str, paths))}")
    return 1 if args.strict and figures["faults"] else 0


def _split(args: argparse.Namespace) -> int:
    from mimicik_ros.training.dataset.reader import Dataset
    from mimicik_ros.training.dataset.split import fractions_of, split

    fractions = fractions_of(args.fractions)
    data = Dataset(args.files)
    for name, (path, episodes, rows) in split(data, Path(args.out), fractions, seed_of(args)).items():
        print(f"{name:8s}{episodes:8d} episodes {rows:10d} rows -> {path}")
    return 0


def _robot(args: argparse.Namespace) -> tuple[Config, Kinematics]:
    config = config_of(args)
    return config, robot_of(config)


def _header(config: Config, kinematics: Kinematics, made: dict[str, Any]) -> Header:
    from mimicik_ros.training.dataset.schema import Header

    return Header.of(kinematics, Path(config.robot.urdf).stem, config.dt_s, made)


def _say_written(episodes: int, rows: int, out: Path, period_s: float) -> None:
    print(f"{episodes} episodes, {rows} rows ({rows * period_s / 60:.1f} min at {1 / period_s:g} Hz), "
          f"{out.stat().st_size / 1e6:.2f} MB -> {out}")


def _progress(items: Iterable[Any], total: int) -> Iterable[Any]:
    from tqdm import tqdm

    return tqdm(items, total=total, disable=None, leave=False)
