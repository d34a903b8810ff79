"""The data: exact where it claims to be, inside the limits, singular where it should be, and seeded."""

import numpy as np
import pytest

from mimicik_ros.core.features import encode
from mimicik_ros.training.synthesis import TREMOR_RMS_M, Synthesis, singular_configurations


def make(kinematics, mix, teleop=None, seed=0):
    return Synthesis(kinematics, 0.05, 0.06, mix, np.zeros((1, 6)), teleop, seed)


def test_random_targets_are_the_fk_of_the_labelled_step(kinematics):
    batch = make(kinematics, (1, 0, 0, 0)).batch(64)
    for q, delta_q, T in zip(batch.q, batch.delta_q, batch.T_target, strict=True):
        np.testing.assert_allclose(kinematics.fk(q + delta_q), T, atol=1e-12)


def test_every_goal_lies_within_the_limits(synthesis, kinematics):
    batch = synthesis.batch(5000)
    goal = batch.q + batch.delta_q
    assert (goal >= kinematics.lower - 1e-12).all()
    assert (goal <= kinematics.upper + 1e-12).all()


def test_the_observation_is_that_of_the_run_time_encoder(synthesis, kinematics):
    batch = synthesis.batch(32)
    expected = np.stack([encode(q, kinematics.fk(q), T) for q, T in zip(batch.q, batch.T_target, strict=True)])
    np.testing.assert_allclose(batch.observation, expected, atol=1e-6)


def test_tremor_moves_smooth_targets_by_less_than_its_amplitude_and_not_by_nothing(kinematics):
    batch = make(kinematics, (0, 0, 1, 0)).batch(2000)
    exact = kinematics.fk_batch(batch.q + batch.delta_q)
    moved = np.linalg.norm(exact[:, :3, 3] - batch.T_target[:, :3, 3], axis=1)
    assert 1e-5 < np.median(moved) < 2 * np.sqrt(2) * TREMOR_RMS_M[1]
    np.testing.assert_array_equal(exact[:, :3, :3], batch.T_target[:, :3, :3])


def test_a_fifth_of_the_smooth_samples_rest(kinematics):
    still = (make(kinematics, (0, 0, 1, 0)).batch(4000).delta_q == 0).all(axis=1).mean()
    assert 0.17 < still < 0.23


def test_singular_seeds_are_far_more_singular_than_random_ones(kinematics):
    rng = np.random.default_rng(0)
    seeds = singular_configurations(kinematics, rng)
    random = rng.uniform(kinematics.lower, kinematics.upper, (500, 6))
    sigma = [kinematics.sigma_min(q) for q in seeds[:500]]
    assert max(sigma) < np.percentile([kinematics.sigma_min(q) for q in random], 10)


def test_all_three_singularities_of_a_spherical_wrist_arm_are_among_the_seeds(kinematics):
    seeds = singular_configurations(kinematics, np.random.default_rng(0))
    wrist = np.abs(seeds[:, 4]) < 0.1
    elbow = np.abs(seeds[:, 2] - 2.7549) < 0.1
    centre = np.stack([kinematics.fk(q)[:3, 3] - 0.2466 * kinematics.fk(q)[:3, 0] for q in seeds])
    shoulder = np.linalg.norm(centre[:, :2], axis=1) < 0.02
    assert min(wrist.sum(), elbow.sum(), shoulder.sum()) > 20


def test_without_streams_their_share_goes_to_random_motion(kinematics):
    alone, random = (make(kinematics, mix).batch(10) for mix in ((0, 0, 0, 1), (1, 0, 0, 0)))
    assert len(alone.q) == 10
    np.testing.assert_array_equal(alone.observation, random.observation)


@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_gives_the_same_batch(kinematics, seed):
    first, second = (make(kinematics, (0.5, 0.2, 0.3, 0), seed=seed).batch(50) for _ in range(2))
    np.testing.assert_array_equal(first.observation, second.observation)


def test_another_seed_gives_another_batch(kinematics):
    first, second = (make(kinematics, (1, 0, 0, 0), seed=s).batch(50) for s in (0, 1))
    assert not np.array_equal(first.q, second.q)
