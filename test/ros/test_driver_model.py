"""The arm behind a stand-in: speed cap, lag, offset, and the last command for ever."""

import numpy as np
import pytest

from mimicik_ros.ros.driver_model import DriverModel


def test_without_a_cap_the_set_point_runs_at_0_3_rad_s():
    arm = DriverModel(np.zeros(2))
    assert arm.command(np.array([1.0, -0.01])) is None
    assert arm.step(0.1) == pytest.approx([0.03, -0.01])


def test_the_speed_cap_holds_for_each_joint_and_zero_stands_still():
    arm = DriverModel(np.zeros(4))
    arm.command(np.ones(4), np.array([2.0, -0.5, 0.0, np.inf]))
    assert arm.step(0.1) == pytest.approx([0.2, 0.05, 0.0, 1.0])


def test_the_lag_is_first_order():
    arm = DriverModel(np.zeros(1), lag_s=0.1)
    arm.command(np.array([1.0]), np.array([1e6]))
    arm.step(0.1)
    assert arm.q_measured == pytest.approx([1.0 - np.exp(-1.0)])


def test_the_last_command_is_held_for_ever():
    arm = DriverModel(np.zeros(1))
    arm.command(np.array([0.3]))
    for _ in range(100):
        arm.step(1.0)
    assert arm.q_measured == pytest.approx([0.3])


def test_the_steady_offset_shows_once_the_arm_is_driven():
    arm = DriverModel(np.zeros(1), steady_offset_rad=0.01)
    assert arm.q_measured == pytest.approx([0.0])
    arm.command(np.zeros(1))
    assert arm.step(0.1) == pytest.approx([0.01])


@pytest.mark.parametrize(("q", "reason"), [
    (np.zeros(1), "expected 2 positions, got 1"), (np.zeros(3), "expected 2 positions, got 3"),
    (np.array([0.0, np.nan]), "a value is not finite")])
def test_a_bad_command_is_rejected_and_the_last_one_stays(q, reason):
    arm = DriverModel(np.zeros(2))
    arm.command(np.array([0.02, 0.02]))
    assert arm.command(q) == reason
    assert arm.step(1.0) == pytest.approx([0.02, 0.02])
