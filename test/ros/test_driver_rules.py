"""The stand-ins refuse what the real drivers refuse, by what their public sources say."""

import math

import numpy as np
import pytest
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from mimicik_ros.core.errors import ConfigError
from mimicik_ros.ros.driver_model import DriverModel
from mimicik_ros.ros.driver_rules import DRIVERS
from mimicik_ros.ros.fake_arm import FakeArm

NAMES = ["a", "b"]


def made(driver, gripper=False):
    model = DriverModel(np.zeros(2))
    return model, DRIVERS[driver].make(model, [*NAMES, *(["grip"] if gripper else [])], {})


def joint_state(position, velocity=(), name=()):
    return JointState(name=list(name), position=list(position), velocity=list(velocity))


@pytest.mark.parametrize(("driver", "size", "reason"), [
    ("vendor", 1, "expected at least 2 positions, got 1"), ("vendor", 2, None), ("vendor", 5, None),
    ("vendor_g2", 2, "expected at least 3 positions, got 2"), ("vendor_g2", 3, None), ("vendor_g2", 5, None)])
def test_the_vendors_examples_want_at_least_so_many_positions_and_leave_the_rest_unread(driver, size, reason):
    _, rules = made(driver)
    assert rules.take(joint_state([0.1] * size), 0.0) == reason


def test_the_vendors_example_reads_by_index_whatever_the_names_say():
    model, rules = made("vendor")
    rules.take(joint_state([0.1, 0.2], [9.0, 9.0], name=["b", "a"]), 0.0)
    assert model.step(1.0) == pytest.approx([0.1, 0.2])


@pytest.mark.parametrize(("velocity", "moved"), [
    ((), [0.03, 0.03]), ((2.0,), [0.03, 0.03]), ((2.0, 0.5), [0.2, 0.05]), ((0.0, -0.5), [0.0, 0.05])],
    ids=["absent", "too short", "given", "zero stands still"])
def test_the_vendors_example_takes_velocity_as_a_speed_cap(velocity, moved):
    model, rules = made("vendor")
    assert rules.take(joint_state([1.0, 1.0], velocity), 0.0) is None
    assert model.step(0.1) == pytest.approx(moved)


@pytest.mark.parametrize("driver", ["discoverse", "mmk2", "forward"])
@pytest.mark.parametrize("size", [2, 4])
def test_an_array_of_another_length_is_refused(driver, size):
    _, rules = made(driver, gripper=True)
    assert rules.take(Float64MultiArray(data=[0.1] * size), 0.0) == f"expected exactly 3 values, got {size}"


@pytest.mark.parametrize(("driver", "goes_on"), [("discoverse", True), ("mmk2", True), ("forward", False)])
def test_after_a_wrong_length_ros2_control_deactivates_the_controller_and_a_simulator_goes_on(driver, goes_on):
    _, rules = made(driver)
    rules.take(Float64MultiArray(data=[0.1]), 0.0)
    answer = rules.take(Float64MultiArray(data=[0.1, 0.2]), 0.0)
    assert answer == (None if goes_on else "the controller was deactivated by a command of another length")


def test_an_array_is_read_by_index_and_the_set_point_jumps():
    model, rules = made("forward", gripper=True)
    assert rules.take(Float64MultiArray(data=[0.5, -0.5, 0.07]), 0.0) is None
    assert model.step(0.001) == pytest.approx([0.5, -0.5])


def test_a_message_with_nan_is_dropped_and_the_last_one_stays():
    model, rules = made("forward")
    rules.take(Float64MultiArray(data=[0.5, -0.5]), 0.0)
    assert rules.take(Float64MultiArray(data=[0.1, math.nan]), 0.0) == "a value is not finite"
    assert model.step(0.001) == pytest.approx([0.5, -0.5])


def test_an_unknown_driver_is_refused_with_the_choices():
    with pytest.raises(ConfigError, match=f"driver must be one of {', '.join(DRIVERS)}, got 'x'"):
        FakeArm(parameter_overrides=[Parameter("driver", value="x")])
