"""Muon and AdamW with one cosine schedule, and the averaged weights."""

from __future__ import annotations

import math

import torch

from mimicik_ros.training.policies import TrainablePolicy
from mimicik_ros.training.spec import TrainSpec

WARMUP = 0.02  # share of the run
LOWEST = 1e-3  # share of the rate at the end


def make_optimisers(policy: TrainablePolicy, spec: TrainSpec) -> list[torch.optim.Optimizer]:
    """Muon on the matrices of the blocks, AdamW on everything else (Jordan 2024: in- and outlets stay with AdamW)."""
    matrices = [p for p in policy.network.blocks.parameters() if p.ndim == 2]
    inside = {id(p) for p in matrices}
    others = [p for p in policy.parameters() if id(p) not in inside]
    return [
        torch.optim.Muon(matrices, lr=spec.learning_rate, weight_decay=spec.weight_decay, adjust_lr_fn="original"),
        torch.optim.AdamW(others, lr=spec.learning_rate / 10, betas=(0.9, 0.95), weight_decay=spec.weight_decay),
    ]


def set_rate(optimisers: list[torch.optim.Optimizer], spec: TrainSpec, progress: float) -> float:
    """Rate at a share of the run in [0, 1]: linear warm-up, then a cosine. Returns Muon's; AdamW's is a tenth."""
    shape = min(1.0, progress / WARMUP) * 0.5 * (1.0 + math.cos(math.pi * progress))
    rate = spec.learning_rate * max(shape, LOWEST)
    for optimiser, base in zip(optimisers, (rate, rate / 10), strict=True):
        for group in optimiser.param_groups:
            group["lr"] = base
    return rate


@torch.no_grad()
def blend(average: TrainablePolicy, policy: TrainablePolicy, spec: TrainSpec, step: int) -> None:
    """Exponential moving average of the weights, in place; its memory grows with the first steps."""
    decay = min(spec.ema, (1 + step) / (10 + step))
    torch._foreach_lerp_(list(average.parameters()), list(policy.parameters()), 1.0 - decay)
