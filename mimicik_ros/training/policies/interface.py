"""What the training loop asks of a policy."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.training.network import PlainNetwork
from mimicik_ros.training.objective import Losses, Sample
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.torch_fk import TorchFK


class TrainablePolicy(Protocol):
    """A torch module whose `forward` is the deployed computation, exportable with torch.onnx.

    Attributes:
        network: the weights; matrices in `network.blocks` are trained with Muon, all else with AdamW, and
            `network.low_precision` lets the blocks compute in bfloat16.
        action_scale: (n,) rad per unit of the normalised action.
        t_star: time of the last evaluation of the network.
    """

    network: nn.Module
    action_scale: Tensor
    t_star: float

    @classmethod
    def build(cls, kinematics: Kinematics, spec: TrainSpec, action_scale: Tensor) -> TrainablePolicy:
        """An untrained policy for a robot."""
        ...

    def forward(self, observation: Tensor) -> Tensor:
        """Joint steps (B, n) rad for observations (B, n + 6), without randomness."""
        ...

    def loss(self, sample: Sample, fk: TorchFK, spec: TrainSpec, generator: torch.Generator) -> Losses:
        """Losses of a batch; every random number comes from `objective.normal` and `objective.uniform`."""
        ...


def plain_network(kinematics: Kinematics, spec: TrainSpec) -> PlainNetwork:
    """The residual MLP that all policies but `mip` and the UNet share."""
    return PlainNetwork(*joint_limits(kinematics), spec.width, spec.blocks)


def joint_limits(kinematics: Kinematics) -> tuple[Tensor, Tensor]:
    """Lowest and highest joints (n,) rad, in single precision."""
    return torch.tensor(kinematics.lower, dtype=torch.float32), torch.tensor(kinematics.upper, dtype=torch.float32)
