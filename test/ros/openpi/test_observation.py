"""The state in the order that was asked for, and what is missing by name."""

import numpy as np
import pytest
from sensor_msgs.msg import Image, JointState

from mimicik_ros.config import RobotConfig
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.ros.openpi.observation import NotYet, Observer
from mimicik_ros.share import share_path

ROBOT = RobotConfig()
NAMES = [f"joint{i}" for i in range(1, 7)]


@pytest.fixture(scope="module")
def kinematics():
    return Kinematics(share_path(ROBOT.urdf), ROBOT.base_frame, ROBOT.tool_frame, ROBOT.joint_names)


def joints(names, positions):
    return JointState(name=list(names), position=[float(p) for p in positions])


def test_joints_go_by_name_from_partial_messages(kinematics):
    observer = Observer(kinematics, ("gripper", "joints"))
    observer.take_joints(joints(["joint6", "gripper", "joint1", "foreign"], [6, 0.04, 1, 99]), 1.0)
    observer.take_joints(joints(["joint2", "joint3", "joint5", "joint4"], [2, 3, 5, 4]), 1.1)
    assert observer.state(1.2).tolist() == [0.04, 1, 2, 3, 4, 5, 6]


def test_the_tool_pose_at_zero_is_that_of_the_vendors_table(kinematics):
    observer = Observer(kinematics, ("position", "quat_xyzw", "rotvec", "rot6d_columns"))
    observer.take_joints(joints(NAMES, [0] * 6), 1.0)
    state = observer.state(1.0)
    assert np.allclose(state, [0.2866, 0, 0.2146, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0], atol=6e-5)


def test_a_joint_that_falls_silent_is_named_while_the_others_go_on(kinematics):
    observer = Observer(kinematics, max_age_s=0.5)
    with pytest.raises(NotYet, match=r"no joint_states for joint1, .*, joint6 within 0\.5 s"):
        observer.state(0.0)
    observer.take_joints(joints(NAMES, range(6)), 1.0)
    observer.take_joints(joints(NAMES[:5], range(5)), 1.4)
    assert observer.state(1.5).tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(NotYet, match="no joint_states for joint6 within"):
        observer.state(1.6)


def test_a_message_with_other_lengths_and_one_without_numbers_count_for_nothing(kinematics):
    observer = Observer(kinematics)
    observer.take_joints(joints(NAMES, range(5)), 1.0)
    with pytest.raises(NotYet):
        observer.state(1.0)
    observer.take_joints(joints(NAMES, [0, 1, np.nan, 3, 4, 5]), 1.0)
    with pytest.raises(NotYet, match="no finite position for joint3"):
        observer.state(1.0)


def test_a_gripper_is_needed_only_where_the_state_has_one(kinematics):
    observer = Observer(kinematics, ("joints", "gripper"), gripper_joint="g")
    observer.take_joints(joints(NAMES, range(6)), 1.0)
    assert observer.q(1.0).tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(NotYet, match="joint_states for g"):
        observer.state(1.0)


def test_images_come_by_key_and_old_ones_are_named(kinematics):
    observer = Observer(kinematics, image_keys=("a", "b"), size_px=4)
    image = Image(width=2, height=2, encoding="mono8", step=2, data=[9] * 4)
    observer.take_image("a", image, 1.0)
    with pytest.raises(NotYet, match="no image for b"):
        observer.images(1.0)
    observer.take_image("b", image, 1.4)
    taken = observer.images(1.4)
    assert list(taken) == ["a", "b"]
    assert taken["b"].shape == (4, 4, 3)
    with pytest.raises(NotYet, match="no image for a within"):
        observer.images(1.6)


def test_an_unknown_part_is_refused_with_the_known_ones(kinematics):
    with pytest.raises(ConfigError, match="unknown part 'torque'; choose from joints, position, quat_xyzw"):
        Observer(kinematics, ("joints", "torque"))
