"""`mip`: the package's own policy, two flow steps with the FK loss on both steps that are deployed.

`--fk-weight 0` trains it without the FK loss. `mip-plain` has a network that does not see where its action leads, as published.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.training.network import FlowNetwork, TwoStepPolicy
from mimicik_ros.training.objective import Losses, Sample, objective
from mimicik_ros.training.policies.interface import plain_network
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.torch_fk import TorchFK


class MIP(TwoStepPolicy):
    """`network.TwoStepPolicy` trained by `objective.objective`."""

    @classmethod
    def build(cls, kinematics: Kinematics, spec: TrainSpec, action_scale: Tensor) -> MIP:
        lower, upper = (torch.tensor(x, dtype=torch.float32) for x in (kinematics.lower, kinematics.upper))
        network = FlowNetwork(kinematics.table, lower, upper, action_scale, spec.width, spec.blocks)
        return cls(network, action_scale, spec.t_star)

    def loss(self, sample: Sample, fk: TorchFK, spec: TrainSpec, generator: torch.Generator) -> Losses:
        return objective(self, fk, sample, spec, generator)


class PlainMIP(MIP):
    """`mip` on a PlainNetwork."""

    @classmethod
    def build(cls, kinematics: Kinematics, spec: TrainSpec, action_scale: Tensor) -> PlainMIP:
        return cls(plain_network(kinematics, spec), action_scale, spec.t_star)
