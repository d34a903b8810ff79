"""`mimicik evaluate`: the exported model alone, on steps that it never saw; or the table of all solvers (cli/table.py)."""

from __future__ import annotations

import argparse

from mimicik_ros.cli import table
from mimicik_ros.cli.outputs import STDOUT, check_outputs, write_json
from mimicik_ros.cli.setup import add_config, config_of, robot_of
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.share import share_path

SAMPLES, STEP_RAD = 50_000, 0.06


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("evaluate", help="accuracy and latency of the model alone; --table compares all solvers")
    add_config(parser)
    parser.add_argument("--samples", type=int, help="held-out steps (default: 50000)")
    parser.add_argument("--step-rad", type=float, help="steps are uniform in +- this, per joint (default: 0.06)")
    parser.add_argument("--json", metavar="FILE", help="also write the figures as JSON ('-' for standard output)")
    table.add_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.table or args.bars:
        return table.run(args)
    table.refuse_without_table(args)
    from mimicik_ros.evaluation.contenders import load_policy
    from mimicik_ros.evaluation.heldout import heldout, latency

    samples = SAMPLES if args.samples is None else args.samples
    step_rad = STEP_RAD if args.step_rad is None else args.step_rad
    if samples < 1 or not 0.0 < step_rad <= 1.0:
        raise ConfigError("--samples must be at least 1 and --step-rad must lie in (0, 1]")
    config = config_of(args)
    kinematics = robot_of(config)
    path = share_path(config.policy.model)
    check_outputs({"--json": args.json}, [path])
    policy = load_policy(path, kinematics, config)
    figures = heldout(policy, kinematics, samples, step_rad) | latency(policy, kinematics)
    write_json(args.json, figures)
    if args.json == STDOUT:
        return 0
    print(f"{path.name} on {policy.provider}: one call from random joints, steps uniform in +-{step_rad:g} rad per joint")
    print("position error |p(FK(q + delta_q)) - p*|; rotation error: geodesic angle; strict: <= 1 mm and <= 0.2 deg")
    for name, value in figures.items():
        print(f"  {name:24s} {value:.4g}")
    return 0
