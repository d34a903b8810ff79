"""The policies to compare, by name: same data, same budget, same loop.

All take about the same number of parameters at one width and depth. A policy is a module with
`forward(observation (B, n + 6)) -> delta_q (B, n)` in rad, which is what is deployed, and
`loss(sample, fk, spec, generator) -> Losses`; `network` holds its weights, those of `network.blocks` as matrices.
"""

from __future__ import annotations

import torch

from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.training.policies.flow import FlowPolicy
from mimicik_ros.training.policies.interface import TrainablePolicy
from mimicik_ros.training.policies.mip import MIP, PlainMIP
from mimicik_ros.training.policies.mip_published_fk import MIPPublishedFK
from mimicik_ros.training.policies.mlp import MLP
from mimicik_ros.training.policies.unet import UNetPolicy
from mimicik_ros.training.spec import TrainSpec

__all__ = ["POLICIES", "TrainablePolicy", "build_policy", "policy_named"]

POLICIES: dict[str, type[TrainablePolicy]] = {
    "mip": MIP,
    "mip-plain": PlainMIP,
    "mip-published-fk": MIPPublishedFK,
    "mlp": MLP,
    "unet": UNetPolicy,
    "flow": FlowPolicy,
}


def policy_named(name: str) -> type[TrainablePolicy]:
    """The class of a policy. Raises ConfigError for an unknown name."""
    if name not in POLICIES:
        raise ConfigError(f"--policy: unknown '{name}'; one of {', '.join(POLICIES)}")
    return POLICIES[name]


def build_policy(kinematics: Kinematics, spec: TrainSpec, action_scale: Array) -> TrainablePolicy:
    """An untrained policy for a robot; action_scale (n,) rad. Raises ConfigError for an unknown name."""
    return policy_named(spec.policy).build(kinematics, spec, torch.tensor(action_scale, dtype=torch.float32))
