"""The target's own velocity comes from its stamps; a gap, a jump of the clock or no earlier sample is rest."""

import numpy as np
import pytest

from mimicik_ros.core import se3
from mimicik_ros.core.target_motion import observe
from mimicik_ros.core.types import TargetSample


def sample(stamp, receipt=0.0):
    return TargetSample(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), "base_link", stamp, receipt)


def at(x, turn=0.0, start=0.0):
    """Pose at x (m), turned about the base's z after a quarter turn about x, so that tool and base frames differ."""
    about_z = se3.rotation_exp(np.array([0.0, 0.0, start + turn]))
    return se3.pose(about_z @ se3.rotation_exp(np.array([np.pi / 2, 0.0, 0.0])), np.array([x, 0.0, 0.0]))


FIRST = observe(None, sample(10.0), at(0.1), 0.25)


def test_the_first_sample_is_at_rest():
    assert np.array_equal(FIRST.velocity, np.zeros(6))


def test_velocity_is_the_way_over_the_time_between_the_stamps_in_the_base_frame():
    got = observe(FIRST, sample(10.1), at(0.12, turn=0.05), 0.25)  # 0.02 m and 0.05 rad about z in 0.1 s
    assert np.allclose(got.velocity, [0.2, 0, 0, 0, 0, 0.5])


def test_the_same_sample_again_keeps_the_motion():
    moving = observe(FIRST, sample(10.1), at(0.12), 0.25)
    assert observe(moving, sample(10.1), at(0.12), 0.25) is moving


def test_a_target_that_stops_is_at_rest():
    moving = observe(FIRST, sample(10.1), at(0.12), 0.25)
    assert np.allclose(observe(moving, sample(10.15), at(0.12), 0.25).velocity, 0.0)


@pytest.mark.parametrize("stamp", [10.3, 9.0], ids=["gap", "clock backwards"])
def test_a_gap_or_a_clock_jump_is_rest_and_the_next_sample_counts_from_there(stamp):
    rest = observe(FIRST, sample(stamp), at(0.5), 0.25)
    assert np.array_equal(rest.velocity, np.zeros(6))
    assert np.allclose(observe(rest, sample(stamp + 0.05), at(0.51), 0.25).velocity[0], 0.2)


def test_without_a_stamp_the_receipt_counts():
    before = observe(None, sample(0.0, receipt=3.0), at(0.1), 0.25)
    assert observe(before, sample(0.0, receipt=3.05), at(0.11), 0.25).velocity[0] == pytest.approx(0.2)
