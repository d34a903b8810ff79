"""Each notation on rotations that are known by hand, and the way back on random ones."""

import numpy as np
import pytest

from mimicik_ros.ros.openpi.rotations import NOTATIONS

S = np.sqrt(0.5)
# A quarter turn about z: x goes to y, y to -x.
QUARTER_Z = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
VALUES = {"quat_xyzw": [0, 0, S, S], "quat_wxyz": [S, 0, 0, S], "rotvec": [0, 0, np.pi / 2], "rpy": [0, 0, np.pi / 2],
          "rot6d_rows": [0, -1, 0, 1, 0, 0], "rot6d_columns": [0, 1, 0, -1, 0, 0]}


def test_every_notation_has_a_value_here():
    assert VALUES.keys() == NOTATIONS.keys()


@pytest.mark.parametrize("name", list(NOTATIONS))
def test_a_quarter_turn_about_z_both_ways(name):
    values = np.array(VALUES[name], float)
    assert NOTATIONS[name].width == len(values)
    assert np.allclose(NOTATIONS[name].matrix(values), QUARTER_Z)
    assert np.allclose(NOTATIONS[name].values(QUARTER_Z), values)


@pytest.mark.parametrize("name", list(NOTATIONS))
def test_random_rotations_come_back_one_by_one_and_in_a_row(name):
    R = NOTATIONS["quat_xyzw"].matrix(np.random.default_rng(0).normal(size=(50, 4)))
    values = NOTATIONS[name].values(R)
    assert values.shape == (50, NOTATIONS[name].width)
    assert np.allclose(NOTATIONS[name].matrix(values), R)
    assert np.allclose(NOTATIONS[name].matrix(values[3]), R[3])
    assert np.allclose(NOTATIONS[name].values(R[3]), values[3])


def test_roll_pitch_yaw_turn_about_the_fixed_axes_in_this_order():
    # roll 90 deg takes y to z; then yaw 90 deg about the fixed z leaves z: y ends on z, x on y.
    R = NOTATIONS["rpy"].matrix(np.array([np.pi / 2, 0.0, np.pi / 2]))
    assert np.allclose(R @ [0, 1, 0], [0, 0, 1])
    assert np.allclose(R @ [1, 0, 0], [0, 1, 0])


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_looking_straight_up_or_down_still_comes_back(pitch):
    R = NOTATIONS["rpy"].matrix(np.array([0.3, pitch, -0.8]))
    assert np.allclose(NOTATIONS["rpy"].matrix(NOTATIONS["rpy"].values(R)), R)


def test_six_values_that_are_no_rotation_are_made_one_keeping_the_first_direction():
    R = NOTATIONS["rot6d_columns"].matrix(np.array([2.0, 0, 0, 5.0, 3.0, 0]))
    assert np.allclose(R, np.eye(3))
