"""The differentiable FK is the same function as Pinocchio's."""

import numpy as np
import torch

from mimicik_ros.training.torch_fk import TorchFK


def test_it_equals_pinocchio_to_single_precision(kinematics):
    q = np.random.default_rng(0).uniform(kinematics.lower, kinematics.upper, (200, 6))
    R, p = TorchFK(kinematics.table)(torch.tensor(q, dtype=torch.float32))
    expected = np.stack([kinematics.fk(x) for x in q])
    np.testing.assert_allclose(p.numpy(), expected[:, :3, 3], atol=3e-6)
    np.testing.assert_allclose(R.numpy(), expected[:, :3, :3], atol=3e-6)


def test_its_gradient_is_the_linear_jacobian(kinematics):
    q = np.array([0.3, -1.0, 1.2, 0.4, -0.9, 0.2])
    fk = TorchFK(kinematics.table)
    J = torch.autograd.functional.jacobian(lambda x: fk(x)[1][0], torch.tensor(q[None], dtype=torch.float32))[:, 0]
    T = kinematics.fk(q)
    expected = T[:3, :3] @ kinematics.jacobian(q)[:3]
    np.testing.assert_allclose(J.numpy(), expected, atol=1e-5)


def test_the_geometric_jacobian_is_pinocchios_turned_into_the_base_frame(kinematics):
    q = np.random.default_rng(2).uniform(kinematics.lower, kinematics.upper, (20, 6))
    J = TorchFK(kinematics.table).jacobian(torch.tensor(q, dtype=torch.float32)).numpy()
    for x, found in zip(q, J, strict=True):
        R = kinematics.fk(x)[:3, :3]
        body = kinematics.jacobian(x)
        np.testing.assert_allclose(found, np.concatenate([R @ body[:3], R @ body[3:]]), atol=3e-6)


def test_a_sliding_joint_moves_along_its_axis():
    from mimicik_ros.core.kinematics import JointTable

    table = JointTable(np.eye(4)[None], np.array([[0.0, 0.0, 1.0]]), np.array([True]), np.eye(4))
    R, p = TorchFK(table)(torch.tensor([[0.25]]))
    np.testing.assert_allclose(p.numpy(), [[0.0, 0.0, 0.25]])
    np.testing.assert_allclose(R.numpy(), np.eye(3)[None])
