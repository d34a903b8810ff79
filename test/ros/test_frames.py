"""Targets in other frames: one look-up that never waits, and both names where there is no transform."""

import sys

import numpy as np
import pytest
from stand_in_buffer import QUARTER, StandInBuffer

from mimicik_ros.core import se3
from mimicik_ros.core.status import Status
from mimicik_ros.core.target_inputs import PathSample, TwistSample
from mimicik_ros.core.types import TargetSample
from mimicik_ros.ros.frames import Frames, TfBuffer

UNIT = np.array([0.0, 0.0, 0.0, 1.0])


def frames(buffer):
    return Frames("base_link", "end_link", lambda: buffer)


def pose(frame, position=(0.1, 0.0, 0.0), quat=UNIT):
    return TargetSample(np.array(position), quat, frame, 5.0, 6.0)


def test_a_pose_is_moved_and_turned_into_the_base_frame():
    buffer = StandInBuffer()
    got = frames(buffer).pose(pose("camera"))
    assert got.position_m == pytest.approx([1.0, 2.1, 3.0])  # the camera's x is the base's y
    assert got.quat_xyzw == pytest.approx(QUARTER)
    assert (got.frame_id, got.stamp_s, got.receipt_s, got.fault) == ("base_link", 5.0, 6.0, None)


def test_the_latest_transform_is_asked_for_without_waiting():
    buffer = StandInBuffer()
    frames(buffer).pose(pose("camera"))
    assert buffer.asked == [("base_link", "camera", 0, 0)]


@pytest.mark.parametrize("frame", ["base_link", ""])
def test_the_base_frame_and_an_empty_one_pass_without_a_buffer(frame):
    def never():
        raise AssertionError("no buffer is needed")

    sample = pose(frame)
    assert Frames("base_link", "end_link", never).pose(sample) is sample


def test_a_path_is_transformed_as_a_whole():
    path = PathSample(np.array([[0.1, 0, 0], [0, 0.1, 0]]), np.array([UNIT, UNIT]), np.array([5.0, 5.1]), "camera", 5.0, 6.0, 7.0)
    buffer = StandInBuffer()
    got = frames(buffer).path(path)
    assert got.position_m == pytest.approx(np.array([[1.0, 2.1, 3.0], [0.9, 2.0, 3.0]]))
    assert got.frame_id == "base_link"
    assert len(buffer.asked) == 1


def test_a_twist_is_turned_but_one_in_the_tool_frame_stays():
    def twist(frame):
        return TwistSample(np.array([0.1, 0, 0, 0, 0.5, 0]), frame, 5.0, 6.0)

    one = frames(StandInBuffer())
    assert one.twist(twist("camera")).velocity == pytest.approx([0, 0.1, 0, -0.5, 0, 0])
    assert one.twist(twist("camera")).frame_id == "base_link"
    own = twist("end_link")
    assert one.twist(own) is own


def test_without_a_transform_the_fault_names_both_frames_in_one_line():
    got = frames(StandInBuffer()).pose(pose("headset"))
    assert got.fault is Status.NO_TRANSFORM
    assert got.detail == ("from 'headset' to 'base_link': NoSuchFrame: "
                          '"headset" passed to lookupTransform argument source_frame does not exist.')


def test_a_transform_that_is_none_is_no_transform():
    assert frames(StandInBuffer(quat=np.zeros(4))).pose(pose("camera")).fault is Status.NO_TRANSFORM


@pytest.mark.parametrize(("position", "quat"), [((np.nan, 0, 0), UNIT), ((0.1, 0, 0), np.zeros(4))], ids=["nan", "quaternion"])
def test_what_is_no_pose_keeps_its_fault_for_the_core_to_name(position, quat):
    got = frames(StandInBuffer()).pose(pose("camera", position, quat))
    assert got.fault is None
    assert got.frame_id == "base_link"
    assert np.array_equal(got.position_m, position, equal_nan=True)
    assert np.array_equal(got.quat_xyzw, quat)


def test_without_tf2_ros_it_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tf2_ros", None)
    assert "apt install ros-jazzy-tf2-ros" in Frames.missing()[0]
    one = Frames("base_link", "end_link", lambda: TfBuffer(None))
    for _ in range(2):  # also once it is known
        got = one.pose(pose("camera"))
        assert got.fault is Status.NO_TRANSFORM
        assert got.detail.startswith("from 'camera' to 'base_link': tf2_ros is not installed")


def test_closing_lets_the_buffer_go():
    buffer = StandInBuffer()
    one = frames(buffer)
    one.pose(pose("camera"))
    one.close()
    assert buffer.closed


def test_the_real_buffer_says_no_at_once(ros):
    pytest.importorskip("tf2_ros", reason="tf2_ros comes with a ROS 2 distribution, not from pip")
    import rclpy

    node = rclpy.create_node("frames_test")
    one = Frames("base_link", "end_link", lambda: TfBuffer(node))
    assert one.pose(pose("camera")).fault is Status.NO_TRANSFORM
    one.close()
    node.destroy_node()


def test_transform_and_inverse_give_the_pose_back():
    T = se3.pose_from_quat(np.array([1.0, 2.0, 3.0]), QUARTER)
    inside = se3.inverse(T) @ se3.pose_from_quat(np.array([0.3, 0.1, 0.2]), UNIT)
    got = frames(StandInBuffer()).pose(pose("camera", inside[:3, 3], se3.quat_from_rotation(inside[:3, :3])))
    assert got.position_m == pytest.approx([0.3, 0.1, 0.2])
    assert got.quat_xyzw == pytest.approx(UNIT, abs=1e-12)
