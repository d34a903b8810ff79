"""`mip-published-fk`: the two-step policy with the FK loss as MimicIK publishes it, weak points included.

The paper's loss, as far as it is described: it is taken at another pair of times than the two evaluations that are
deployed; it adds the squared position error in m^2 to the rotation error in rad, so that rotation drowns position (1 mm is
1e-6, 0.1 deg is 1.7e-3); and rotation is the angle from acos of the trace, whose gradient grows without bound towards zero
error. Nothing is scaled. The two times are drawn at random for every sample, s < t; the action is noised as for the flow loss.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mimicik_ros.training.objective import Losses, Sample, normal, uniform, weighted
from mimicik_ros.training.policies.mip import PlainMIP
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.torch_fk import TorchFK

COS_LIMIT = 1.0 - 1e-6  # acos is cut here, at 1.4e-3 rad, or its gradient would be infinite


class MIPPublishedFK(PlainMIP):
    """`mip-plain` but for the FK loss."""

    def loss(self, sample: Sample, fk: TorchFK, spec: TrainSpec, generator: torch.Generator) -> Losses:
        flow = self.flow_loss(self.network(torch.zeros_like(sample.action), 0.0, sample.observation), sample, generator)
        first, second = uniform(sample, generator), uniform(sample, generator)
        consistency = torch.zeros((), device=flow.device)
        for time in (torch.minimum(first, second), torch.maximum(first, second)):
            noised = sample.action + (1.0 - time) * normal(sample, generator)
            delta_q = self.network(noised, time, sample.observation) * self.action_scale
            consistency = consistency + published_fk_loss(fk, sample, delta_q)
        return weighted(flow, consistency, spec)


def published_fk_loss(fk: TorchFK, sample: Sample, delta_q: Tensor) -> Tensor:
    """Mean of |p - p*|^2 (m^2) + acos((trace(R^T R*) - 1) / 2) (rad) for delta_q (B, n) rad."""
    R, p = fk(sample.q + delta_q)
    cos = ((R * sample.target_R).sum((-1, -2)) - 1.0) / 2.0
    angle = torch.acos(cos.clamp(-COS_LIMIT, COS_LIMIT))
    return (((p - sample.target_p) ** 2).sum(-1) + angle).mean()
