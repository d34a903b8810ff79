"""Messages in and out: every field by hand."""

import math

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Path

from mimicik_ros import config as schema
from mimicik_ros.core.status import Severity, Status
from mimicik_ros.ros import conversions, diagnostics, outputs

NAMES = [f"joint{i}" for i in range(1, 7)]
Q, V = np.arange(6) * 0.1, np.arange(6) * 0.2
NOW = Time(sec=5, nanosec=250_000_000)


def encode(**values):
    return outputs.encoder(schema.from_flat({f"output.{k}": v for k, v in values.items()}))(Q, V, NOW)


def test_joint_state_carries_the_limits_as_speed_caps():
    message = encode(type="joint_state")
    assert list(message.name) == NAMES
    assert list(message.position) == pytest.approx(list(Q))
    assert list(message.velocity) == [1.57] * 6
    assert message.header.stamp == NOW


def test_joint_trajectory_has_stamp_zero_and_the_end_velocity_where_it_is_wanted():
    assert list(encode(type="joint_trajectory").points[0].velocities) == []
    message = encode(type="joint_trajectory", append_gripper=True, gripper_position=0.03, gripper_joint="g", end_velocity=True)
    assert message.header.stamp == Time()
    point = message.points[0]
    assert list(message.joint_names) == [*NAMES, "g"]
    assert list(point.positions) == pytest.approx([*Q, 0.03])
    assert list(point.velocities) == pytest.approx([*V, 0.0])
    assert (point.time_from_start.sec, point.time_from_start.nanosec) == (0, 50_000_000)


def test_a_trajectory_between_ticks_lasts_one_period_of_the_command_rate():
    point = encode(type="joint_trajectory", command_rate_hz=250.0).points[0]
    assert (point.time_from_start.sec, point.time_from_start.nanosec) == (0, 4_000_000)


def test_the_drivers_prefix_stands_before_our_joints_and_not_before_the_gripper():
    config = schema.from_flat({"robot.driver_prefix": "left_arm_", "output.append_gripper": True, "output.gripper_joint": "g"})
    assert list(outputs.encoder(config)(Q, V, NOW).name) == [*(f"left_arm_{name}" for name in NAMES), "g"]


@pytest.mark.parametrize(("gripper", "length"), [(False, 6), (True, 7)])
def test_float64_multi_array_has_exactly_the_values_asked_for(gripper, length):
    assert len(encode(type="float64_multi_array", append_gripper=gripper).data) == length


@pytest.mark.parametrize("kind", list(outputs.MESSAGE_TYPES))
def test_positions_are_read_back_from_every_type(kind):
    assert outputs.command_positions(encode(type=kind, append_gripper=True), 6) == pytest.approx(Q)


def test_a_target_is_copied_unchecked():
    message = PoseStamped()
    message.header.stamp, message.header.frame_id = NOW, "camera"
    message.pose.position.x = math.nan
    message.pose.orientation.w = 0.0
    target = conversions.target_sample(message, 7.0)
    assert math.isnan(target.position_m[0])
    assert list(target.quat_xyzw) == [0.0] * 4
    assert (target.frame_id, target.stamp_s, target.receipt_s) == ("camera", 5.25, 7.0)


def path_of(frame, *poses):
    """A path of (frame, x, second) poses."""
    message = Path()
    message.header.stamp, message.header.frame_id = NOW, frame
    for name, x, second in poses:
        pose = PoseStamped()
        pose.header.stamp, pose.header.frame_id = Time(sec=second), name
        pose.pose.position.x, pose.pose.orientation.w = x, 1.0
        message.poses.append(pose)
    return message


def test_a_path_is_copied_unchecked():
    path = conversions.path_sample(path_of("camera", ("", math.nan, 6), ("camera", 0.2, 7)), 7.0, 8.0)
    assert math.isnan(path.position_m[0, 0])
    assert path.position_m[1] == pytest.approx([0.2, 0.0, 0.0])
    assert path.quat_xyzw == pytest.approx(np.array([[0, 0, 0, 1], [0, 0, 0, 1]]))
    assert list(path.pose_stamps_s) == [6.0, 7.0]
    assert (path.frame_id, path.stamp_s, path.receipt_s, path.receipt_ros_s) == ("camera", 5.25, 7.0, 8.0)
    assert path.fault is None


def test_an_empty_path_has_no_poses_and_no_fault_yet():
    path = conversions.path_sample(path_of("base_link"), 7.0, 8.0)
    assert path.position_m.shape == (0, 3)
    assert path.fault is None


def test_poses_in_another_frame_than_their_path_are_a_fault():
    path = conversions.path_sample(path_of("base_link", ("camera", 0.1, 6)), 7.0, 8.0)
    assert path.fault is Status.BAD_FRAME
    assert path.detail == "poses in 'camera', path in 'base_link'"


def test_a_twist_is_copied_linear_first():
    message = TwistStamped()
    message.header.stamp, message.header.frame_id = NOW, "end_link"
    message.twist.linear.y, message.twist.angular.z = 0.1, -0.2
    twist = conversions.twist_sample(message, 7.0)
    assert list(twist.velocity) == [0, 0.1, 0, 0, 0, -0.2]
    assert (twist.frame_id, twist.stamp_s, twist.receipt_s) == ("end_link", 5.25, 7.0)


def test_stamps_survive_seconds_and_back_to_the_microsecond():
    assert conversions.seconds(conversions.stamp(1_700_000_000.123456)) == pytest.approx(1_700_000_000.123456, abs=1e-6)
    assert conversions.stamp(0.9999999999) == Time(sec=1)


def test_the_residual_points_from_the_command_to_the_governed_target_in_the_base_frame():
    wanted = np.eye(4)
    wanted[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]  # a quarter turn about z
    wanted[:3, 3] = [0.3, 0.0, 0.4]
    message = conversions.residual_message(np.eye(4), wanted, "base_link", NOW)
    assert (message.twist.linear.x, message.twist.linear.z) == (0.3, 0.4)
    assert message.twist.angular.z == pytest.approx(math.pi / 2)
    residual = conversions.residual_of(message)
    assert residual.position_m == pytest.approx(0.5)
    assert residual.rotation_rad == pytest.approx(math.pi / 2)


def test_a_status_message_carries_text_remedy_and_exact_values():
    message = diagnostics.status_message("n", Status.STALE_JOINTS, {"a": 0.1 + 0.2, "b": None, "c": 3})
    assert message.level == diagnostics.LEVELS[Severity.ERROR]
    assert message.message == "joint states are too old (check the driver and its clock)"
    assert diagnostics.status_values(message) == {"a": "0.30000000000000004", "b": "", "c": "3"}
