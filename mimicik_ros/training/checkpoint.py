"""Checkpoints: everything that a run needs to go on, in one file."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mimicik_ros.core.errors import ModelError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.training.policies import TrainablePolicy, build_policy
from mimicik_ros.training.spec import TrainSpec

KEYS = frozenset({"policy", "average", "step", "minutes", "optimisers", "spec", "provenance"})


@dataclass(frozen=True)
class Trained:
    """A run so far: the averaged policy, the spec, the steps done, the minutes they took and where the data came from."""

    policy: TrainablePolicy
    spec: TrainSpec
    steps: int
    minutes: float
    provenance: dict[str, Any]


def save_checkpoint(path: Path, done: Trained, policy: TrainablePolicy, optimisers: list[torch.optim.Optimizer]) -> None:
    """Write a checkpoint beside its place and move it there, so that a kill leaves the old one whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    torch.save({"policy": policy.state_dict(), "average": done.policy.state_dict(), "step": done.steps, "minutes": done.minutes,
                "optimisers": [o.state_dict() for o in optimisers], "spec": dataclasses.asdict(done.spec),
                "provenance": done.provenance}, partial)
    partial.replace(path)


def load_checkpoint(path: Path) -> dict[str, Any]:
    """The content of a checkpoint file, on the CPU. Raises ModelError where it cannot be read."""
    try:
        saved: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise ModelError(f"no checkpoint '{path}'; run `mimicik train` first") from error
    except Exception as error:  # torch raises RuntimeError, UnpicklingError, EOFError and others for a broken file
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelError(f"{path}: not a readable checkpoint ({reason}); train again") from error
    if not isinstance(saved, dict) or not set(saved) >= KEYS:
        raise ModelError(f"{path}: not a checkpoint of `mimicik train`; train again")
    return saved


def spec_of(saved: dict[str, Any], path: Path) -> TrainSpec:
    """The settings of a checkpoint's run. Raises ModelError for settings that this version does not have."""
    try:
        return TrainSpec(**{k: tuple(v) if isinstance(v, list) else v for k, v in saved["spec"].items()})
    except TypeError as error:
        raise ModelError(f"{path}: written by another version ({error}); train again") from error


def restore(saved: dict[str, Any], policy: TrainablePolicy, average: TrainablePolicy,
            optimisers: list[torch.optim.Optimizer]) -> None:
    """Put weights, averaged weights and the optimisers' state back, each on the device that it is on."""
    policy.load_state_dict(saved["policy"])
    average.load_state_dict(saved["average"])
    for optimiser, state in zip(optimisers, saved["optimisers"], strict=True):
        optimiser.load_state_dict(state)


def policy_from_checkpoint(kinematics: Kinematics, path: Path) -> Trained:
    """The averaged policy of a checkpoint. Raises ModelError where it is broken or of another robot."""
    saved = load_checkpoint(path)
    spec = spec_of(saved, path)
    policy = build_policy(kinematics, spec, np.ones(kinematics.n))
    try:
        policy.load_state_dict(saved["average"])
    except RuntimeError as error:
        raise ModelError(f"{path}: the checkpoint does not fit this robot's {kinematics.n} joints; train again") from error
    return Trained(policy, spec, saved["step"], saved["minutes"], saved["provenance"])
