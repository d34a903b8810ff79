"""`mimicik ablate`: every policy and seed with the same budget and data, exported and scored on the same held-out steps."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mimicik_ros.cli.export import export_scored
from mimicik_ros.cli.outputs import check_folder, json_text, write_text
from mimicik_ros.cli.setup import add_config, config_of, robot_of
from mimicik_ros.cli.train import add_run_options, data_from, spec_from
from mimicik_ros.core.errors import ConfigError, ModelError

if TYPE_CHECKING:
    from mimicik_ros.core.kinematics import Kinematics
    from mimicik_ros.training.spec import TrainSpec

VARIANTS: dict[str, dict[str, Any]] = {"mip-no-fk": {"policy": "mip", "fk_weight": 0.0}}  # beside the policies by name
DEFAULT_POLICIES = ("mip", "mip-no-fk", "mip-plain", "mip-published-fk", "mlp", "unet", "flow")
SHOWN = (("position_mean_mm", "mm mean"), ("position_p99_mm", "mm p99"), ("rotation_mean_deg", "deg mean"),
         ("within_1mm_percent", "% in 1 mm"), ("strict_percent", "% strict"))


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("ablate", help="train and score every policy and seed with one budget (extra: train)")
    add_config(parser, model=False)
    parser.add_argument("--out", required=True, metavar="DIR", help="for models and ablation.json; finished runs are kept")
    parser.add_argument("--policies", default=",".join(DEFAULT_POLICIES), help="names, apart by commas")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 0 ... k - 1 for each policy")
    add_run_options(parser, leave_out=("policy", "seed", "fk-weight"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from mimicik_ros.training.checkpoint import robot_and_period
    from mimicik_ros.training.distributed import joined
    from mimicik_ros.training.train import train

    config = config_of(args)
    kinematics = robot_of(config)
    folder = Path(args.out)
    check_folder("--out", folder)
    specs = _specs(args)
    shared = dataclasses.asdict(next(iter(specs.values())))
    data = data_from(args, kinematics, config.dt_s, next(iter(specs.values())))
    settings = {**{k: v for k, v in shared.items() if k not in ("policy", "seed", "fk_weight")}, **data.provenance(),
                "robot": robot_and_period(kinematics, config.dt_s)}
    report = _report(folder / "ablation.json", settings)
    open_ = [name for name in specs if not (name in report["runs"] and (folder / f"{name}.onnx").exists())]
    for name in open_:
        _check_begun(folder / f"{name}.pt", specs[name], data.provenance(), kinematics, config.dt_s)
    with joined(args.device) as place:
        if place.processes > 1:
            raise ConfigError("ablate trains in one process; start it without torchrun")
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "ablation.json", report)  # now, so that a second call with another budget is refused
        for name, spec in specs.items():
            if name not in open_:
                print(f"{name}: done before, kept", flush=True)
                continue
            checkpoint = folder / f"{name}.pt"
            resume = checkpoint.exists()
            print(f"{name}: {'going on' if resume else 'training'}", flush=True)
            done = train(kinematics, data.synthesis(kinematics, config.dt_s, spec), spec, checkpoint, data.provenance(), resume,
                         place=place)
            figures = export_scored(checkpoint, folder / f"{name}.onnx", config, kinematics, None)
            report["runs"][name] = {
                "policy": name.rsplit("_seed", 1)[0], "seed": spec.seed, "fk_weight": spec.fk_weight, "steps": done.steps,
                "minutes": round(done.minutes, 3), "parameters": sum(p.numel() for p in done.policy.parameters()),
                "model": f"{name}.onnx", "heldout": figures}
            _write(folder / "ablation.json", report)
    _show([report["runs"][name] for name in specs])
    return 0


def _specs(args: argparse.Namespace) -> dict[str, TrainSpec]:
    """Spec of every run by its name, `<policy>_seed<k>`. Raises ConfigError."""
    from mimicik_ros.training.policies import POLICIES

    if args.seeds < 1:
        raise ConfigError(f"--seeds: must be at least 1, got {args.seeds}")
    names = [name.strip() for name in args.policies.split(",") if name.strip()]
    unknown = [name for name in names if name not in (*POLICIES, *VARIANTS)]
    if unknown or not names:
        raise ConfigError(f"--policies: unknown '{', '.join(unknown)}'; any of {', '.join((*POLICIES, *VARIANTS))}")
    return {f"{name}_seed{seed}": spec_from(args, seed=seed, **VARIANTS.get(name, {"policy": name}))
            for name in dict.fromkeys(names) for seed in range(args.seeds)}


def _report(path: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """The report so far. Raises ConfigError where its runs had another budget or other data, ModelError where it is broken."""
    settings = json.loads(json.dumps(settings))
    if not path.exists():
        return {"settings": settings, "runs": {}}
    try:
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        before = report["settings"]
        before.setdefault("robot", settings["robot"])  # of an earlier version
        for run in report["runs"].values():
            figures = [run["steps"], *(run["heldout"][key] for key, _ in SHOWN)]
            if not isinstance(run["policy"], str) or not all(isinstance(v, (int, float)) for v in figures):
                raise ValueError("a run without its figures")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path}: not a report of `mimicik ablate` ({error}); give another --out") from error
    for key in sorted(set(before) | set(settings)):
        if before.get(key) != settings.get(key):
            raise ConfigError(f"--out: the runs in {path.parent} had {key} {before.get(key)}, now it is {settings.get(key)}; "
                              "give another folder, or the same settings")
    return report


def _check_begun(checkpoint: Path, spec: TrainSpec, provenance: dict[str, Any], kinematics: Kinematics, period_s: float) -> None:
    """A run begun before goes on with its own settings, so they must be these. Raises ConfigError or ModelError."""
    from mimicik_ros.training.checkpoint import check_robot, policy_from_checkpoint

    if not checkpoint.exists():
        return
    begun = policy_from_checkpoint(kinematics, checkpoint)
    check_robot(begun, kinematics, period_s, checkpoint)
    if begun.spec != spec or json.dumps(begun.provenance) != json.dumps(provenance):
        raise ConfigError(f"--out: {checkpoint} was begun with other settings or data; give another folder, or remove it")


def _write(path: Path, report: dict[str, Any]) -> None:
    write_text(path, json_text(report) + "\n")


def _show(runs: list[dict[str, Any]]) -> None:
    """One line a policy: mean over the seeds and, behind it, the standard deviation between them."""
    print(f"{'held out, mean (sd over seeds)':32s}" + "".join(f"{text:>18s}" for _, text in SHOWN) + f"{'steps':>9s}")
    for policy in dict.fromkeys(r["policy"] for r in runs):
        mine = [r for r in runs if r["policy"] == policy]
        cells = ""
        for key, _ in SHOWN:
            values = np.array([r["heldout"][key] for r in mine])
            spread = f" ({values.std(ddof=1):.2g})" if len(values) > 1 else ""
            cells += f"{f'{values.mean():.4g}{spread}':>18s}"
        print(f"{f'{policy}, {len(mine)} seed(s)':32s}{cells}{np.mean([r['steps'] for r in mine]):9.0f}")
