"""The figures, against values computed by hand."""

import numpy as np
import pytest

from mimicik_ros.core import se3
from mimicik_ros.evaluation import metrics


def test_errors_are_euclidean_and_geodesic():
    T = np.repeat(np.eye(4)[None], 2, axis=0)
    T[0, :3, 3] = [3e-3, 0.0, 4e-3]
    T[1, :3, :3] = se3.rotation_exp(np.array([0.0, 0.1, 0.0]))
    position, rotation = metrics.pose_errors(T, np.repeat(np.eye(4)[None], 2, axis=0))
    np.testing.assert_allclose(position, [5e-3, 0.0])
    np.testing.assert_allclose(rotation, [0.0, 0.1], atol=1e-9)


def test_success_and_strict_shares_are_counted_by_tick():
    position = np.array([0.0005, 0.0005, 0.004, 0.02])
    rotation = np.radians([0.1, 0.3, 0.0, 0.0])
    figures = metrics.accuracy(position, rotation)
    assert [figures[f"success_{d}mm_percent"] for d in (1, 5, 10)] == [50.0, 75.0, 75.0]
    assert figures["strict_percent"] == 25.0
    assert figures["position_error_mm"]["mean"] == pytest.approx(6.25)


def test_a_spike_is_a_change_of_the_step_and_not_the_step():
    steady = np.cumsum(np.full((11, 2), 0.2), axis=0)
    assert metrics.calm(steady, 0.05)["spike_percent"] == 0.0
    kicked = steady.copy()
    kicked[5:, 1] += 0.06
    figures = metrics.calm(kicked, 0.05)
    assert figures["spike_percent"] == pytest.approx(100 * 2 / 9)  # the step grows, then falls back
    assert figures["spike_0.1rad_percent"] == 0.0
    assert figures["max_velocity"] == pytest.approx(0.26 / 0.05)


def test_a_branch_switch_is_half_a_radian_in_one_tick():
    q = np.zeros((4, 6))
    q[2:, 3] = 0.6
    assert metrics.calm(q, 0.05)["branch_switches"] == 1


@pytest.mark.parametrize(("q", "count"), [
    ([[0.0], [0.01], [0.02]], 0), ([[0.0], [0.2], [0.4]], 2), ([[0.0], [0.0], [0.04]], 1), ([[1.2], [1.2], [1.2]], 3)])
def test_every_command_beyond_a_limit_is_counted_once(q, count):
    one = np.ones(1)
    assert metrics.limit_violations(np.array(q), 0.05, -one, one, one, 10 * one) == count


@pytest.mark.parametrize(("above", "count"), [([(5, 24)], 0), ([(5, 25)], 1), ([(0, 20), (30, 60)], 2), ([(0, 19), (20, 39)], 0)])
def test_divergence_is_a_full_second_above_a_hundred_millimetres(above, count):
    error = np.full(60, 0.1)  # exactly 100 mm does not count
    for first, end in above:
        error[first:end] = 0.11
    assert metrics.divergences(error, 0.05) == count


def test_the_median_and_the_99th_percentile_are_linear_between_values():
    assert metrics.p50_p99(np.arange(101.0)) == {"p50": 50.0, "p99": 99.0}
    assert metrics.p50_p99(np.array([1.0, 2.0])) == pytest.approx({"p50": 1.5, "p99": 1.99})


def test_strict_holds_at_its_bounds_and_not_beyond():
    bounds = np.array([[1e-3, 0.2], [1.0001e-3, 0.2], [1e-3, 0.2001]])
    assert metrics.strict(bounds[:, 0], np.radians(bounds[:, 1])).tolist() == [True, False, False]


def test_no_values_give_no_figures_but_no_error():
    assert np.isnan(metrics.spread(np.zeros(0))["mean"])
    assert np.isnan(metrics.p50_p99(np.zeros(0))["p99"])
    assert metrics.divergences(np.zeros(0), 0.05) == 0
