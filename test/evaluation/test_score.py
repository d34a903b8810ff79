"""The figures of the table, against values computed by hand."""

import math

import numpy as np
import pytest

from mimicik_ros.evaluation import metrics
from mimicik_ros.evaluation.columns import COLUMNS
from mimicik_ros.evaluation.score import SEQUENCE, returns, score

DT = 0.05


def test_jerk_is_the_third_difference_over_the_cube_of_the_period():
    q = np.zeros((6, 2))
    q[:, 0] = 2.0 * (DT * np.arange(6)) ** 3  # third derivative 12, also of the differences
    figures = metrics.calm(q, DT)
    assert figures["jerk_max"] == pytest.approx(12.0)
    assert figures["jerk_rms"] == pytest.approx(12.0 / math.sqrt(2.0))  # the second joint rests


def test_one_kick_gives_the_jerk_of_its_three_differences():
    q = np.zeros((7, 1))
    q[3:] = 1e-3  # steps 0 0 1 0 0 0, changes 0 1 -1 0 0, third differences 1 -2 1 0 (mrad)
    figures = metrics.calm(q, DT)
    assert figures["jerk_max"] == pytest.approx(2e-3 / DT**3)
    assert figures["jerk_rms"] == pytest.approx(1e-3 * math.sqrt(6 / 4) / DT**3)


def test_runs_are_pooled_without_a_step_from_one_to_the_next():
    still, there = np.zeros((5, 1)), np.ones((5, 1))
    figures = metrics.calm_of([still, there], DT)
    assert figures["max_velocity"] == 0.0 and figures["branch_switches"] == 0 and figures["jerk_max"] == 0.0


def test_divergence_counts_reachable_ticks_only():
    far = np.full(60, 0.2)
    reachable = np.ones(60, dtype=bool)
    assert metrics.divergences(far, DT, reachable) == 1
    reachable[15:45] = False  # 15 ticks on either side, each shorter than a second
    assert metrics.divergences(far, DT, reachable) == 0
    reachable[15:40] = True
    assert metrics.divergences(far, DT, reachable) == 1


def test_success_is_counted_by_tick_and_by_the_final_tick_of_each_episode(episode):
    figures = score([episode([0.5, 0.5, 0.5, 20.0]), episode([20.0, 3.0, 3.0, 0.5])], DT)
    assert [figures[f"success_{d}mm_percent"] for d in (1, 5, 10)] == [50.0, 75.0, 75.0]
    assert [figures[f"episode_success_{d}mm_percent"] for d in (1, 5, 10)] == [50.0, 50.0, 50.0]
    assert figures["position_mean_mm"] == pytest.approx((0.5 * 4 + 20 * 2 + 3 * 2) / 8)


def test_errors_out_of_reach_do_not_count_but_calm_does(episode):
    q = np.zeros((4, 6))
    q[2] = 0.3
    figures = score([episode([0.5, 0.5, 300.0, 0.5], q=q, reachable=[1, 1, 0, 1])], DT)
    assert figures["position_mean_mm"] == pytest.approx(0.5) and figures["success_1mm_percent"] == 100.0
    assert (figures["ticks"], figures["reachable_ticks"]) == (4, 3)
    assert figures["max_velocity_rad_s"] == pytest.approx(0.3 / DT)
    assert figures["spike_0.1rad_percent"] == pytest.approx(50.0)  # up and down, of four ticks


def test_an_episode_that_ends_out_of_reach_has_no_final_success(episode):
    figures = score([episode([0.5, 300.0], reachable=[1, 0]), episode([0.5, 0.5])], DT)
    assert figures["episode_success_1mm_percent"] == 100.0


def test_strict_needs_position_and_rotation(episode):
    figures = score([episode([0.9, 0.9, 1.1], rotation_deg=[0.1, 0.3, 0.1])], DT)
    assert figures["strict_percent"] == pytest.approx(100 / 3)


def test_the_first_command_is_judged_from_rest(episode):
    figures = score([episode([0.0, 0.0], q=np.full((2, 6), 0.2))], DT)
    assert figures["max_velocity_rad_s"] == pytest.approx(4.0)
    assert figures["spike_0.1rad_percent"] == 100.0  # into motion, and out of it


def test_what_is_not_finite_is_counted_and_never_a_success(episode):
    q = np.zeros((4, 6))
    q[1, 3] = np.nan
    bad = episode([0.0, np.inf, 0.0, 0.0], q=q, status=["ok", "ok", "non_finite", "internal_error"])
    figures = score([bad], DT)
    assert figures["not_finite"] == 2 and figures["solver_errors"] == 1
    assert figures["success_10mm_percent"] == 75.0 and figures["position_mean_mm"] == math.inf
    assert figures["max_velocity_rad_s"] == 0.0  # the last finite command stays in force


@pytest.mark.parametrize(("back_after", "late"), [(0, 0), (20, 0), (21, 1)])
def test_a_target_that_comes_back_within_reach_allows_one_second(back_after, late):
    reachable = np.ones(60, dtype=bool)
    reachable[5:10] = False
    position = np.full(60, 0.005)
    position[5 : 10 + back_after] = 0.2
    assert returns(position, reachable, DT) == (1, late)


def test_a_return_too_short_to_judge_is_none():
    reachable = np.zeros(40, dtype=bool)
    reachable[10:30] = True
    assert returns(np.full(40, 0.2), reachable, DT) == (0, 0)


def test_an_open_loop_has_no_figures_of_sequence_but_all_the_others(episode):
    figures = score([episode([0.5, 0.5])], DT, open_loop=True)
    assert all(figures[key] is None for key in SEQUENCE)
    assert figures["success_1mm_percent"] == 100.0


def test_times_are_percentiles_of_ticks_and_energy_and_cpu_are_shared_among_them(episode):
    figures = score([episode([0.0] * 4, latency_ms=2.0, cpu_s=0.004, energy_j=0.1),
                     episode([0.0] * 6, latency_ms=2.0, cpu_s=0.006, energy_j=0.3)], DT)
    assert (figures["tick_p50_ms"], figures["solver_p99_ms"]) == (2.0, 1.0)
    assert figures["cpu_ms"] == pytest.approx(1.0)
    assert figures["energy_mj"] == pytest.approx(40.0)


def test_energy_without_a_counter_is_the_words_and_not_a_number(episode):
    assert score([episode([0.0])], DT)["energy_mj"] == "not measured"


def test_every_column_has_its_figure_and_every_figure_its_column(episode):
    assert set(score([episode([0.0, 0.0])], DT)) == {c.key for c in COLUMNS}
