"""Checkpoints: everything that a run needs to go on, in one file."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mimicik_ros.core.errors import ConfigError, ModelError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.training.policies import TrainablePolicy, build_policy
from mimicik_ros.training.spec import TrainSpec, checked

KINDS: dict[str, type | tuple[type, ...]] = {"policy": dict, "average": dict, "step": int, "minutes": (int, float),
                                             "optimisers": list, "spec": dict, "provenance": dict}


@dataclass(frozen=True)
class Trained:
    """A run so far: the averaged policy, the spec, the steps done, the minutes they took, where the data came from,
    and the robot and period that it is for (empty in files of earlier versions)."""

    policy: TrainablePolicy
    spec: TrainSpec
    steps: int
    minutes: float
    provenance: dict[str, Any]
    robot: dict[str, Any] = field(default_factory=dict)


def save_checkpoint(path: Path, done: Trained, policy: TrainablePolicy, optimisers: list[torch.optim.Optimizer]) -> None:
    """Write a checkpoint beside its place and move it there, so that a kill leaves the old one whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    torch.save({"policy": policy.state_dict(), "average": done.policy.state_dict(), "step": done.steps, "minutes": done.minutes,
                "optimisers": [o.state_dict() for o in optimisers], "spec": dataclasses.asdict(done.spec),
                "provenance": done.provenance, "robot": done.robot}, partial)
    partial.replace(path)


def load_checkpoint(path: Path) -> dict[str, Any]:
    """The content of a checkpoint file, on the CPU. Raises ModelError where it cannot be read."""
    try:
        saved: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise ModelError(f"no checkpoint '{path}'; run `mimicik train` first") from error
    except Exception as error:  # torch raises RuntimeError, UnpicklingError, EOFError and others for a broken file
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        if "weights_only" in reason:  # torch's advice is to load it all the same, which may run what it holds
            reason = "damaged, or it holds other things than weights"
        raise ModelError(f"{path}: not a readable checkpoint ({reason}); train again") from error
    if not isinstance(saved, dict) or any(not isinstance(saved.get(key), kind) for key, kind in KINDS.items()):
        raise ModelError(f"{path}: not a checkpoint of `mimicik train`; train again")
    return saved


def spec_of(saved: dict[str, Any], path: Path) -> TrainSpec:
    """The settings of a checkpoint's run. Raises ModelError for settings that this version does not have."""
    try:
        return checked(TrainSpec(**{k: tuple(v) if isinstance(v, list) else v for k, v in saved["spec"].items()}))
    except (TypeError, ConfigError) as error:
        raise ModelError(f"{path}: written by another version ({error}); train again") from error


def restore(saved: dict[str, Any], policy: TrainablePolicy, average: TrainablePolicy,
            optimisers: list[torch.optim.Optimizer]) -> None:
    """Put weights, averaged weights and the optimisers' state back, each on the device that it is on. Raises ModelError."""
    try:
        policy.load_state_dict(saved["policy"])
        average.load_state_dict(saved["average"])
        for optimiser, state in zip(optimisers, saved["optimisers"], strict=True):
            optimiser.load_state_dict(state)
    except (RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError("the checkpoint's weights or optimisers do not fit its settings; start anew, or from an older "
                         "checkpoint with --init") from error


def robot_and_period(kinematics: Kinematics, period_s: float) -> dict[str, Any]:
    """What a policy is trained for, as a checkpoint keeps it."""
    return {"kinematic_hash": kinematics.kinematic_hash(), "period_s": period_s}


def homes_of(done: Trained, n: int, path: Path) -> Array:
    """The singular start poses (h, n) rad of a run. Raises ModelError where the checkpoint holds none that can be read."""
    try:
        return np.array(done.provenance["homes"], dtype=float).reshape(-1, n)
    except (KeyError, ValueError, TypeError) as error:
        raise ModelError(f"{path}: its start poses (provenance, homes) cannot be read; train again") from error


def check_robot(done: Trained, kinematics: Kinematics, period_s: float, path: Path) -> None:
    """Raises ModelError where a checkpoint is for another robot or period than these."""
    ours = robot_and_period(kinematics, period_s)
    differing = [f"{key} {done.robot[key]}, here {value}" for key, value in ours.items()
                 if done.robot.get(key, value) != value]
    if differing:
        raise ModelError(f"{path}: trained for another robot or rate ({'; '.join(differing)}); give the --config that it was "
                         "trained with")


def policy_from_checkpoint(kinematics: Kinematics, path: Path) -> Trained:
    """The averaged policy of a checkpoint. Raises ModelError where it is broken or of another robot."""
    saved = load_checkpoint(path)
    spec = spec_of(saved, path)
    try:
        policy = build_policy(kinematics, spec, np.ones(kinematics.n))
        policy.load_state_dict(saved["average"])
    except ConfigError as error:
        raise ModelError(f"{path}: written by another version ({error}); train again") from error
    except (RuntimeError, TypeError, AttributeError) as error:
        raise ModelError(f"{path}: the checkpoint does not fit this robot's {kinematics.n} joints; train again") from error
    robot = saved.get("robot")
    return Trained(policy, spec, saved["step"], saved["minutes"], saved["provenance"], robot if isinstance(robot, dict) else {})
