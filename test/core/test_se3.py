"""Rotations and poses: hand values, inverses of each other, sign of a quaternion."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimicik_ros.core import se3
from mimicik_ros.core.features import encode, range_score, relative_pose

numbers = st.floats(-1.0, 1.0)
vectors = st.tuples(numbers, numbers, numbers).map(np.array)
quaternions = st.tuples(numbers, numbers, numbers, numbers).map(np.array).filter(lambda q: np.linalg.norm(q) > 1e-2)


def test_a_quarter_turn_about_z_takes_x_to_y():
    R = se3.rotation_exp(np.array([0, 0, np.pi / 2]))
    assert np.allclose(R @ [1, 0, 0], [0, 1, 0], atol=1e-15)


def test_the_quaternion_of_a_half_turn_about_x_is_x():
    assert np.allclose(se3.quat_from_rotation(np.diag([1.0, -1.0, -1.0])), [1, 0, 0, 0])


@given(vectors)
def test_log_undoes_exp(w):
    assert np.allclose(se3.rotation_log(se3.rotation_exp(w)), w, atol=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 1.0, np.pi - 1e-6, np.pi])
def test_the_angle_is_exact_from_zero_to_a_half_turn(angle):
    R = se3.rotation_exp(angle * np.array([0.6, 0.0, 0.8]))
    assert se3.rotation_angle(R) == pytest.approx(angle, abs=1e-9)


@given(quaternions)
def test_a_quaternion_and_its_negative_are_the_same_rotation_to_the_bit(q):
    assert np.array_equal(se3.rotation_from_quat(q), se3.rotation_from_quat(-q))


@given(quaternions)
def test_a_rotation_survives_the_way_through_a_quaternion(q):
    R = se3.rotation_from_quat(q)
    assert np.allclose(se3.rotation_from_quat(se3.quat_from_rotation(R)), R, atol=1e-12)
    assert np.allclose(R @ R.T, np.eye(3), atol=1e-12)


@given(quaternions, vectors)
def test_a_pose_times_its_inverse_is_the_identity(q, p):
    T = se3.pose_from_quat(p, q)
    assert np.allclose(T @ se3.inverse(T), np.eye(4), atol=1e-12)


def test_the_relative_pose_is_seen_from_the_tool():
    T_tool = se3.pose(se3.rotation_exp(np.array([0, 0, np.pi / 2])), np.array([1.0, 0.0, 0.0]))
    T_target = se3.pose(se3.rotation_exp(np.array([0, 0, np.pi / 2 + 0.1])), np.array([1.0, 0.2, 0.0]))
    assert np.allclose(relative_pose(T_tool, T_target), [0.2, 0, 0, 0, 0, 0.1], atol=1e-12)


def test_the_observation_is_joints_then_relative_pose_in_float32():
    observation = encode(np.arange(6.0), np.eye(4), np.eye(4))
    assert observation.dtype == np.float32
    assert np.array_equal(observation, [0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0])


def test_the_range_score_is_0_in_the_centre_1_at_the_edge_and_more_outside():
    low, high = np.array([-1.0, 0.0]), np.array([1.0, 4.0])
    for value, score in (([0, 2], 0.0), ([1, 2], 1.0), ([0, 0], 1.0), ([0, 6], 2.0)):
        assert range_score(np.array(value, dtype=np.float32), low, high) == score
