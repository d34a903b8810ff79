"""ros2_control's trajectory controller: each refusal, and the interpolation by hand."""

import math

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from mimicik_ros.ros.conversions import stamp
from mimicik_ros.ros.driver_model import DriverModel
from mimicik_ros.ros.trajectory_rules import TrajectoryRules

NAMES = ["a", "b"]
NOW = 100.0


def point(q, after_s=0.1, velocity=(), **fields):
    nanoseconds = round(after_s * 1e9)
    return JointTrajectoryPoint(positions=list(q), velocities=list(velocity), time_from_start=Duration(
        sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9), **fields)


def trajectory(*points, names=NAMES, start_s=0.0):
    message = JointTrajectory(joint_names=list(names), points=list(points))
    message.header.stamp = stamp(start_s)
    return message


def made(lag_s=0.0, home=(0.0, 0.0), **options):
    model = DriverModel(np.array(home), lag_s)
    return model, TrajectoryRules(model, NAMES, **options)


@pytest.mark.parametrize(("message", "reason"), [
    (trajectory(point([1.0]), names=["a"]), "joints a are not exactly the controller's: a, b"),
    (trajectory(point([1.0, 1.0]), names=["a", "c"]), "joints a, c are not exactly the controller's: a, b"),
    (trajectory(point([1.0, 1.0, 1.0]), names=["a", "b", "c"]), "joints a, b, c are not exactly the controller's: a, b"),
    (trajectory(), "no points"),
    (trajectory(point([1.0, 1.0], velocity=[0.0, 1e-3])),
     "velocity of the last point is not zero (allow_nonzero_velocity_at_trajectory_end is false)"),
    (trajectory(point([1.0, 1.0]), start_s=NOW - 0.2), "it ends in the past"),
    (trajectory(point([1.0, 1.0], 0.1), point([2.0, 2.0], 0.1)), "time_from_start does not increase strictly"),
    (trajectory(point([1.0])), "2 joints but 1 positions and 0 velocities"),
    (trajectory(point([1.0, 1.0], velocity=[0.0])), "2 joints but 2 positions and 1 velocities"),
    (trajectory(point([1.0, 1.0], effort=[1.0, 1.0])), "effort without an effort interface"),
    (trajectory(point([1.0, math.nan])), "a value is not finite"),
])
def test_each_fault_is_refused_by_its_reason_and_nothing_moves(message, reason):
    model, rules = made()
    assert rules.take(message, NOW) == reason
    rules.advance(NOW)
    assert model.step(1.0) == pytest.approx([0.0, 0.0])


@pytest.mark.parametrize("message", [
    trajectory(point([1.0, 1.0])), trajectory(point([1.0, 1.0], velocity=[0.0, 0.0])),
    trajectory(point([1.0, 1.0]), start_s=NOW - 0.05), trajectory(point([1.0, 1.0]), names=["b", "a"])])
def test_what_is_sound_is_taken(message):
    assert made()[1].take(message, NOW) is None


def test_a_velocity_at_the_end_is_taken_where_the_controller_allows_it():
    assert made(end_velocity=True)[1].take(trajectory(point([1.0, 1.0], velocity=[0.5, 0.5])), NOW) is None


def test_joints_go_by_name():
    model, rules = made()
    rules.take(trajectory(point([1.0, 2.0]), names=["b", "a"]), NOW)
    rules.advance(NOW)
    rules.advance(NOW + 0.2)
    assert model.step(0.001) == pytest.approx([2.0, 1.0])


def test_without_velocities_it_goes_straight_and_holds_the_last_point():
    model, rules = made()
    rules.take(trajectory(point([1.0, -1.0], 0.1)), NOW)
    rules.advance(NOW)
    for after, q in ((0.025, 0.25), (0.05, 0.5), (0.1, 1.0), (5.0, 1.0)):
        rules.advance(NOW + after)
        assert model.step(0.001) == pytest.approx([q, -q])


def test_with_velocities_it_goes_by_a_cubic():
    model, rules = made(end_velocity=True)
    rules.take(trajectory(point([1.0, 0.0], 1.0, [1.0, 0.0])), NOW)
    rules.advance(NOW)
    rules.advance(NOW + 0.5)
    # By hand: h = 3 u^2 - 2 u^3 for the way 1 and u^3 - u^2 for the end velocity 1: at u = 1/2, 1/2 - 1/8.
    assert model.step(0.001) == pytest.approx([0.375, 0.0])


def test_from_the_measured_joints_the_set_point_steps_back_at_each_message_and_from_the_desired_ones_it_does_not():
    for from_desired in (False, True):
        model, rules = made(lag_s=10.0, from_desired=from_desired)
        rules.take(trajectory(point([0.1, 0.0], 0.1)), NOW)
        rules.advance(NOW)
        rules.advance(NOW + 0.1)
        model.step(0.001)
        rules.take(trajectory(point([0.2, 0.0], 0.1)), NOW + 0.1)
        rules.advance(NOW + 0.1)
        model.step(0.001)
        assert model.setpoint[0] == pytest.approx(0.1 if from_desired else 0.0, abs=1e-4)


def test_a_start_too_far_from_the_arm_is_dropped_and_the_measured_joints_are_held():
    model, rules = made(tolerance_rad=0.05)
    rules.take(trajectory(point([0.06, 0.0], 0.0)), NOW)  # the first sample is the last point already
    rules.advance(NOW)
    assert rules.aborted == 1
    assert model.step(0.1) == pytest.approx([0.0, 0.0])
    rules.take(trajectory(point([0.04, 0.0], 0.0)), NOW)
    rules.advance(NOW)
    assert rules.aborted == 1
    assert model.step(0.1) == pytest.approx([0.04, 0.0])


def test_an_arm_that_falls_behind_by_more_than_the_tolerance_is_held_where_it_is():
    model, rules = made(lag_s=10.0, tolerance_rad=0.05)
    rules.take(trajectory(point([1.0, 0.0], 1.0)), NOW)
    for step in range(6):
        rules.advance(NOW + 0.02 * step)
        model.step(0.02)
    assert rules.aborted == 1
    assert model.setpoint[0] < 0.06
