"""`mimicik train`: train a policy for the configured robot."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from mimicik_ros.cli.setup import add_config, config_of, joints_of, robot_of
from mimicik_ros.core.errors import ConfigError, StreamError

RETARGET_SEED = 1
OVERRIDES = (
    ("steps", int, "optimiser steps"), ("minutes", float, "wall time at most"), ("seed", int, "seed of everything"),
    ("batch", int, "samples a step"), ("threads", int, "CPU threads"), ("width", int, "units of a layer"),
    ("blocks", int, "residual blocks"), ("learning-rate", float, "Muon's rate"),
)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("train", help="train a policy (extra: train)")
    add_config(parser, model=False)
    parser.add_argument("--preset", default="default", help="default, calm (closed-loop, after --init) or tiny (for tests)")
    parser.add_argument("--out", default="runs/policy.pt", help="checkpoint file")
    parser.add_argument("--resume", action="store_true", help="continue from --out with its own settings")
    parser.add_argument("--init", metavar="CHECKPOINT", help="start from the weights of a finished run, with a new schedule")
    parser.add_argument("--teleop", help="folder of end-effector CSV streams to retarget into the data")
    parser.add_argument("--home", action="append", default=[], metavar='"q1 ... qn"', help="a singular start pose; repeatable")
    for name, kind, text in OVERRIDES:
        parser.add_argument(f"--{name}", type=kind, help=f"{text} (default: the preset's)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from mimicik_ros.training.retarget import retarget
    from mimicik_ros.training.spec import preset
    from mimicik_ros.training.synthesis import Synthesis
    from mimicik_ros.training.train import policy_from_checkpoint, train

    config = config_of(args)
    overrides = {name.replace("-", "_"): getattr(args, name.replace("-", "_")) for name, _, _ in OVERRIDES}
    spec = preset(args.preset, **overrides)
    kinematics = robot_of(config)
    homes = np.array([joints_of(text, "--home", kinematics) for text in args.home]).reshape(-1, kinematics.n)
    teleop = (np.zeros((0, kinematics.n)), np.zeros((0, kinematics.n)))
    if args.teleop:
        if not Path(args.teleop).is_dir():
            raise StreamError(f"--teleop: no folder '{args.teleop}'; give a folder of CSV streams")
        teleop = retarget(kinematics, Path(args.teleop), config.dt_s, 1.7 * spec.step_rad, RETARGET_SEED)
        if not len(teleop[0]):
            raise StreamError(f"--teleop: no usable CSV stream below '{args.teleop}'")
        print(f"teleop: {len(teleop[0])} steps retargeted from {args.teleop}")
    provenance: dict[str, object] = {"preset": args.preset, "homes": homes.tolist(), "teleop_steps": len(teleop[0])}
    initial = None
    if args.init:
        before = policy_from_checkpoint(kinematics, Path(args.init))
        if (before.spec.width, before.spec.blocks) != (spec.width, spec.blocks):
            raise ConfigError(f"--init: {args.init} has width {before.spec.width} and {before.spec.blocks} blocks; "
                              f"asked for are {spec.width} and {spec.blocks}")
        initial = before.policy
        provenance["after"] = {"steps": before.steps, "minutes": round(before.minutes, 1), "seed": before.spec.seed}
    synthesis = Synthesis(kinematics, config.dt_s, spec.step_rad, spec.mix, homes, teleop, spec.seed)
    done = train(kinematics, synthesis, spec, Path(args.out), provenance, args.resume, initial)
    print(f"{done.steps} steps in {done.minutes:.1f} min -> {args.out}; next: mimicik export {args.out} MODEL.onnx")
    return 0
