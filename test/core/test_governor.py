"""The governed target lies on the straight way to the target, no further than one tick allows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimicik_ros import config
from mimicik_ros.core import se3
from mimicik_ros.core.governor import Governor, stoppable
from mimicik_ros.core.kinematics import Kinematics, residual
from mimicik_ros.core.limits import JointLimits
from mimicik_ros.share import share_path

CONFIG = config.from_flat({"servo.max_linear_speed_m_s": 0.4, "servo.max_angular_speed_rad_s": 2.0,
                           "robot.acceleration_limits_rad_s2": [1e4] * 6})
SIMPLE = Governor(0.02, 0.1)  # 0.4 m/s and 2 rad/s at 20 Hz
numbers = st.floats(-0.5, 0.5)
poses = st.tuples(*[numbers] * 6).map(lambda v: se3.pose(se3.rotation_exp(np.array(v[3:])), np.array(v[:3])))


def target(x=0.0, turn=0.0):
    return se3.pose(se3.rotation_exp(np.array([0.0, 0.0, turn])), np.array([x, 0.0, 0.0]))


def test_steps_of_one_tick_are_speed_times_period():
    governor = Governor.from_config(CONFIG)
    assert governor.linear_step_m == pytest.approx(0.02)
    assert governor.angular_step_rad == pytest.approx(0.1)


def test_a_near_target_is_its_own_governed_target():
    assert np.array_equal(SIMPLE.govern(np.eye(4), target(0.01, 0.05), 1.0), target(0.01, 0.05))


def test_a_far_target_is_approached_by_one_step():
    assert np.allclose(SIMPLE.govern(np.eye(4), target(1.0), 1.0), target(0.02))


def test_one_fraction_governs_both_position_and_rotation():
    # 0.04 m would take 2 ticks, 0.4 rad takes 4: a quarter of both.
    assert np.allclose(SIMPLE.govern(np.eye(4), target(0.04, 0.4), 1.0), target(0.01, 0.1))


def test_the_ramp_scales_the_step():
    assert np.allclose(SIMPLE.govern(np.eye(4), target(1.0), 0.1), target(0.002))


def test_the_room_to_stop_bounds_the_fraction():
    assert np.allclose(SIMPLE.govern(np.eye(4), target(0.01), 1.0, most=0.25), target(0.0025))


HOME = np.array([0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708])
ROBOT = config.Config().robot
ARM = Kinematics(share_path(ROBOT.urdf), ROBOT.base_frame, ROBOT.tool_frame, ROBOT.joint_names)
LIMITS = JointLimits.from_config(config.Config(), ARM)  # 10 rad/s^2 at 20 Hz: 0.025 rad a tick


TURNING = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # 0.05 rad a tick
# A target carried by joint 1, which turns about the base's z: w x p, then w.
TARGET_TURNING = np.array([*np.cross([0.0, 0.0, 1.0], ARM.fk(HOME)[:3, 3]), 0.0, 0.0, 1.0])


def ahead(step):
    return ARM.fk(HOME + np.array([step, 0.0, 0.0, 0.0, 0.0, 0.0]))


def test_a_joint_at_rest_may_go_two_thirds_of_a_way_of_three_reductions():
    # 0.075 rad = 3 reductions = 2 + 1: the first of the two shrinking steps is 2/3 of the way.
    assert stoppable(ARM, HOME, np.zeros(6), ahead(0.075), np.zeros(6), LIMITS) == pytest.approx(2 / 3, rel=0.15)


def test_a_way_of_less_than_one_reduction_is_taken_at_once():
    assert stoppable(ARM, HOME, np.zeros(6), ahead(0.02), np.zeros(6), LIMITS) == 1.0


def test_a_joint_that_follows_a_moving_target_is_not_held_back():
    assert stoppable(ARM, HOME, TURNING, ahead(0.05), TARGET_TURNING, LIMITS) == pytest.approx(1.0, abs=0.01)


def test_a_joint_that_nears_a_target_at_rest_keeps_room_to_stop_however_fast_it_is():
    # 0.05 rad = 2 reductions: 1.25 + 0.75 or less. Its own speed of 2 reductions would pass the target.
    assert stoppable(ARM, HOME, TURNING, ahead(0.05), np.zeros(6), LIMITS) == pytest.approx(0.75, rel=0.1)


def test_a_target_that_comes_nearer_is_not_counted_as_moving_away():
    assert stoppable(ARM, HOME, TURNING, ahead(0.05), -TARGET_TURNING, LIMITS) == pytest.approx(0.75, rel=0.1)


def test_without_acceleration_limits_nothing_is_held_back():
    free = replace(LIMITS, acceleration=np.full(6, np.inf))
    assert stoppable(ARM, HOME, np.zeros(6), ahead(0.5), np.zeros(6), free) == 1.0


@given(poses, poses, st.floats(0.05, 1.0))
def test_it_is_never_further_than_allowed_and_always_nearer_the_target(T_tool, T_target, scale):
    T = SIMPLE.govern(T_tool, T_target, scale)
    moved, before, after = residual(T, T_tool), residual(T_tool, T_target), residual(T, T_target)
    assert moved.position_m <= scale * 0.02 + 1e-9
    assert moved.rotation_rad <= scale * 0.1 + 1e-7
    assert after.position_m <= before.position_m + 1e-9
    assert after.rotation_rad <= before.rotation_rad + 1e-7
    assert np.allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-9)
