"""The training objective: two-step flow matching (MIP) and FK consistency on both steps that are deployed.

The FK loss and the random numbers are those of every policy in `policies/`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from mimicik_ros.training.network import TwoStepPolicy
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.torch_fk import TorchFK


@dataclass(frozen=True)
class Sample:
    """A batch on the device: observation (B, n + 6), action (B, n) normalised, q (B, n), target rotation and position.

    part is (rank, number of processes): the rows rank, rank + processes, ... of the batch that all processes share.
    """

    observation: Tensor
    action: Tensor
    q: Tensor
    target_R: Tensor
    target_p: Tensor
    part: tuple[int, int] = (0, 1)


@dataclass(frozen=True)
class Losses:
    """The total to minimise and its parts, before their weights."""

    total: Tensor
    flow: Tensor
    fk: Tensor


def objective(policy: TwoStepPolicy, fk: TorchFK, sample: Sample, spec: TrainSpec, generator: torch.Generator) -> Losses:
    """Flow loss on f(0, 0, c) and f(a + (1 - t*) eps, t*, c); FK loss on a0 and on the rolled-out a1, in one step.

    Flow loss: |a0 - a|^2 / t*^2 + |a1 - a|^2 / (1 - t*)^2 (Minimal Iterative Policy; see docs/training.md). The published FK
    loss looks at another pair of times than those deployed; here it looks at what leaves the network.
    """
    t = spec.t_star
    a0, rolled = policy.steps(sample.observation)
    noise = normal(sample, generator)
    noisy = policy.network(sample.action + (1.0 - t) * noise, t, sample.observation)
    flow = ((a0 - sample.action) ** 2).mean() / t**2 + ((noisy - sample.action) ** 2).mean() / (1.0 - t) ** 2
    first, _, _ = fk_loss(fk, sample, a0 * policy.action_scale, spec)
    second, _, _ = fk_loss(fk, sample, rolled * policy.action_scale, spec)
    return weighted(flow, 0.25 * first + second, spec)


def weighted(flow: Tensor, fk: Tensor, spec: TrainSpec) -> Losses:
    """Both parts and their weighted sum."""
    return Losses(spec.flow_weight * flow + spec.fk_weight * fk, flow, fk)


def normal(sample: Sample, generator: torch.Generator) -> Tensor:
    """Standard normal noise of the action's shape (B, n): this process's rows of the noise of the whole batch."""
    rank, processes = sample.part
    size, n = sample.action.shape
    return torch.randn(size * processes, n, generator=generator)[rank::processes].to(sample.action.device)


def uniform(sample: Sample, generator: torch.Generator) -> Tensor:
    """Uniform times in [0, 1), one a sample (B, 1), likewise."""
    rank, processes = sample.part
    return torch.rand(len(sample.action) * processes, 1, generator=generator)[rank::processes].to(sample.action.device)


def fk_loss(fk: TorchFK, sample: Sample, delta_q: Tensor, spec: TrainSpec) -> tuple[Tensor, Tensor, Tensor]:
    """Robust pose error log(1 + (p / s_p)^2 + (r / s_r)^2), with r from the chord |R - R*|_F (its gradient lives at 0).

    Returns:
        The mean loss, and position error (m) and rotation error (rad) of each sample, without gradient.
    """
    R, p = fk(sample.q + delta_q)
    squared_p = ((p - sample.target_p) ** 2).sum(-1)
    squared_chord = ((R - sample.target_R) ** 2).sum((-1, -2))  # = 8 sin^2(angle / 2)
    scaled = squared_p / spec.fk_position_m**2 + 0.5 * squared_chord / spec.fk_rotation_rad**2
    with torch.no_grad():
        rotation = 2.0 * torch.asin(torch.clamp(torch.sqrt(squared_chord / 8.0), max=1.0))
        position = torch.sqrt(squared_p)
    return torch.log1p(scaled).mean(), position, rotation
