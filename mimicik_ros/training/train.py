"""The training loop, readable top to bottom: data, two-step flow + FK loss, Muon, cosine, EMA, checkpoint, resume."""

from __future__ import annotations

import copy
import dataclasses
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from mimicik_ros.core.errors import ModelError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.training.closed_loop import ClosedLoop
from mimicik_ros.training.network import FlowNetwork, TwoStepPolicy
from mimicik_ros.training.objective import Sample, objective
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.synthesis import Batch, Synthesis
from mimicik_ros.training.torch_fk import TorchFK

SAVE_EVERY_S = 60.0
WARMUP = 0.02
SHOW_EVERY = 20


@dataclass(frozen=True)
class Trained:
    """A finished run: the averaged policy, the spec, the steps done, the minutes they took and where the data came from."""

    policy: TwoStepPolicy
    spec: TrainSpec
    steps: int
    minutes: float
    provenance: dict[str, Any]


def build_policy(kinematics: Kinematics, spec: TrainSpec, action_scale: Array) -> TwoStepPolicy:
    """An untrained policy for a robot; action_scale (n,) rad."""
    lower, upper, scale = (torch.tensor(x, dtype=torch.float32) for x in (kinematics.lower, kinematics.upper, action_scale))
    network = FlowNetwork(kinematics.table, lower, upper, scale, spec.width, spec.blocks)
    return TwoStepPolicy(network, spec.t_star)


def train(kinematics: Kinematics, synthesis: Synthesis, spec: TrainSpec, checkpoint: Path, provenance: dict[str, Any],
          resume: bool = False, initial: TwoStepPolicy | None = None) -> Trained:
    """Train a policy and keep a checkpoint that `resume` continues from.

    Args:
        kinematics: the robot.
        synthesis: source of batches.
        spec: the run.
        checkpoint: file written every minute and at the end.
        provenance: plain values kept with the weights (command, streams, homes).
        resume: continue from `checkpoint` with its own spec.
        initial: weights to start from, with a schedule of their own; of the same width and blocks.

    Raises:
        ModelError: resume without a readable checkpoint, or the loss is no longer finite.
    """
    saved = load_checkpoint(checkpoint) if resume else None
    if saved:
        spec, provenance = _spec(saved), saved["provenance"]
    torch.manual_seed(spec.seed)
    torch.set_num_threads(spec.threads)
    action_scale = np.full(kinematics.n, spec.step_rad / math.sqrt(3.0))  # standard deviation of the uniform steps
    policy = build_policy(kinematics, spec, action_scale)
    if initial is not None:
        policy.load_state_dict(initial.state_dict())
    average = copy.deepcopy(policy)
    fk = TorchFK(kinematics.table)
    optimisers = _optimisers(policy, spec)
    generator = torch.Generator().manual_seed(spec.seed + (saved["step"] if saved else 0))
    step, before_s = 0, 0.0
    if saved:
        policy.load_state_dict(saved["policy"])
        average.load_state_dict(saved["average"])
        for optimiser, state in zip(optimisers, saved["optimisers"], strict=True):
            optimiser.load_state_dict(state)
        step, before_s = saved["step"], 60.0 * saved["minutes"]
    arms = None
    if spec.closed_loop:
        arms = ClosedLoop(kinematics, synthesis.homes, synthesis.period_s, spec.arms, spec.ticks, spec.seed)
    start = last_save = time.monotonic()
    bar = tqdm(total=spec.steps, initial=step, desc="train", unit="step", dynamic_ncols=True, mininterval=1.0)
    while step < spec.steps:
        seconds = before_s + time.monotonic() - start
        progress = max(step / spec.steps, seconds / (60.0 * spec.minutes) if spec.minutes else 0.0)
        if progress >= 1.0:
            break
        _set_rate(optimisers, spec, progress)
        policy.network.low_precision = progress < spec.bf16_share
        sample = _sample(synthesis.batch(spec.batch), policy)
        losses = objective(policy, fk, sample, spec, generator)
        for optimiser in optimisers:
            optimiser.zero_grad(set_to_none=True)
        total = losses.total
        if arms is not None:
            total = total + spec.closed_loop * arms.loss(policy, spec).total
        total.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        for optimiser in optimisers:
            optimiser.step()
        _blend(average, policy, min(spec.ema, (1 + step) / (10 + step)))
        step += 1
        bar.update()
        if step % SHOW_EVERY == 0:
            loss = float(losses.total.detach())
            if not math.isfinite(loss):
                raise ModelError(f"training diverged at step {step} (loss {loss}); lower --learning-rate")
            millimetres, degrees = 1e3 * float(losses.position_m.mean()), math.degrees(float(losses.rotation_rad.mean()))
            flow = float(losses.flow.detach())
            bar.set_postfix(loss=f"{loss:.3f}", flow=f"{flow:.2f}", mm=f"{millimetres:.3f}", deg=f"{degrees:.3f}")
        if time.monotonic() - last_save > SAVE_EVERY_S:
            last_save = time.monotonic()
            done = Trained(average, spec, step, (before_s + last_save - start) / 60.0, provenance)
            _save(checkpoint, done, policy, optimisers)
    bar.close()
    done = Trained(average, spec, step, (before_s + time.monotonic() - start) / 60.0, provenance)
    _save(checkpoint, done, policy, optimisers)
    return done


def load_checkpoint(path: Path) -> dict[str, Any]:
    """The content of a checkpoint file. Raises ModelError where it cannot be read."""
    try:
        saved: dict[str, Any] = torch.load(path, weights_only=True)
    except FileNotFoundError as error:
        raise ModelError(f"no checkpoint '{path}'; run `mimicik train` first") from error
    except Exception as error:  # torch raises RuntimeError, UnpicklingError, EOFError and others for a broken file
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelError(f"{path}: not a readable checkpoint ({reason}); train again") from error
    return saved


def policy_from_checkpoint(kinematics: Kinematics, path: Path) -> Trained:
    """The averaged policy of a checkpoint. Raises ModelError where it is broken or of another robot."""
    saved = load_checkpoint(path)
    spec = _spec(saved)
    policy = build_policy(kinematics, spec, np.ones(kinematics.n))
    try:
        policy.load_state_dict(saved["average"])
    except RuntimeError as error:
        raise ModelError(f"{path}: the checkpoint does not fit this robot's {kinematics.n} joints; train again") from error
    return Trained(policy, spec, saved["step"], saved["minutes"], saved["provenance"])


def _spec(saved: dict[str, Any]) -> TrainSpec:
    return TrainSpec(**{k: tuple(v) if isinstance(v, list) else v for k, v in saved["spec"].items()})


def _optimisers(policy: TwoStepPolicy, spec: TrainSpec) -> list[torch.optim.Optimizer]:
    """Muon on the matrices of the blocks, AdamW on everything else (Jordan 2024: in- and outlets stay with AdamW)."""
    matrices = [p for p in policy.network.blocks.parameters() if p.ndim == 2]
    inside = {id(p) for p in matrices}
    others = [p for p in policy.parameters() if id(p) not in inside]
    return [
        torch.optim.Muon(matrices, lr=spec.learning_rate, weight_decay=spec.weight_decay, adjust_lr_fn="original"),
        torch.optim.AdamW(others, lr=spec.learning_rate / 10, betas=(0.9, 0.95), weight_decay=spec.weight_decay),
    ]


def _set_rate(optimisers: list[torch.optim.Optimizer], spec: TrainSpec, progress: float) -> None:
    shape = min(1.0, progress / WARMUP) * 0.5 * (1.0 + math.cos(math.pi * progress))
    for optimiser, base in zip(optimisers, (spec.learning_rate, spec.learning_rate / 10), strict=True):
        for group in optimiser.param_groups:
            group["lr"] = base * max(shape, 1e-3)


def _sample(batch: Batch, policy: TwoStepPolicy) -> Sample:
    def tensor(x: np.ndarray[Any, Any]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(x, dtype=np.float32))

    return Sample(tensor(batch.observation), tensor(batch.delta_q) / policy.action_scale, tensor(batch.q),
                  tensor(batch.T_target[:, :3, :3]), tensor(batch.T_target[:, :3, 3]))


@torch.no_grad()
def _blend(average: TwoStepPolicy, policy: TwoStepPolicy, decay: float) -> None:
    torch._foreach_lerp_(list(average.parameters()), list(policy.parameters()), 1.0 - decay)


def _save(path: Path, done: Trained, policy: TwoStepPolicy, optimisers: list[torch.optim.Optimizer]) -> None:
    """Write a checkpoint beside its place and move it there, so that a kill leaves the old one whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    torch.save({"policy": policy.state_dict(), "average": done.policy.state_dict(), "step": done.steps, "minutes": done.minutes,
                "optimisers": [o.state_dict() for o in optimisers], "spec": dataclasses.asdict(done.spec),
                "provenance": done.provenance}, partial)
    partial.replace(path)
