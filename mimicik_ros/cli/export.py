"""`mimicik export`: a checkpoint as one ONNX file with its model card, scored on held-out steps."""

from __future__ import annotations

import argparse
import hashlib
import math
from pathlib import Path
from typing import TYPE_CHECKING

from mimicik_ros.cli.outputs import check_outputs
from mimicik_ros.cli.setup import add_config, config_of, robot_of
from mimicik_ros.config import Config
from mimicik_ros.core.errors import ModelError

if TYPE_CHECKING:
    from mimicik_ros.core.kinematics import Kinematics

HELDOUT = 50_000


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("export", help="checkpoint -> ONNX with its model card (extra: train)")
    parser.add_argument("checkpoint", help="file written by mimicik train")
    parser.add_argument("model", help="ONNX file to write")
    add_config(parser, model=False)
    parser.add_argument("--name", help="robot name on the card (default: the URDF's file name)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    config = config_of(args)
    path = Path(args.model)
    check_outputs({"MODEL": path}, [args.checkpoint])
    figures = export_scored(Path(args.checkpoint), path, config, robot_of(config), args.name)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, sha256 {digest}")
    print(f"held out: {figures['position_mean_mm']:.3f} mm mean, {figures['within_1mm_percent']:.1f} % within 1 mm, "
          f"{figures['rotation_mean_deg']:.3f} deg mean (`mimicik evaluate` shows all)")
    return 0


def export_scored(checkpoint: Path, model: Path, config: Config, kinematics: Kinematics, name: str | None) -> dict[str, float]:
    """Export a checkpoint, put its held-out figures into the card, and return them.

    What was there under the name stays until the new file is whole. Raises ModelError.
    """
    from mimicik_ros.core.policy import Policy
    from mimicik_ros.evaluation.heldout import heldout
    from mimicik_ros.training.checkpoint import check_robot, homes_of, policy_from_checkpoint
    from mimicik_ros.training.export import export, write_metrics
    from mimicik_ros.training.synthesis import Synthesis

    trained = policy_from_checkpoint(kinematics, checkpoint)
    spec = trained.spec
    check_robot(trained, kinematics, config.dt_s, checkpoint)
    homes = homes_of(trained, kinematics.n, checkpoint)
    synthesis = Synthesis(kinematics, config.dt_s, spec.step_rad, spec.mix, homes, None, spec.seed)
    partial = model.with_name(model.name + ".partial")
    try:
        card = export(trained, kinematics, synthesis, config.dt_s, name or Path(config.robot.urdf).stem, partial)
        figures = heldout(Policy.load(partial, "cpu"), kinematics, HELDOUT, spec.step_rad)
        if not all(map(math.isfinite, figures.values())):
            raise ModelError(f"{checkpoint}: its network puts out NaN; train again, with a lower --learning-rate")
        write_metrics(partial, card, figures)
        partial.replace(model)
    finally:
        partial.unlink(missing_ok=True)
    return figures
