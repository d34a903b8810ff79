"""The generated streams: seeded, reachable where they say so, and what their names promise."""

from __future__ import annotations

import numpy as np
import pytest

from mimicik_ros.config import Config
from mimicik_ros.core import se3
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.evaluation import metrics
from mimicik_ros.evaluation.cases import SUITES, make_cases
from mimicik_ros.evaluation.cases.follow import leading, longest
from mimicik_ros.evaluation.cases.ood import GAP_TICKS, TREMOR_RMS_M, gaps, sign_flips, tremor
from mimicik_ros.evaluation.cases.singular import HOMES
from mimicik_ros.evaluation.cases.teleop import held_out, segments


@pytest.fixture(scope="module")
def cases(arm):
    return make_cases(arm, SUITES, 3, "tiny")


def of(cases, suite):
    return [c for c in cases if c.suite == suite]


def write_along_x(path, t, x):
    rows = np.column_stack([t, x, 0 * t, 0 * t, 0 * t, 0 * t, 0 * t, 0 * t + 1])
    np.savetxt(path, rows, delimiter=",", header="t,x,y,z,qx,qy,qz,qw", comments="")


@pytest.mark.parametrize("suite", SUITES)
def test_every_suite_gives_its_five_cases(cases, suite):
    assert len(of(cases, suite)) == 5
    assert len({c.name for c in of(cases, suite)}) == 5


def test_the_same_seed_gives_the_same_streams_and_another_seed_others(arm, cases):
    again, other = (make_cases(arm, ("random", "articulated"), seed, "tiny") for seed in (3, 4))
    before = of(cases, "random") + of(cases, "articulated")
    for a, b, c in zip(before, again, other, strict=True):
        assert np.array_equal(a.stream.poses, b.stream.poses) and np.array_equal(a.q_init, b.q_init)
        assert not np.array_equal(a.q_init, c.q_init)


def test_the_reference_meets_every_row_called_reachable_inside_the_joint_limits(arm, cases):
    for case in cases:
        if case.name.startswith(("tremor", "noise")):
            continue  # the reference is that of the undisturbed motion
        position, rotation = metrics.pose_errors(arm.fk_batch(case.reference), case.stream.poses)
        assert position[case.reachable].max() < 3e-4, case.name
        assert rotation[case.reachable].max() < 2e-3, case.name
        assert (case.reference >= arm.lower).all() and (case.reference <= arm.upper).all()


def test_a_singular_stream_passes_a_configuration_of_rank_five(arm, cases):
    for case in of(cases, "singular"):
        assert min(arm.sigma_min(q) for q in case.reference) < 0.02, case.name


def test_both_start_poses_of_the_vendor_are_left_from_exactly_there(cases):
    starts = {c.name.split("_line")[0]: c.q_init for c in of(cases, "singular") if c.name.startswith("home")}
    assert set(starts) == set(HOMES)
    for name, q in starts.items():
        assert np.array_equal(q, HOMES[name])


def test_teleoperation_needs_no_more_than_the_limits_as_shipped(cases):
    config = Config().robot
    for case in of(cases, "teleop"):
        steps = np.diff(np.vstack([case.q_init, case.q_init, case.reference]), axis=0)
        assert np.abs(steps).max() / 0.05 <= config.velocity_limits_rad_s[0]
        assert np.abs(np.diff(steps, axis=0)).max() / 0.05**2 <= config.acceleration_limits_rad_s2[0] * 1.001


def test_a_door_handle_moves_on_a_circle_and_turns_with_it(cases):
    door = next(c for c in of(cases, "articulated") if c.name.startswith("door"))
    T = door.stream.poses
    relative = se3.inverse(T[:1]) @ T
    turn = se3.rotation_log(relative[:, :3, :3])
    furthest = int(np.argmax(np.linalg.norm(turn, axis=1)))
    axis = turn[furthest] / np.linalg.norm(turn[furthest])
    assert np.allclose(turn @ axis, np.linalg.norm(turn, axis=1) * np.sign(turn @ axis), atol=1e-9)
    chord = np.linalg.norm(relative[:, :3, 3], axis=1)
    radius = chord[furthest] / (2 * np.sin(np.linalg.norm(turn[furthest]) / 2))
    assert 0.55 <= radius <= 0.84
    assert np.allclose(chord, 2 * radius * np.sin(np.linalg.norm(turn, axis=1) / 2), atol=1e-9)


def test_tremor_has_a_quarter_millimetre_rms_and_leaves_rotations_alone(arm, cases):
    calm = of(cases, "teleop")[0]
    shaken = tremor(arm, calm, np.random.default_rng(0), 0.05)
    shift = np.linalg.norm(shaken.stream.position_m - calm.stream.position_m, axis=1)
    assert np.sqrt(np.mean(shift**2)) == pytest.approx(TREMOR_RMS_M, rel=0.15)
    assert np.array_equal(shaken.stream.quat_xyzw, calm.stream.quat_xyzw)


def test_sign_flips_change_signs_and_no_rotation(arm, cases):
    calm = of(cases, "teleop")[0]
    flipped = sign_flips(arm, calm, np.random.default_rng(0), 0.05)
    assert (flipped.stream.quat_xyzw[:, 3] * calm.stream.quat_xyzw[:, 3] < 0).any()
    assert np.allclose(flipped.stream.poses, calm.stream.poses)


def test_gaps_leave_rows_out_and_the_rest_as_it_was_to_the_end(arm, cases):
    calm = of(cases, "teleop")[0]
    torn = gaps(arm, calm, np.random.default_rng(0), 0.05)
    rows = np.searchsorted(calm.stream.t_s, torn.stream.t_s)
    missing = np.diff(rows) - 1
    assert (missing > 0).sum() >= 2 and missing.max() < GAP_TICKS[1]
    assert rows[0] == 0 and rows[-1] == len(calm.stream.t_s) - 1
    assert np.array_equal(torn.stream.poses, calm.stream.poses[rows])
    assert np.array_equal(torn.reference, calm.reference[rows]) and len(torn.reachable) == len(rows)


def test_out_of_distribution_streams_end_with_a_second_within_reach(cases):
    for case in of(cases, "ood"):
        assert case.reachable[-20:].all()
    assert any(not c.reachable.all() for c in of(cases, "ood"))


def test_a_recording_is_cut_at_its_gap_and_resampled(tmp_path):
    t = np.concatenate([np.arange(0, 4, 1 / 30), np.arange(9, 12, 1 / 30)])
    path = tmp_path / "g1_060_left.csv"
    write_along_x(path, t, 0.04 * t)
    first, second = segments(path, 0.05, 1.0)
    assert len(first.t_s) == 80 and len(second.t_s) == 60
    assert np.allclose(np.diff(first.position_m[:, 0]), 0.04 * 0.05)
    assert held_out(path) and not held_out(tmp_path / "g1_012_left.csv")


def test_recorded_motion_is_used_where_it_is_there(arm, tmp_path):
    (tmp_path / "vr_teleop").mkdir()
    t = np.arange(0, 6, 1 / 30)
    for number in (10, 60):
        write_along_x(tmp_path / "vr_teleop" / f"g1_{number:03d}_left.csv", t, 0.03 * np.sin(t))
    names = [c.name for c in make_cases(arm, ("teleop",), 0, "tiny", tmp_path)]
    assert names and all(n.startswith("g1_060") for n in names)


def test_rows_count_up_to_the_first_that_is_not_met():
    assert leading(np.array([True, True, False, True])) == 2
    assert leading(np.array([False])) == 0 and leading(np.array([True, True])) == 2


def test_the_longest_run_is_found():
    assert longest(np.array([True, False, True, True, False])) == slice(2, 4)
    assert longest(np.array([False, False])) == slice(0, 0)


@pytest.mark.parametrize(("suites", "size"), [(("nothing",), "tiny"), (("random",), "huge")])
def test_an_unknown_suite_or_size_is_refused_with_the_choices(arm, suites, size):
    with pytest.raises(ConfigError, match="one of"):
        make_cases(arm, suites, 0, size)
