"""The order of the data: a batch follows from the seed and the step alone, in one process or in many."""

import numpy as np
import pytest
import torch

from mimicik_ros.training.distributed import Place
from mimicik_ros.training.loader import samples, step_generator
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.synthesis import Synthesis

FIELDS = ("observation", "action", "q", "target_R", "target_p")
CPU = torch.device("cpu")


def test_a_batch_is_the_same_whatever_was_drawn_before(synthesis):
    forwards = [synthesis.batch(40, step).observation for step in (0, 1, 2)]
    backwards = [synthesis.batch(40, step).observation for step in (2, 1, 0)][::-1]
    for first, second in zip(forwards, backwards, strict=True):
        np.testing.assert_array_equal(first, second)


def test_every_step_has_rows_of_its_own(synthesis):
    rows = np.concatenate([synthesis.batch(50, step).q for step in range(4)])
    assert len(np.unique(rows[:, 0])) > 0.8 * len(rows)  # the same singular start poses come again


@pytest.mark.parametrize("processes", [2, 3])
def test_the_parts_of_all_processes_are_the_batch_of_one(synthesis, processes):
    whole = synthesis.batch(60, 5)
    for rank in range(processes):
        part = synthesis.batch(60, 5, (rank, processes))
        np.testing.assert_array_equal(part.delta_q, whole.delta_q[rank::processes])
        np.testing.assert_allclose(part.T_target, whole.T_target[rank::processes], atol=1e-15)
        np.testing.assert_allclose(part.observation, whole.observation[rank::processes], atol=1e-7)


def test_demonstrations_are_drawn_by_the_step(kinematics):
    class Recorded:
        def draw(self, step, size, rng):
            return np.full((size, 6), 0.01 * step), np.full((size, 6), 0.001)

    source = Synthesis(kinematics, 0.05, 0.06, (0.0, 0.0, 0.0, 1.0), np.zeros((1, 6)), Recorded(), 0)
    np.testing.assert_allclose(source.batch(4, step=7).q, 0.07)
    np.testing.assert_allclose(source.batch(4, step=7).delta_q, 0.001)


def test_samples_begin_at_the_step_asked_for_and_their_actions_are_normalised(synthesis):
    spec = TrainSpec(batch=20, steps=5)
    got = list(samples(synthesis, spec, 3, Place(CPU), torch.full((6,), 0.03)))
    assert len(got) == 2
    expected = synthesis.batch(20, 3)
    np.testing.assert_allclose(got[0].observation, expected.observation)
    np.testing.assert_allclose(got[0].action, expected.delta_q / 0.03, rtol=1e-5, atol=1e-6)


def test_batches_made_by_workers_are_the_same_in_the_same_order(synthesis):
    specs = (TrainSpec(batch=20, steps=5, workers=n) for n in (0, 2))
    alone, helped = (list(samples(synthesis, spec, 0, Place(CPU), torch.ones(6))) for spec in specs)
    for first, second in zip(alone, helped, strict=True):
        assert all(torch.equal(getattr(first, name), getattr(second, name)) for name in FIELDS)


def test_the_noise_of_a_step_is_its_own_and_comes_again():
    def noise(seed, step):
        return torch.randn(8, generator=step_generator(seed, step))

    assert torch.equal(noise(0, 4), noise(0, 4))
    assert not torch.equal(noise(0, 4), noise(0, 5)) and not torch.equal(noise(0, 4), noise(1, 4))
