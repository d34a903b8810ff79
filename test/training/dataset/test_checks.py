"""Each fault is found, named with its rows, and costs no more than it must."""

import dataclasses

import numpy as np
import pytest
from lagging_arm import motion

from mimicik_ros.training.dataset.checks import judge
from mimicik_ros.training.dataset.recording import Recording


def recording(rows=200, **changes):
    t, q, command = motion(rows)
    return dataclasses.replace(Recording("r", t, q, command), **changes)


def changed(name, index, value, rows=200):
    r = recording(rows)
    values = getattr(r, name).copy()
    values[index] = value
    return dataclasses.replace(r, **{name: values})


def kinds(faults):
    return [f.kind for f in faults]


def test_a_clean_episode_is_kept_whole(rules):
    pieces, faults = judge(recording(), rules)
    assert not faults
    assert [len(p.t_s) for p in pieces] == [200]
    np.testing.assert_array_equal(pieces[0].q, recording().q)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["q", "q_command"])
def test_a_row_that_is_not_finite_is_left_out_and_named(rules, name, value):
    pieces, faults = judge(changed(name, (70, 3), value), rules)
    assert kinds(faults) == ["non-finite"] and "1 of 200 rows, first in row 70" in faults[0].text
    assert [len(p.t_s) for p in pieces] == [199]
    assert 70 * 0.05 not in pieces[0].t_s


def test_duplicate_and_backward_stamps_are_left_out(rules):
    r = changed("t_s", 50, 49 * 0.05)
    r.t_s[120] = 100 * 0.05
    pieces, faults = judge(r, rules)
    assert kinds(faults) == ["stamps"] and "2 of 200 rows, first in row 50" in faults[0].text
    assert [len(p.t_s) for p in pieces] == [198]
    assert (np.diff(pieces[0].t_s) > 0).all()


def test_degrees_are_reported_and_the_episode_is_dropped(rules):
    r = recording()
    pieces, faults = judge(dataclasses.replace(r, q=np.rad2deg(r.q), q_command=np.rad2deg(r.q_command)), rules)
    assert not pieces
    assert kinds(faults) == ["degrees", "degrees"] and "--degrees" in faults[0].text


def test_degrees_in_the_command_alone_are_found(rules):
    r = recording()
    pieces, faults = judge(dataclasses.replace(r, q_command=np.rad2deg(r.q_command)), rules)
    assert not pieces and kinds(faults) == ["degrees"] and faults[0].text.startswith("command")


def test_a_row_far_outside_the_limits_is_no_unit_but_a_fault_of_its_own(rules):
    pieces, faults = judge(changed("q", (70, 1), 40.0), rules)
    assert kinds(faults) == ["limits"] and "joint2" in faults[0].text and "joint1" not in faults[0].text
    assert [len(p.t_s) for p in pieces] == [199]


def test_a_joint_measured_slightly_outside_its_limit_is_kept(rules, kinematics):
    lenient = dataclasses.replace(rules, max_speed_rad_s=9.0)  # the command stays where it was
    pieces, faults = judge(changed("q", (slice(None), 1), kinematics.upper[1] + 0.01), lenient)
    assert not [f for f in faults if f.kind == "limits"]
    assert pieces


def test_a_jump_of_the_joints_cuts_the_episode_in_two(rules):
    r = recording()
    q, command = r.q.copy(), r.q_command.copy()
    q[100:, 0] += 1.0
    command[100:, 0] += 1.0
    pieces, faults = judge(dataclasses.replace(r, q=q, q_command=command), rules)
    assert [len(p.t_s) for p in pieces] == [100, 100]
    assert kinds(faults) == ["step"] and "1 jumps" in faults[0].text


def test_a_command_far_from_the_joints_is_left_out(rules):
    pieces, faults = judge(changed("q_command", (70, 0), 1.9), rules)
    assert kinds(faults) == ["step"] and "first in row 70" in faults[0].text
    assert sum(len(p.t_s) for p in pieces) == 199


def test_a_gap_cuts_and_a_piece_shorter_than_half_a_second_is_not_kept(rules):
    r = recording(100)
    t = r.t_s.copy()
    t[5:] += 1.0  # rows 0-4 span 0.2 s
    t[50:] += 1.0
    pieces, faults = judge(dataclasses.replace(r, t_s=t), rules)
    assert [len(p.t_s) for p in pieces] == [45, 50]
    assert kinds(faults) == ["gap"] and "2 gaps, the longest 1.05 s" in faults[0].text


@pytest.mark.parametrize("quat", [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.2], [3.0, 0.0, 0.0, 1.0]])
def test_a_quaternion_that_is_none_is_left_out(rules, quat):
    values = np.tile([0.0, 0.0, 0.0, 1.0], (200, 1))
    values[9] = quat
    pieces, faults = judge(recording(position_m=np.zeros((200, 3)), quat_xyzw=values), rules)
    assert kinds(faults) == ["quaternion"] and [len(p.t_s) for p in pieces] == [199]


def test_sign_flips_of_quaternions_are_taken_out(rules):
    values = np.tile([0.0, 0.0, 0.0, 1.0], (200, 1))
    values[50:60] *= -1.0
    pieces, faults = judge(recording(position_m=np.zeros((200, 3)), quat_xyzw=values), rules)
    assert not faults
    np.testing.assert_array_equal(pieces[0].quat_xyzw, np.tile([0.0, 0.0, 0.0, 1.0], (200, 1)))


def test_an_empty_and_a_short_episode_say_so(rules):
    assert kinds(judge(Recording.unusable("r", "truncated", "ends early"), rules)[1]) == ["truncated"]
    pieces, faults = judge(recording(5), rules)
    assert not pieces and kinds(faults) == ["short"]


@pytest.mark.parametrize("unit", [1e3, 1e6, 1e9])
def test_stamps_in_another_unit_drop_the_episode_and_are_named(rules, unit):
    r = recording()
    pieces, faults = judge(dataclasses.replace(r, t_s=unit * (1.7e9 + r.t_s)), rules)
    assert not pieces and kinds(faults) == ["stamps"] and "Give seconds" in faults[0].text


def test_a_stamp_that_no_clock_gives_costs_its_row_only(rules):
    pieces, faults = judge(changed("t_s", 199, 1e300), rules)
    assert [len(p.t_s) for p in pieces] == [199]
    assert kinds(faults) == ["stamps"] and "1 of 200 rows, first in row 199" in faults[0].text
