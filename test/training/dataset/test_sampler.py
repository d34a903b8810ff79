"""Training draws the same rows for the same step, from all of the data, in bounded memory."""

import pickle

import numpy as np
import pytest

from mimicik_ros.core.errors import DataError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.training.dataset import sampler as sampling
from mimicik_ros.training.dataset import writer as writing
from mimicik_ros.training.dataset.reader import Dataset
from mimicik_ros.training.dataset.sampler import StepSampler
from mimicik_ros.training.synthesis import Synthesis


@pytest.fixture
def path(monkeypatch, dataset_file):
    """Twelve row groups of 50 rows each."""
    monkeypatch.setattr(writing, "GROUP_ROWS", 50)
    return dataset_file(*[50] * 12)


def draw(sampler, step, size=64):
    return sampler.draw(step, size, np.random.default_rng([9, step]))


def test_the_same_step_gives_the_same_rows_whatever_was_drawn_before(path, kinematics):
    first, resumed = StepSampler([path], kinematics, 0.5, 3), StepSampler([path], kinematics, 0.5, 3)
    straight = [draw(first, step) for step in range(0, 500, 50)]
    for step, (q, delta_q) in reversed(list(zip(range(0, 500, 50), straight, strict=True))):
        again = draw(resumed, step)
        np.testing.assert_array_equal(again[0], q)
        np.testing.assert_array_equal(again[1], delta_q)


def test_pairs_are_rows_of_the_file(path, kinematics):
    rows = {tuple(q): c - q for e in Dataset([path]).episodes() for q, c in zip(e.q, e.q_command, strict=True)}
    q, delta_q = draw(StepSampler([path], kinematics, 0.5, 3), 7)
    assert q.shape == delta_q.shape == (64, 6)
    for a, b in zip(q, delta_q, strict=True):
        np.testing.assert_allclose(rows[tuple(a)], b, atol=1e-15)


def test_over_the_windows_all_of_the_data_is_drawn_but_never_more_than_a_few_groups_are_in_memory(path, kinematics, monkeypatch):
    monkeypatch.setattr(sampling, "WINDOW_GROUPS", 3)
    sampler = StepSampler([path], kinematics, 0.5, 3)
    seen = set()
    for step in range(0, 6000, 100):
        seen |= {tuple(q) for q in draw(sampler, step, 256)[0]}
        assert len(sampler._window[1]) == 150
    assert len(seen) > 0.95 * 600


def test_steps_beyond_the_largest_are_left_out(path, kinematics):
    largest = 0.03
    steps = np.concatenate([np.abs(e.q_command - e.q).max(axis=1) for e in Dataset([path]).episodes()])
    sampler = StepSampler([path], kinematics, largest, 0)
    assert sampler.usable_rows == (steps <= largest).sum() < sampler.rows == 600
    assert np.abs(draw(sampler, 0)[1]).max() <= largest


def test_data_of_no_use_is_refused(path, kinematics):
    with pytest.raises(DataError, match="no row of 600 has a step within 1e-06 rad"):
        StepSampler([path], kinematics, 1e-6, 0)
    with pytest.raises(DataError, match="made for robot"):
        StepSampler([path], Kinematics(kinematics.origin, "base_link", "link6", kinematics.joint_names), 0.5, 0)
    with pytest.raises(DataError, match=r"a row every 0.05 s, the control period is 0.02 s"):
        StepSampler([path], kinematics, 0.5, 0, period_s=0.02)


def test_batches_of_training_take_their_share_from_the_files(path, kinematics):
    sampler = StepSampler([path], kinematics, 0.5, 3)
    batch = Synthesis(kinematics, 0.05, 0.06, (0.5, 0, 0, 0.5), np.zeros((1, 6)), sampler, 0).batch(40)
    rows = {tuple(q) for e in Dataset([path]).episodes() for q in e.q}
    assert sum(tuple(q) in rows for q in batch.q) == 20


def test_it_goes_to_other_processes_and_draws_the_same_there(path, kinematics):
    sampler = StepSampler([path], kinematics, 0.5, 3)
    there = pickle.loads(pickle.dumps(sampler))
    np.testing.assert_array_equal(draw(there, 130)[0], draw(sampler, 130)[0])
