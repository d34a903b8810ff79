"""`mimicik train`: train a policy for the configured robot."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from mimicik_ros.cli.setup import add_config, config_of, joints_of, robot_of
from mimicik_ros.core.errors import ConfigError

LARGEST_STEP = 1.7  # times step_rad: as large as the largest random steps
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
    parser.add_argument("--data", nargs="+", metavar="FILE", help="files of `mimicik dataset` (demonstrations) to mix in")
    parser.add_argument("--home", action="append", default=[], metavar='"q1 ... qn"', help="a singular start pose; repeatable")
    for name, kind, text in OVERRIDES:
        parser.add_argument(f"--{name}", type=kind, help=f"{text} (default: the preset's)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from mimicik_ros.training.spec import preset
    from mimicik_ros.training.synthesis import Synthesis
    from mimicik_ros.training.train import policy_from_checkpoint, train

    config = config_of(args)
    overrides = {name.replace("-", "_"): getattr(args, name.replace("-", "_")) for name, _, _ in OVERRIDES}
    spec = preset(args.preset, **overrides)
    kinematics = robot_of(config)
    homes = np.array([joints_of(text, "--home", kinematics) for text in args.home]).reshape(-1, kinematics.n)
    sampler, nothing = None, np.zeros((0, kinematics.n))
    if args.data:
        from mimicik_ros.training.dataset.sampler import StepSampler

        sampler = StepSampler(args.data, kinematics, LARGEST_STEP * spec.step_rad, spec.seed, config.dt_s)
        print(f"data: {sampler.usable_rows} of {sampler.rows} rows of {len(sampler.files)} files have a step of "
              f"{LARGEST_STEP * spec.step_rad:g} rad at most")
    provenance: dict[str, object] = {"preset": args.preset, "homes": homes.tolist(),
                                     "data": args.data or [], "data_rows": sampler.usable_rows if sampler else 0}
    initial = None
    if args.init:
        before = policy_from_checkpoint(kinematics, Path(args.init))
        if (before.spec.width, before.spec.blocks) != (spec.width, spec.blocks):
            raise ConfigError(f"--init: {args.init} has width {before.spec.width} and {before.spec.blocks} blocks; "
                              f"asked for are {spec.width} and {spec.blocks}")
        initial = before.policy
        provenance["after"] = {"steps": before.steps, "minutes": round(before.minutes, 1), "seed": before.spec.seed}
    synthesis = Synthesis(kinematics, config.dt_s, spec.step_rad, spec.mix, homes, sampler or (nothing, nothing), spec.seed)
    done = train(kinematics, synthesis, spec, Path(args.out), provenance, args.resume, initial)
    print(f"{done.steps} steps in {done.minutes:.1f} min -> {args.out}; next: mimicik export {args.out} MODEL.onnx")
    return 0
