"""The losses, against values computed by hand."""

import math

import numpy as np
import pytest
import torch

from mimicik_ros.core.features import encode
from mimicik_ros.training.objective import Sample, fk_loss
from mimicik_ros.training.policies import build_policy
from mimicik_ros.training.policies.mip import MIP
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.torch_fk import TorchFK


class Constant(torch.nn.Module):
    """f(a, t, c) = value, whatever goes in."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self.n, self.value = 6, torch.nn.Parameter(torch.tensor(value))

    def first(self, observation):
        return self.forward(None, 0.0, observation)

    def forward(self, action, t, observation):
        return self.value.expand(len(observation), 6)


def sample_at(kinematics, delta_q, action=0.0):
    home = np.array([[0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708]])
    q = torch.tensor(home, dtype=torch.float32)
    R, p = TorchFK(kinematics.table)(q + torch.tensor(delta_q, dtype=torch.float32))
    observation = encode(home, kinematics.fk_batch(home), kinematics.fk_batch(home + delta_q))
    return Sample(torch.from_numpy(observation), torch.full((1, 6), action), q, R, p)


def test_the_flow_loss_divides_by_t_squared_and_by_one_minus_t_squared(kinematics):
    spec = TrainSpec(fk_weight=0.0, flow_weight=1.0)
    policy = MIP(Constant(0.5), torch.ones(6) * 1e-9, 0.9)
    losses = policy.loss(sample_at(kinematics, np.zeros((1, 6)), 0.2), TorchFK(kinematics.table), spec, torch.Generator())
    assert float(losses.total) == pytest.approx(0.09 / 0.81 + 0.09 / 0.01, rel=1e-4)


def test_the_fk_loss_is_zero_on_the_target(kinematics):
    loss, position, rotation = fk_loss(TorchFK(kinematics.table), sample_at(kinematics, np.full((1, 6), 0.01)),
                                       torch.full((1, 6), 0.01), TrainSpec())
    assert float(loss) == pytest.approx(0.0, abs=1e-4)
    assert float(position) < 1e-6 and float(rotation) < 1e-3


def test_turning_the_last_joint_by_an_angle_is_a_rotation_error_of_that_angle(kinematics):
    step = np.zeros((1, 6))
    step[0, 5] = 0.1
    loss, position, rotation = fk_loss(TorchFK(kinematics.table), sample_at(kinematics, step), torch.zeros(1, 6), TrainSpec())
    assert float(rotation) == pytest.approx(0.1, rel=1e-3)
    assert float(position) < 1e-6  # the tool lies on the axis of the last joint
    chord = 4.0 * math.sin(0.05) ** 2  # 0.5 * 8 sin^2(angle / 2)
    assert float(loss) == pytest.approx(math.log1p(chord / TrainSpec().fk_rotation_rad ** 2), rel=1e-3)


def test_the_gradient_lives_at_zero_error(kinematics):
    delta_q = torch.zeros(1, 6, requires_grad=True)
    fk_loss(TorchFK(kinematics.table), sample_at(kinematics, np.zeros((1, 6))), delta_q, TrainSpec())[0].backward()
    assert torch.isfinite(delta_q.grad).all()


def test_the_fk_loss_reaches_the_weights_through_both_deployed_steps(kinematics):
    policy = build_policy(kinematics, TrainSpec(width=16, blocks=1), np.full(6, 0.03))
    calls = []
    forward = policy.network.forward
    first = policy.network.first
    policy.network.first = lambda c: calls.append(0.0) or first(c)
    policy.network.forward = lambda a, t, c: calls.append(t) or forward(a, t, c)
    spec = TrainSpec(flow_weight=0.0)
    losses = policy.loss(sample_at(kinematics, np.full((1, 6), 0.02)), TorchFK(kinematics.table), spec, torch.Generator())
    losses.total.backward()
    assert calls == [0.0, 0.9, 0.9]  # a0, the rolled-out a1, and the noisy flow step
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in policy.network.head.parameters())
