"""The training loop of every policy, readable top to bottom: data, losses, Muon, cosine, EMA, log, checkpoint, resume."""

from __future__ import annotations

import copy
import dataclasses
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from mimicik_ros.core.errors import ConfigError, ModelError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.training.checkpoint import Trained, load_checkpoint, restore, robot_and_period, save_checkpoint, spec_of
from mimicik_ros.training.closed_loop import ClosedLoop
from mimicik_ros.training.distributed import Place
from mimicik_ros.training.loader import samples, step_generator
from mimicik_ros.training.log import NoLog, Row, RunLog
from mimicik_ros.training.objective import Losses, Sample, fk_loss
from mimicik_ros.training.optimisers import blend, make_optimisers, set_rate
from mimicik_ros.training.policies import TrainablePolicy, build_policy
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.synthesis import Synthesis
from mimicik_ros.training.torch_fk import TorchFK

SAVE_EVERY_S = 60.0
LOG_EVERY = 20  # steps
LOG_ROWS = 256  # of a batch, on which the averaged policy is watched
CPU = Place(torch.device("cpu"))


def train(kinematics: Kinematics, synthesis: Synthesis, spec: TrainSpec, checkpoint: Path, provenance: dict[str, Any],
          resume: bool = False, initial: TrainablePolicy | None = None, place: Place = CPU, log: Path | None = None) -> Trained:
    """Train a policy and keep a checkpoint that `resume` continues from, and a CSV log of the same name.

    Args:
        kinematics: the robot.
        synthesis: source of batches.
        spec: the run.
        checkpoint: file written every minute and at the end, by the first process alone.
        provenance: plain values kept with the weights (command, streams, homes).
        resume: continue from `checkpoint` with its own spec; one that is done stays as it is. Arms in closed loop begin anew.
        initial: weights to start from, with a schedule of their own; of the same policy, width and blocks.
        place: device, and rank among several processes (see distributed.py).
        log: folder for TensorBoard event files.

    Raises:
        ConfigError: the batch does not divide by the processes, or the policy is unknown.
        ModelError: resume without a readable checkpoint, or the loss is no longer finite.
    """
    saved = load_checkpoint(checkpoint) if resume else None
    if saved:
        spec, provenance = spec_of(saved, checkpoint), saved["provenance"]
    if spec.batch % place.processes:
        raise ConfigError(f"--batch: {spec.batch} samples do not divide by {place.processes} processes; give a multiple")
    torch.manual_seed(spec.seed)
    torch.set_num_threads(spec.threads)
    action_scale = np.full(kinematics.n, spec.step_rad / math.sqrt(3.0))  # standard deviation of the uniform steps
    policy = build_policy(kinematics, spec, action_scale).to(place.device)
    if initial is not None:
        policy.load_state_dict(initial.state_dict())
    average = copy.deepcopy(policy)
    fk = TorchFK(kinematics.table).to(place.device)
    optimisers = make_optimisers(policy, spec)
    step, minutes_before = 0, 0.0
    if saved:
        restore(saved, policy, average, optimisers)
        step, minutes_before = saved["step"], saved["minutes"]
    robot = robot_and_period(kinematics, synthesis.period_s)
    arms = None
    if spec.closed_loop:
        arms = ClosedLoop(kinematics, synthesis.homes, synthesis.period_s, max(1, spec.arms // place.processes), spec.ticks,
                          spec.seed + place.rank)
    loss_of = place.parallel(_LossOf(policy, fk, spec, arms))
    batches = samples(synthesis, spec, step, place, policy.action_scale)
    first = place.rank == 0  # this process writes, the others only compute
    book = RunLog(checkpoint.with_suffix(".csv"), log, step, spec.steps, f"train {spec.policy}") if first else NoLog()
    start = last_save = time.monotonic()

    def minutes() -> float:
        return minutes_before + (time.monotonic() - start) / 60.0

    def progress() -> float:
        """Share of the run that is done, by steps or by time; the same in every process."""
        by_time = place.agreed(minutes() / spec.minutes) if spec.minutes else 0.0
        return min(1.0, max(step / spec.steps, by_time))

    with book:
        done = progress()
        while done < 1.0:
            rate = set_rate(optimisers, spec, done)
            policy.network.low_precision = done < spec.bf16_share
            sample = next(batches)
            losses: Losses = loss_of(sample, step_generator(spec.seed, step))
            for optimiser in optimisers:
                optimiser.zero_grad(set_to_none=True)
            losses.total.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            for optimiser in optimisers:
                optimiser.step()
            blend(average, policy, spec, step)
            step += 1
            done = progress()
            book.advance()
            if step % LOG_EVERY and done < 1.0:
                continue
            loss, flow, consistency = place.mean(torch.stack([losses.total, losses.flow, losses.fk]).detach()).tolist()
            if not math.isfinite(loss):  # the same in every process, and before anything is saved
                raise ModelError(f"training diverged at step {step} (loss {loss}); lower --learning-rate")
            if first:
                book.add(Row(step, minutes(), rate, loss, flow, consistency, *_deployed_errors(average, fk, sample, spec)))
            if first and time.monotonic() - last_save > SAVE_EVERY_S:
                last_save = time.monotonic()
                save_checkpoint(checkpoint, Trained(average, spec, step, minutes(), provenance, robot), policy, optimisers)
    finished = Trained(average, spec, step, minutes(), provenance, robot)
    if first:
        save_checkpoint(checkpoint, finished, policy, optimisers)
    return dataclasses.replace(finished, policy=average.cpu())


class _LossOf(nn.Module):
    """The policy's loss as a module's forward pass, which is where data-parallel training averages the gradients."""

    def __init__(self, policy: TrainablePolicy, fk: TorchFK, spec: TrainSpec, arms: ClosedLoop | None) -> None:
        super().__init__()
        self.policy, self.fk, self.spec, self.arms = policy, fk, spec, arms

    def forward(self, sample: Sample, generator: torch.Generator) -> Losses:
        losses = self.policy.loss(sample, self.fk, self.spec, generator)
        if self.arms is None:
            return losses
        followed = self.arms.loss(self.policy, self.spec)
        return dataclasses.replace(losses, total=losses.total + self.spec.closed_loop * followed)


@torch.no_grad()
def _deployed_errors(policy: TrainablePolicy, fk: TorchFK, sample: Sample, spec: TrainSpec) -> tuple[float, float]:
    """Mean position (mm) and rotation error (deg) of the deployed computation on the first rows of a sample."""
    some = Sample(sample.observation[:LOG_ROWS], sample.action[:LOG_ROWS], sample.q[:LOG_ROWS],
                  sample.target_R[:LOG_ROWS], sample.target_p[:LOG_ROWS])
    _, position, rotation = fk_loss(fk, some, policy(some.observation), spec)
    return 1e3 * float(position.mean()), math.degrees(float(rotation.mean()))
