"""The figures behind the pictures are what their names say, against values by hand."""

import numpy as np
import pytest

from mimicik_ros.core import dls
from mimicik_ros.evaluation.conditioning import binned, condition_number, demanded_speed, representative

HOME = np.array([0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708])


def test_a_bin_needs_its_count_and_values_beyond_the_edges_fall_in_the_last():
    x = np.array([1.5] * 20 + [15.0] * 3 + [5e6] * 20)
    y = np.array([2.0] * 10 + [4.0] * 10 + [9.0] * 3 + [7.0] * 20)
    centres, means = binned(x, y, np.array([1.0, 10.0, 100.0, 1000.0]))
    np.testing.assert_allclose(centres, [10**0.5, 10**2.5])
    np.testing.assert_allclose(means, [3.0, 7.0])


def test_the_condition_number_is_that_of_the_weighted_jacobian_and_explodes_at_a_singularity(arm):
    J = arm.jacobian(HOME).copy()
    J[3:] *= dls.ROTATION_WEIGHT_M
    assert condition_number(arm, HOME) == pytest.approx(np.linalg.cond(J))
    assert condition_number(arm, np.zeros(6)) > 1e4


def test_the_demanded_speed_counts_metres_and_weighted_radians(trial):
    path = np.repeat(HOME[None], 3, axis=0)
    path[1:, 5] += 0.1  # the last joint turns the tool, which lies on its axis or beside it
    case = trial(path)
    turned = demanded_speed(case, 0.05)
    shift = np.linalg.norm(case.stream.position_m[1] - case.stream.position_m[0])
    np.testing.assert_allclose(turned, [0.0, np.hypot(shift, 0.1 * dls.ROTATION_WEIGHT_M) / 0.05, 0.0], atol=1e-6)


def test_the_representative_trial_is_the_one_of_median_speed_that_meets_its_singularity_on_the_way(trial):
    cases = [trial(HOME + np.linspace(0, s, 5)[:, None], name=str(s)) for s in (0.3, 0.1, 0.2, 0.4, 0.5)]
    middle, start = np.array([1.0, 2.0, 9.0, 2.0, 1.0]), np.array([9.0, 2.0, 1.0, 1.0, 1.0])
    assert representative(cases[:3], {c.name: middle for c in cases}).name == "0.2"
    assert representative(cases, {c.name: start if c.name in ("0.4", "0.5") else middle for c in cases}).name == "0.2"
    assert representative(cases, {c.name: start for c in cases}).name == "0.3"  # none does: all count
    assert representative([], {}) is None
