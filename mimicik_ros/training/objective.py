"""What the losses of all policies are made of: a batch, the FK loss, and random numbers that follow from the step."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

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
