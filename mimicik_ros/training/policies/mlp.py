"""`mlp`: regression in one step; the network of `mip-plain` and the FK loss of `mip`, evaluated once, at t = 0."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.training.network import PlainNetwork
from mimicik_ros.training.objective import Losses, Sample, fk_loss, weighted
from mimicik_ros.training.policies.interface import plain_network
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.torch_fk import TorchFK


class MLP(nn.Module):
    """delta_q = action_scale * f(0, 0, c) (rad)."""

    def __init__(self, network: PlainNetwork, action_scale: Tensor) -> None:
        super().__init__()
        self.network, self.t_star = network, 0.0
        self.register_buffer("action_scale", action_scale)

    @classmethod
    def build(cls, kinematics: Kinematics, spec: TrainSpec, action_scale: Tensor) -> MLP:
        return cls(plain_network(kinematics, spec), action_scale)

    def forward(self, observation: Tensor) -> Tensor:
        return self._action(observation) * self.action_scale

    def loss(self, sample: Sample, fk: TorchFK, spec: TrainSpec, generator: torch.Generator) -> Losses:
        """Squared error of the action and FK loss, both of the one step."""
        action = self._action(sample.observation)
        consistency, _, _ = fk_loss(fk, sample, action * self.action_scale, spec)
        return weighted(((action - sample.action) ** 2).mean(), consistency, spec)

    def _action(self, observation: Tensor) -> Tensor:
        return self.network(torch.zeros_like(observation[:, : self.network.n]), 0.0, observation)
