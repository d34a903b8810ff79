"""Rows come onto the period, and what a recording leaves out is made from the rest."""

import numpy as np
from lagging_arm import motion

from mimicik_ros.core import se3
from mimicik_ros.training.dataset.fill import complete
from mimicik_ros.training.dataset.recording import Recording
from mimicik_ros.training.dataset.resample import onto_period


def test_rows_at_30_hz_come_onto_20_hz_between_their_neighbours():
    t, q, command = motion(301, step_s=1 / 30)
    moved = onto_period(Recording("r", t, q, command), 0.05)
    np.testing.assert_allclose(moved.t_s, 0.05 * np.arange(201), atol=1e-12)
    np.testing.assert_allclose(moved.q[::2], q[::3], atol=1e-9)  # every tenth of a second has a row of its own
    np.testing.assert_allclose(moved.q[1], 0.5 * (q[1] + q[2]), atol=1e-12)  # 0.05 s lies midway


def test_rows_at_the_period_stay_to_the_bit():
    t, q, command = motion(50)
    assert onto_period(Recording("r", t, q, command), 0.05).q is q


def test_targets_are_fk_of_the_commands(kinematics):
    t, q, command = motion(50)
    episode, faults = complete(Recording("r", t, q, command), kinematics, "csv")
    assert not faults
    for i in (0, 30):
        T = se3.pose_from_quat(episode.position_m[i], episode.quat_xyzw[i])
        np.testing.assert_allclose(T, kinematics.fk(command[i]), atol=1e-9)


def test_without_commands_and_targets_the_next_row_is_the_command(kinematics):
    t, q, _ = motion(50)
    episode, _ = complete(Recording("r", t, q), kinematics, "csv")
    np.testing.assert_array_equal(episode.q_command, q[1:])
    np.testing.assert_array_equal(episode.q, q[:-1])


def test_without_commands_the_joints_that_reach_the_target_are_found(kinematics):
    t, q, command = motion(50)
    T = kinematics.fk_batch(command)
    episode, faults = complete(Recording("r", t, q, None, T[:, :3, 3], se3.quat_from_rotation(T[:, :3, :3])), kinematics, "bag")
    assert not faults
    np.testing.assert_allclose(episode.q_command, command, atol=1e-4)


def test_an_episode_ends_where_its_target_goes_beyond_reach(kinematics):
    t, q, command = motion(50)
    T = kinematics.fk_batch(command)
    T[30:, 0, 3] += 2.0
    episode, faults = complete(Recording("r", t, q, None, T[:, :3, 3], se3.quat_from_rotation(T[:, :3, :3])), kinematics, "bag")
    assert len(episode) == 30
    assert [f.kind for f in faults] == ["reach"] and "from row 30 of 50" in faults[0].text
