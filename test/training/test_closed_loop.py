"""Courses begin where their arms are, and the closed-loop loss sees what a tick of the node would do."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from mimicik_ros.config import Config
from mimicik_ros.core import se3
from mimicik_ros.core.features import encode
from mimicik_ros.core.governor import Governor
from mimicik_ros.training import closed_loop
from mimicik_ros.training.closed_loop import ClosedLoop
from mimicik_ros.training.courses import Course, draw
from mimicik_ros.training.policies import build_policy
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.synthesis import singular_configurations
from mimicik_ros.training.torch_fk import TorchFK

HOMES = np.array([[0, 0, 0, 0, 0, 0], [0, 0, 0, np.pi / 2, 0, -np.pi / 2]])


@pytest.fixture(scope="module")
def singular(kinematics):
    return singular_configurations(kinematics, np.random.default_rng(0))


@pytest.fixture
def policy(kinematics):
    torch.manual_seed(0)
    return build_policy(kinematics, TrainSpec(width=16, blocks=1), np.full(6, 0.03))


def test_a_course_begins_and_ends_at_the_pose_of_its_start(kinematics, singular):
    rng = np.random.default_rng(1)
    course = draw(kinematics, rng, 64, singular, HOMES, 0.05)
    course = Course(course.q, course.T, course.v, course.w, course.ticks, 0 * course.tremor_m)
    T = kinematics.fk_batch(course.q)
    for tick in (np.zeros(64), course.ticks, 1.2 * course.ticks):
        R, p = course.targets(tick, rng)
        assert np.allclose(R, T[:, :3, :3], atol=1e-9) and np.allclose(p, T[:, :3, 3], atol=1e-9)
    _, furthest = course.targets(0.5 * course.ticks, rng)
    assert np.allclose(furthest - T[:, :3, 3], course.v)


def test_two_fifths_of_the_courses_leave_a_home_and_some_lead_beyond_reach(kinematics, singular):
    course = draw(kinematics, np.random.default_rng(2), 1000, singular, HOMES, 0.05)
    at_home = (np.abs(course.q[:, None] - HOMES).max(axis=2) < 1e-12).any(axis=1)
    assert 0.35 < at_home.mean() < 0.45
    reach = np.linalg.norm(course.T[:, :3, 3] + course.v - [0, 0, 0.1127], axis=1)
    assert 0.03 < (reach > 0.27009 + 0.29015 + 0.2466).mean() < 0.3


def test_a_course_through_a_singularity_meets_it_on_the_way(kinematics, singular):
    course = draw(kinematics, np.random.default_rng(3), 200, singular[:1], HOMES[:0], 0.05)
    rng, T = np.random.default_rng(0), kinematics.fk(singular[0])
    a = np.linspace(0, 0.5, 400)
    gap = np.min([np.linalg.norm(course.targets(x * course.ticks, rng)[1] - T[:3, 3], axis=1) for x in a], axis=0)
    assert (gap < 0.01).mean() > 0.3


def test_the_governed_target_is_that_of_the_core(kinematics):
    rng = np.random.default_rng(4)
    q = rng.uniform(kinematics.lower, kinematics.upper, (50, 6))
    goal = kinematics.fk_batch(q + rng.uniform(-0.2, 0.2, q.shape))
    R, p = (torch.tensor(x, dtype=torch.float32) for x in (goal[:, :3, :3], goal[:, :3, 3]))
    seen, _, _ = closed_loop._governed(TorchFK(kinematics.table), torch.tensor(q, dtype=torch.float32), R, p)
    governor = Governor.from_config(Config())
    for i in range(50):
        T = kinematics.fk(q[i])
        expected = encode(q[i], T, governor.govern(T, goal[i], 1.0))
        assert np.abs(seen[i].numpy() - expected).max() < 1e-4


def test_a_policy_that_stands_still_pays_for_the_error_that_the_core_sees(kinematics, policy, monkeypatch):
    arms = ClosedLoop(kinematics, HOMES, 0.05, arms=32, ticks=1, seed=0)
    for weight in ("FLIP_WEIGHT", "IDLE_WEIGHT", "FAST_WEIGHT", "SUDDEN_WEIGHT"):
        monkeypatch.setattr(closed_loop, weight, 0.0)
    policy.network.head.weight.data.zero_()
    q = np.clip(arms._q.double().numpy(), arms._low.double().numpy(), arms._high.double().numpy())  # it stands inside the margin
    R, p = arms._course.targets(np.ones(32), copy.deepcopy(arms._rng))
    T_before, governor, spec = kinematics.fk_batch(arms._q.double().numpy()), Governor.from_config(Config()), TrainSpec()
    errors = []
    for i in range(32):
        goal = governor.govern(T_before[i], se3.pose(R[i], p[i]), 1.0)
        offset, chord = kinematics.fk(q[i])[:3, 3] - goal[:3, 3], kinematics.fk(q[i])[:3, :3] - goal[:3, :3]
        scaled = (offset**2).sum() / spec.fk_position_m**2 + 0.5 * (chord**2).sum() / spec.fk_rotation_rad**2
        errors.append(np.log1p(scaled))
    assert float(arms.loss(policy, spec).detach()) == pytest.approx(np.mean(errors), rel=0.02)  # single precision beside 0.1 mm
    assert np.mean(errors) > 0.1
    np.testing.assert_array_equal(arms._q.numpy()[arms._tick > 0], q.astype(np.float32)[arms._tick > 0])


@pytest.mark.parametrize(("steps", "expected"), [([0.16], 0.0), ([0.18], 1.0), ([-0.20], 4.0), ([0.18, 0.18], 2.0)])
def test_the_hinge_counts_the_squared_excess(steps, expected):
    assert float(closed_loop._hinge(torch.tensor([steps]), 0.16)) == pytest.approx(expected, abs=1e-4)


def test_the_gradient_goes_back_through_the_ticks(kinematics, policy):
    arms = ClosedLoop(kinematics, HOMES, 0.05, arms=16, ticks=3, seed=1)
    arms.loss(policy, TrainSpec()).backward()
    gradients = [p.grad for p in policy.parameters()]
    assert all(g is not None and torch.isfinite(g).all() for g in gradients)


def test_the_determinant_changes_its_sign_where_the_wrist_flips(kinematics):
    q = torch.tensor([[0.0, -1.0, 1.2, 1.5708, s, -1.5708] for s in (-0.5, 0.0, 0.5)])
    left, middle, right = closed_loop._determinant(TorchFK(kinematics.table), q).tolist()
    assert left * right < 0 and abs(middle) < 1e-7
