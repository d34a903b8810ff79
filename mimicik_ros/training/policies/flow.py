"""`flow`: few-step flow matching; the network of `mip-plain` as a velocity field, integrated with Euler steps from zero."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.training.network import PlainNetwork
from mimicik_ros.training.objective import Losses, Sample, fk_loss, normal, uniform, weighted
from mimicik_ros.training.policies.interface import plain_network
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.torch_fk import TorchFK

STEPS = 4


class FlowPolicy(nn.Module):
    """a += f(a, i / k, c) / k for i = 0 ... k - 1, from a = 0, the mean of the noise; delta_q = action_scale * a (rad)."""

    def __init__(self, network: PlainNetwork, action_scale: Tensor, steps: int) -> None:
        super().__init__()
        self.network, self.steps, self.t_star = network, steps, 1.0 - 1.0 / steps
        self.register_buffer("action_scale", action_scale)

    @classmethod
    def build(cls, kinematics: Kinematics, spec: TrainSpec, action_scale: Tensor) -> FlowPolicy:
        return cls(plain_network(kinematics, spec), action_scale, spec.sampler_steps or STEPS)

    def forward(self, observation: Tensor) -> Tensor:
        action = torch.zeros_like(observation[:, : self.network.n])
        for i in range(self.steps):
            action = action + self.network(action, i / self.steps, observation) / self.steps
        return action * self.action_scale

    def loss(self, sample: Sample, fk: TorchFK, spec: TrainSpec, generator: torch.Generator) -> Losses:
        """Conditional flow matching on straight paths (Lipman et al. 2023): |f(t a + (1 - t) eps, t, c) - (a - eps)|^2.

        The FK loss looks at the end of the path as the velocity at t foretells it, a_t + (1 - t) f.
        """
        t, noise = uniform(sample, generator), normal(sample, generator)
        on_path = t * sample.action + (1.0 - t) * noise
        velocity = self.network(on_path, t, sample.observation)
        flow = ((velocity - (sample.action - noise)) ** 2).mean()
        consistency, _, _ = fk_loss(fk, sample, (on_path + (1.0 - t) * velocity) * self.action_scale, spec)
        return weighted(flow, consistency, spec)
