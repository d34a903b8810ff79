"""`mimicik train`: train a policy for the configured robot, on one process or on those that torchrun starts."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mimicik_ros.cli.outputs import check_folder, check_outputs
from mimicik_ros.cli.setup import add_config, config_of, joints_of, robot_of
from mimicik_ros.core.errors import ConfigError

if TYPE_CHECKING:
    from mimicik_ros.core.kinematics import Kinematics
    from mimicik_ros.core.types import Array
    from mimicik_ros.training.dataset.sampler import StepSampler
    from mimicik_ros.training.spec import TrainSpec
    from mimicik_ros.training.synthesis import Synthesis

OVERRIDES = (
    ("policy", str, "mip, mip-plain, mip-published-fk, mlp, unet or flow"), ("steps", int, "optimiser steps"),
    ("minutes", float, "wall time at most"), ("seed", int, "seed of everything"),
    ("batch", int, "samples a step, over all processes"), ("threads", int, "CPU threads of a process"),
    ("workers", int, "processes that make batches ahead of time"), ("width", int, "units of a layer"),
    ("blocks", int, "residual blocks"), ("learning-rate", float, "Muon's rate"), ("fk-weight", float, "weight of the FK loss"),
    ("sampler-steps", int, "evaluations of flow and unet when deployed"),
    ("bf16-share", float, "share of the run in bfloat16"),
)


@dataclass(frozen=True)
class Data:
    """What the data options name: singular start poses (h, n) rad, and files of demonstrations with what draws from them."""

    homes: Array
    files: tuple[str, ...] = ()
    sampler: StepSampler | None = None

    def synthesis(self, kinematics: Kinematics, period_s: float, spec: TrainSpec) -> Synthesis:
        from mimicik_ros.training.synthesis import Synthesis

        return Synthesis(kinematics, period_s, spec.step_rad, spec.mix, self.homes, self.sampler, spec.seed)

    def provenance(self) -> dict[str, Any]:
        """For the model card."""
        rows = self.sampler.usable_rows if self.sampler else 0
        return {"homes": self.homes.tolist(), "data": list(self.files), "data_rows": rows}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("train", help="train a policy (extra: train)")
    add_config(parser, model=False)
    parser.add_argument("--out", default="runs/policy.pt", help="checkpoint file; its log lies beside it, as .csv")
    parser.add_argument("--resume", action="store_true", help="continue from --out with its own settings")
    parser.add_argument("--init", metavar="CHECKPOINT", help="start from the weights of a finished run, with a new schedule")
    parser.add_argument("--log", metavar="DIR", help="also write TensorBoard event files there")
    add_run_options(parser)
    parser.set_defaults(run=run)


def add_run_options(parser: argparse.ArgumentParser, leave_out: tuple[str, ...] = ()) -> None:
    """The preset, its overrides, the device and the data: what `train` and `ablate` share."""
    parser.add_argument("--preset", default="default", help="default, calm (closed loop, after --init) or tiny (for tests)")
    parser.add_argument("--device", default="auto", help="cpu, cuda or auto")
    parser.add_argument("--data", nargs="+", metavar="FILE", help="files of `mimicik dataset` (demonstrations) to mix in")
    parser.add_argument("--home", action="append", default=[], metavar='"q1 ... qn"', help="a singular start pose; repeatable")
    for name, kind, text in OVERRIDES:
        if name not in leave_out:
            parser.add_argument(f"--{name}", type=kind, help=f"{text} (default: the preset's)")


def spec_from(args: argparse.Namespace, **changes: Any) -> TrainSpec:
    """The preset with what the options and the caller change. Raises ConfigError."""
    from mimicik_ros.training.policies import policy_named
    from mimicik_ros.training.spec import preset

    options = {name.replace("-", "_"): getattr(args, name.replace("-", "_"), None) for name, _, _ in OVERRIDES}
    spec = preset(args.preset, **{**options, **changes})
    policy_named(spec.policy)  # refused now, not after the data are made
    return spec


def data_from(args: argparse.Namespace, kinematics: Kinematics, period_s: float, spec: TrainSpec) -> Data:
    """The data that the options name. Raises ConfigError or DataError."""
    homes = np.array([joints_of(text, "--home", kinematics) for text in args.home]).reshape(-1, kinematics.n)
    if not args.data:
        return Data(homes)
    from mimicik_ros.training.dataset.sampler import StepSampler
    from mimicik_ros.training.synthesis import LARGEST_STEP

    sampler = StepSampler(args.data, kinematics, LARGEST_STEP * spec.step_rad, spec.seed, period_s)
    return Data(homes, tuple(args.data), sampler)


def run(args: argparse.Namespace) -> int:
    from mimicik_ros.training.checkpoint import check_robot, homes_of, policy_from_checkpoint
    from mimicik_ros.training.distributed import joined
    from mimicik_ros.training.train import train

    config = config_of(args)
    kinematics = robot_of(config)
    out = Path(args.out)
    if args.resume and args.init:
        raise ConfigError("--init: starts a new run, --resume goes on with one; give one of them")
    check_outputs({"--out": out, "the log of --out": out.with_suffix(".csv") if out.name else None})
    if args.log:
        check_folder("--log", Path(args.log))
    before = policy_from_checkpoint(kinematics, out) if args.resume else None
    spec = before.spec if before else spec_from(args)
    if before:
        check_robot(before, kinematics, config.dt_s, out)
        _check_same_settings(args, spec, before.provenance)
        if not args.home:
            args.home = [" ".join(map(str, home)) for home in homes_of(before, kinematics.n, out)]
    data = data_from(args, kinematics, config.dt_s, spec)
    check_outputs({"--out": out}, data.sampler.files if data.sampler else ())
    provenance = {"preset": args.preset, **data.provenance()}
    if before:
        _check_same_data(before.provenance, provenance)
    initial = None
    if args.init:
        start = policy_from_checkpoint(kinematics, Path(args.init))
        theirs, ours = ((x.policy, x.width, x.blocks) for x in (start.spec, spec))
        if theirs != ours:
            raise ConfigError(f"--init: {args.init} holds (policy, width, blocks) {theirs}, asked for is {ours}")
        initial = start.policy
        provenance["after"] = {"steps": start.steps, "minutes": round(start.minutes, 1), "seed": start.spec.seed}
    with joined(args.device) as place:
        if data.sampler is not None and place.rank == 0:
            source = data.sampler
            print(f"data: {source.usable_rows} of {source.rows} rows of {len(source.files)} files have a step of "
                  f"{source.max_step_rad:g} rad at most")
        synthesis = data.synthesis(kinematics, config.dt_s, spec)
        done = train(kinematics, synthesis, spec, out, provenance, args.resume, initial, place,
                     Path(args.log) if args.log else None)
        if place.rank == 0:
            on = f"{place.processes} processes on {place.device.type}" if place.processes > 1 else place.device.type
            print(f"{done.steps} steps of {spec.policy} in {done.minutes:.1f} min on {on} -> {out}; "
                  f"next: mimicik export {out} MODEL.onnx")
    return 0


def _check_same_settings(args: argparse.Namespace, spec: TrainSpec, provenance: dict[str, Any]) -> None:
    """Refuse an option that a resumed run would not heed. Raises ConfigError."""
    asked = {name: getattr(args, name.replace("-", "_"), None) for name, _, _ in OVERRIDES}
    has = {name: getattr(spec, name.replace("-", "_")) for name in asked} | {"preset": provenance.get("preset", args.preset)}
    asked["preset"] = None if args.preset == "default" else args.preset
    for name, value in asked.items():
        if value is not None and value != has[name]:
            raise ConfigError(f"--{name}: {value} is not what the run has ({has[name]}), and --resume goes on with the run's own "
                              "settings; leave it away, or start anew with --init")


def _check_same_data(before: dict[str, Any], now: dict[str, Any]) -> None:
    """A run goes on with the data that it began with, or the order of the data would break. Raises ConfigError."""
    for key, option in (("homes", "--home"), ("data_rows", "--data")):
        if before.get(key) != now[key]:
            raise ConfigError(f"--resume: the run began with other data ({key} {before.get(key)}, now {now[key]}); "
                              f"give the same {option} again")
