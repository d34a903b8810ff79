"""A trained policy as one ONNX file: all its steps unrolled, any batch size, the model card in its metadata."""

from __future__ import annotations

import dataclasses
import datetime
import io
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch

from mimicik_ros import __version__
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.model_card import METADATA_KEY, ModelCard
from mimicik_ros.training.checkpoint import Trained
from mimicik_ros.training.policies import TrainablePolicy
from mimicik_ros.training.synthesis import Synthesis

OPSET = 18
GOLDEN = 8  # vectors in the card
RANGE_SAMPLE = 20_000
RANGE_PERCENTILES = (0.5, 99.5)


def export(trained: Trained, kinematics: Kinematics, synthesis: Synthesis, period_s: float, robot_name: str,
           path: Path) -> ModelCard:
    """Write the ONNX file and return the card it carries (without metrics; `write_metrics` adds them).

    Args:
        trained: the run.
        kinematics: the robot it was trained for.
        synthesis: its data, from which the training range and the golden vectors are taken.
        period_s: control period.
        robot_name: free text for the card.
        path: file to write.
    """
    policy = trained.policy.eval()
    sample = synthesis.batch(RANGE_SAMPLE).observation
    graph = _graph(policy, sample[:2])
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    golden = sample[:: RANGE_SAMPLE // GOLDEN][:GOLDEN]
    low, high = np.percentile(sample, RANGE_PERCENTILES, axis=0)
    card = ModelCard(
        robot_name=robot_name, joint_names=kinematics.joint_names,
        lower=_tuple(kinematics.lower), upper=_tuple(kinematics.upper),
        base_frame=kinematics.base_frame, tool_frame=kinematics.tool_frame, kinematic_hash=kinematics.kinematic_hash(),
        period_s=period_s, action_scale=_tuple(policy.action_scale.numpy()), t_star=policy.t_star,
        observation_low=_tuple(low), observation_high=_tuple(high),
        golden_observation=tuple(_tuple(x) for x in golden),
        golden_delta_q=tuple(_tuple(x) for x in session.run(["delta_q"], {"observation": golden})[0]),
        code_version=__version__, created=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        data={**trained.provenance, "policy": trained.spec.policy, "seed": trained.spec.seed,
              "parameters": sum(p.numel() for p in policy.parameters()), "spec": dataclasses.asdict(trained.spec),
              "steps": trained.steps, "minutes": round(trained.minutes, 1)},
    )
    _write(graph, card, path)
    return card


def write_metrics(path: Path, card: ModelCard, metrics: dict[str, float]) -> ModelCard:
    """Put measured figures into the card of an exported file and return the new card."""
    measured = dataclasses.replace(card, metrics={k: float(f"{v:.4g}") for k, v in metrics.items()})
    _write(onnx.load(path), measured, path)
    return measured


def _graph(policy: TrainablePolicy, example: np.ndarray[Any, Any]) -> onnx.ModelProto:
    buffer = io.BytesIO()
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.filterwarnings("ignore", "Constant folding")  # of the padding in the UNet; the graph is right without it
        torch.onnx.export(policy, (torch.from_numpy(example),), buffer, input_names=["observation"], output_names=["delta_q"],
                          dynamic_axes={"observation": {0: "batch"}, "delta_q": {0: "batch"}}, opset_version=OPSET, dynamo=False)
    graph = onnx.load_from_string(buffer.getvalue())
    onnx.checker.check_model(graph)
    return graph


def _write(graph: onnx.ModelProto, card: ModelCard, path: Path) -> None:
    del graph.metadata_props[:]
    entry = graph.metadata_props.add()
    entry.key, entry.value = METADATA_KEY, card.to_json()
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(graph, path)


def _tuple(values: np.ndarray[Any, Any]) -> tuple[float, ...]:
    return tuple(float(v) for v in values)
