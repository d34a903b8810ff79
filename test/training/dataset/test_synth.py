"""Synthetic episodes: exact, inside the limits, as seeded, the same for any number of workers."""

import dataclasses

import numpy as np
import pytest

from mimicik_ros.core.errors import ConfigError
from mimicik_ros.training.dataset.pool import ordered
from mimicik_ros.training.dataset.synth import Maker, Plan, make_episode, mix_of, synthesise
from mimicik_ros.training.dataset.writer import DatasetWriter
from mimicik_ros.training.synthesis import LARGEST_STEP, TREMOR_RMS_M

PLAN = Plan(6, 4.0, 5, mix_of("random=1,singular=1,smooth=1"), 0.05, 0.06, np.zeros((1, 6)))


@pytest.fixture(scope="module")
def made(kinematics):
    """Twelve episodes of every kind of motion."""
    return {kind: list(synthesise(kinematics, dataclasses.replace(PLAN, episodes=12, mix=mix_of(f"{kind}=1")), 1))
            for kind in ("random", "singular", "smooth")}


@pytest.mark.parametrize("kind", ["random", "singular", "smooth"])
def test_every_motion_is_whole_inside_the_limits_and_within_the_largest_step(made, kinematics, kind):
    for episode in made[kind]:
        assert len(episode) == 80
        np.testing.assert_allclose(episode.t_s, 0.05 * np.arange(80), atol=1e-12)
        np.testing.assert_array_equal(episode.q[1:], episode.q_command[:-1])
        assert np.abs(episode.q_command - episode.q).max() <= LARGEST_STEP * 0.06 + 1e-12
        for q in (episode.q, episode.q_command):
            assert (q >= kinematics.lower).all() and (q <= kinematics.upper).all()
        assert np.abs(np.diff(episode.q, axis=0)).max() > 1e-4


@pytest.mark.parametrize(("kind", "most_m"), [("random", 1e-12), ("singular", 1e-12), ("smooth", 2 * TREMOR_RMS_M[1])])
def test_targets_are_fk_of_the_commands_and_only_smooth_motion_trembles(made, kinematics, kind, most_m):
    for episode in made[kind]:
        T = kinematics.fk_batch(episode.q_command)
        assert np.linalg.norm(T[:, :3, 3] - episode.position_m, axis=1).max() <= most_m
        assert (np.linalg.norm(T[:, :3, 3] - episode.position_m, axis=1).max() > 1e-5) == (kind == "smooth")


def test_singular_motion_starts_at_singularities_and_random_motion_does_not(made, kinematics):
    starts = {kind: np.median([kinematics.sigma_min(e.q[0]) for e in episodes]) for kind, episodes in made.items()}
    assert starts["singular"] < 0.005 and starts["random"] > 0.02


def test_an_episode_follows_from_the_seed_and_its_number_alone(kinematics):
    few = list(synthesise(kinematics, dataclasses.replace(PLAN, episodes=2), 1))
    more = list(synthesise(kinematics, PLAN, 1))
    other = list(synthesise(kinematics, dataclasses.replace(PLAN, episodes=2, seed=6), 1))
    np.testing.assert_array_equal(few[1].q, more[1].q)
    assert not np.array_equal(few[1].q, other[1].q)


def test_one_and_two_workers_write_the_same_bytes(kinematics, header, tmp_path):
    for workers in (1, 2):
        with DatasetWriter(tmp_path / f"{workers}.parquet", header) as writer:
            for episode in synthesise(kinematics, PLAN, workers):
                writer.write(episode)
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()


def test_work_is_handed_out_only_as_far_ahead_as_results_are_taken():
    asked = []

    def tasks():
        for i in range(1000):
            asked.append(i)
            yield i

    results = ordered((int, (7,)), pow, tasks(), 2)
    assert next(results) == 1
    assert len(asked) <= 20
    results.close()


@pytest.mark.parametrize("text", ["random", "random=x", "fast=1", "random=-1", "random=0", "random=nan"])
def test_a_mix_that_cannot_be_is_refused(text):
    with pytest.raises(ConfigError, match="--mix"):
        mix_of(text)


def test_a_mix_is_made_to_add_up_to_one():
    assert mix_of("smooth=3, random=1") == (0.25, 0.0, 0.75)


def test_the_vendors_start_pose_is_among_the_singular_starts(kinematics):
    maker = Maker(kinematics.origin, "base_link", "end_link", kinematics.joint_names,
                  dataclasses.replace(PLAN, mix=mix_of("singular=1")), np.zeros((3, 6)))
    near = [np.abs(make_episode(maker, i).q[0]).max() for i in range(20)]
    assert min(near) == 0.0 and max(near) < 0.5
