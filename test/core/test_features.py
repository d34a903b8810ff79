"""The observation: the sign of a quaternion and the turn of joint 1 do not show in the relative pose."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimicik_ros.core import se3
from mimicik_ros.core.features import encode, relative_pose
from mimicik_ros.core.kinematics import Kinematics

ROOT = Path(__file__).resolve().parents[2]
G2 = Kinematics(ROOT / "urdf/airbot_play_g2.urdf", "base_link", "end_link", tuple(f"joint{i}" for i in range(1, 7)))
HOME = np.array([0, -1, 1.2, 1.5708, -1.2, -1.5708])
small = st.tuples(*[st.floats(-0.2, 0.2)] * 6).map(np.array)


@given(small)
def test_a_quaternion_and_its_negative_give_the_same_observation_to_the_bit(offset):
    T = G2.fk(HOME + offset)
    quat = se3.quat_from_rotation(T[:3, :3])
    plus, minus = (encode(HOME, G2.fk(HOME), se3.pose_from_quat(T[:3, 3], s * quat)) for s in (1.0, -1.0))
    assert np.array_equal(plus, minus)


@given(small, st.floats(-1.5, 1.5))
def test_turning_arm_and_target_with_joint_1_leaves_the_relative_pose(offset, turn):
    about_1 = np.array([turn, 0, 0, 0, 0, 0])
    before = relative_pose(G2.fk(HOME), G2.fk(HOME + offset))
    after = relative_pose(G2.fk(HOME + about_1), G2.fk(HOME + offset + about_1))
    assert np.allclose(before, after, atol=1e-12)


@given(small)
def test_one_pose_is_encoded_like_a_batch(offset):
    # Training encodes batches, the tick one at a time: float32 resolves 1e-7 here.
    T_tool, T_target = G2.fk(HOME), G2.fk(HOME + offset)
    batch = encode(HOME[None], T_tool[None], T_target[None])
    assert batch.shape == (1, 12)
    assert batch.dtype == np.float32
    assert np.allclose(batch[0], encode(HOME, T_tool, T_target), atol=2e-7)


def test_no_offset_is_six_zeros():
    assert np.allclose(relative_pose(G2.fk(HOME), G2.fk(HOME)), 0.0, atol=1e-15)


@pytest.mark.parametrize("axis", np.eye(3))
def test_a_half_turn_has_a_rotation_vector_of_length_pi(axis):
    T = se3.pose(se3.rotation_exp(np.pi * axis), np.zeros(3))
    assert np.linalg.norm(relative_pose(np.eye(4), T)) == pytest.approx(np.pi, abs=1e-7)
