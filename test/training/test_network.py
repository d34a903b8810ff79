"""The network sees where its action leads, and moves only where something is left to do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mimicik_ros.core import se3
from mimicik_ros.core.features import encode
from mimicik_ros.training.policies import build_policy
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.torch_se3 import rotation_exp, rotation_log_small

HOME = np.array([[0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708]])


@pytest.fixture
def policy(kinematics):
    torch.manual_seed(4)
    return build_policy(kinematics, TrainSpec(width=32, blocks=1), np.full(6, 0.03)).eval()


def observation(kinematics, q, goal):
    return torch.from_numpy(encode(q, kinematics.fk_batch(q), kinematics.fk_batch(goal)))


def test_at_the_target_the_untrained_policy_stands_still(kinematics, policy):
    with torch.no_grad():
        assert torch.equal(policy(observation(kinematics, HOME, HOME)), torch.zeros(1, 6))


def test_an_action_that_leads_to_the_target_is_left_as_it_is_in_the_second_step(kinematics, policy):
    step = np.array([[0.02, -0.03, 0.01, 0.04, -0.02, 0.05]])
    action = torch.tensor(step / 0.03, dtype=torch.float32)
    with torch.no_grad():
        again = policy.network(action, 0.9, observation(kinematics, HOME, HOME + step))
        elsewhere = policy.network(action + 1.0, 0.9, observation(kinematics, HOME, HOME + step))
    assert torch.allclose(again, action, atol=1e-4)
    assert not torch.allclose(elsewhere, action + 1.0, atol=1e-3)


def test_the_sign_of_the_target_quaternion_never_reaches_the_network(kinematics, policy):
    T = kinematics.fk_batch(HOME + 0.03)
    quat = se3.quat_from_rotation(T[:, :3, :3])
    seen = [encode(HOME, kinematics.fk_batch(HOME), se3.pose_from_quat(T[:, :3, 3], sign * quat)) for sign in (1.0, -1.0)]
    assert np.array_equal(*seen)


@pytest.mark.parametrize(("angle", "tolerance"), [(0.0, 1e-9), (1e-4, 1e-8), (0.15, 1e-6), (0.5, 1e-5)])
def test_exponential_and_logarithm_agree_with_the_core(angle, tolerance):
    axis = np.random.default_rng(1).standard_normal((50, 3))
    w = angle * axis / np.linalg.norm(axis, axis=1, keepdims=True)
    R = rotation_exp(torch.tensor(w))
    assert np.abs(R.numpy() - se3.rotation_exp(w)).max() < tolerance
    assert np.abs(rotation_log_small(R).numpy() - w).max() < tolerance
