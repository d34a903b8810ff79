"""`mip`: the package's own policy, two flow steps with the FK loss on both steps that are deployed.

`--fk-weight 0` trains it without the FK loss. `mip-plain` has a network that does not see where its action leads, as published.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.training.network import FlowNetwork, PlainNetwork
from mimicik_ros.training.objective import Losses, Sample, fk_loss, normal, weighted
from mimicik_ros.training.policies.interface import joint_limits, plain_network
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.torch_fk import TorchFK

FIRST_STEP_WEIGHT = 0.25  # of the FK loss on a0, beside that on a1, which is what moves the arm


class MIP(nn.Module):
    """a0 = f(0, 0, c); a1 = f(a0, t*, c); delta_q = action_scale * a1 (rad). Minimal Iterative Policy."""

    def __init__(self, network: FlowNetwork | PlainNetwork, action_scale: Tensor, t_star: float) -> None:
        super().__init__()
        self.network, self.t_star = network, t_star
        self.register_buffer("action_scale", action_scale)

    @classmethod
    def build(cls, kinematics: Kinematics, spec: TrainSpec, action_scale: Tensor) -> MIP:
        lower, upper = joint_limits(kinematics)
        network = FlowNetwork(kinematics.table, lower, upper, action_scale, spec.width, spec.blocks)
        return cls(network, action_scale, spec.t_star)

    def forward(self, observation: Tensor) -> Tensor:
        _, a1 = self.steps(observation)
        return a1 * self.action_scale

    def steps(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Both deployed actions (B, n), normalised."""
        a0 = self.network.first(observation)
        return a0, self.network(a0, self.t_star, observation)

    def loss(self, sample: Sample, fk: TorchFK, spec: TrainSpec, generator: torch.Generator) -> Losses:
        """Flow loss, and FK loss on a0 and on the rolled-out a1, in one step.

        The published FK loss looks at another pair of times than those deployed; here it looks at what leaves the network.
        """
        a0, rolled = self.steps(sample.observation)
        flow = self.flow_loss(a0, sample, generator)
        first, _, _ = fk_loss(fk, sample, a0 * self.action_scale, spec)
        second, _, _ = fk_loss(fk, sample, rolled * self.action_scale, spec)
        return weighted(flow, FIRST_STEP_WEIGHT * first + second, spec)

    def flow_loss(self, a0: Tensor, sample: Sample, generator: torch.Generator) -> Tensor:
        """|a0 - a|^2 / t*^2 + |f(a + (1 - t*) eps, t*, c) - a|^2 / (1 - t*)^2, for a0 = f(0, 0, c)."""
        t = self.t_star
        noisy = self.network(sample.action + (1.0 - t) * normal(sample, generator), t, sample.observation)
        return ((a0 - sample.action) ** 2).mean() / t**2 + ((noisy - sample.action) ** 2).mean() / (1.0 - t) ** 2


class PlainMIP(MIP):
    """`mip` on a PlainNetwork."""

    @classmethod
    def build(cls, kinematics: Kinematics, spec: TrainSpec, action_scale: Tensor) -> PlainMIP:
        return cls(plain_network(kinematics, spec), action_scale, spec.t_star)
