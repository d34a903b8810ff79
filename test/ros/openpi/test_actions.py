"""Rows of actions to poses: every kind by hand, and every row that must not become a pose."""

import numpy as np
import pytest

from mimicik_ros.core import se3
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.ros.openpi.actions import ActionError, ActionSpace

S = np.sqrt(0.5)
# The tool at the observation: at (0.3, 0, 0.2), turned by a quarter about z, so that its x axis is the base's y axis.
START = se3.pose(np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), np.array([0.3, 0.0, 0.2]))
IDENTITY = [0.0, 0, 0, 1]


def test_absolute_poses_pass_with_a_unit_quaternion():
    poses, gripper = ActionSpace().decode(np.array([[0.1, 0.2, 0.3, 0, 0, 2.0, 2.0]], np.float32), START)
    assert np.allclose(poses, [[0.1, 0.2, 0.3, 0, 0, S, S]])
    assert gripper is None


def test_a_pose_with_gripper_is_split_and_scaled():
    space = ActionSpace(gripper=True, gripper_scale=-0.5, gripper_offset=0.5)  # 1 closes: -1 .. 1 becomes 1 .. 0
    poses, gripper = space.decode([[0.1, 0.2, 0.3, *IDENTITY, 1.0], [0.1, 0.2, 0.4, *IDENTITY, -1.0]], START)
    assert poses.shape == (2, 7)
    assert gripper.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(("frame", "steps"), [
    ("base", [[0.31, 0, 0.2], [0.32, 0, 0.2], [0.32, 0, 0.23]]),
    ("tool", [[0.3, 0.01, 0.2], [0.3, 0.02, 0.2], [0.3, 0.02, 0.23]]),  # the tool's x is the base's y
])
def test_delta_steps_add_up(frame, steps):
    space = ActionSpace(kind="delta_step", rotation="rotvec", delta_frame=frame)
    poses, _ = space.decode([[0.01, 0, 0, 0, 0, 0], [0.01, 0, 0, 0, 0, 0], [0, 0, 0.03, 0, 0, 0]], START)
    assert np.allclose(poses[:, :3], steps)
    assert np.allclose(poses[:, 3:], [0, 0, S, S])


@pytest.mark.parametrize(("frame", "rows"), [
    ("base", [[0.31, 0, 0.2], [0.33, 0, 0.2]]), ("tool", [[0.3, 0.01, 0.2], [0.3, 0.03, 0.2]])])
def test_deltas_from_the_start_do_not_add_up(frame, rows):
    space = ActionSpace(kind="delta_start", rotation="rotvec", delta_frame=frame)
    poses, _ = space.decode([[0.01, 0, 0, 0, 0, 0], [0.03, 0, 0, 0, 0, 0]], START)
    assert np.allclose(poses[:, :3], rows)


def test_delta_steps_of_rotation_turn_on_in_the_tool():
    # Two quarter turns about the tool's own z, with a step forward before each: a square's corner.
    space = ActionSpace(kind="delta_step", rotation="rotvec", delta_frame="tool")
    poses, _ = space.decode([[0.1, 0, 0, 0, 0, np.pi / 2], [0.1, 0, 0, 0, 0, np.pi / 2]], START)
    assert np.allclose(poses[:, :3], [[0.3, 0.1, 0.2], [0.2, 0.1, 0.2]])
    assert np.allclose(np.abs(poses[:, 3:]), [[0, 0, 1, 0], [0, 0, S, S]])


def test_a_rotation_delta_about_the_base_turns_the_tool_on_the_spot():
    space = ActionSpace(kind="delta_start", rotation="rpy", delta_frame="base")
    poses, _ = space.decode([[0, 0, 0, np.pi / 2, 0, 0]], START)
    R = se3.rotation_from_quat(poses[0, 3:])
    assert np.allclose(poses[0, :3], START[:3, 3])
    assert np.allclose(R[:, 0], [0, 0, 1])  # the tool's x was the base's y, and roll takes y to z


def test_normalised_deltas_are_scaled_to_metres_and_radians():
    # LIBERO: xyz and rotation vector in -1 .. 1 for 0.05 m and 0.5 rad, gripper -1 .. 1.
    space = ActionSpace(kind="delta_step", rotation="rotvec", gripper=True, position_scale=0.05, rotation_scale=0.5)
    poses, gripper = space.decode(np.array([[1, 0, -1, 0, 0, 1, -1]], np.float32), se3.pose(np.eye(3), np.zeros(3)))
    assert np.allclose(poses[0], [0.05, 0, -0.05, 0, 0, np.sin(0.25), np.cos(0.25)])
    assert gripper.tolist() == [-1.0]


def test_integers_are_numbers():
    assert ActionSpace().decode(np.array([[1, 0, 0, 0, 0, 0, 1]]), START)[0].dtype == float


@pytest.mark.parametrize(("actions", "shape"), [
    (np.zeros((4, 8)), r"\(4, 8\)"), (np.zeros((4, 6)), r"\(4, 6\)"), (np.zeros(7), r"\(7,\)"),
    (np.zeros((1, 4, 7)), r"\(1, 4, 7\)"), ([[0.0] * 7, [0.0] * 6], "ragged"),
    (np.zeros((0, 7)), r"\(0, 7\)"), ([["a"] * 7], "U1"), (None, "object"), (np.zeros((4, 7), complex), "complex128"),
    (np.zeros((4, 7), bool), "bool"),
])
def test_another_shape_or_type_is_refused_with_what_was_expected(actions, shape):
    with pytest.raises(ActionError, match=rf"expected actions \(n, 7\) - position 3, quat_xyzw 4 - and got .*{shape}"):
        ActionSpace().decode(actions, START)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("column", range(8))
def test_a_value_that_is_not_finite_refuses_the_whole_chunk_wherever_it_is(bad, column):
    actions = np.tile([0.3, 0, 0.2, *IDENTITY, 0.5], (4, 1))
    actions[2, column] = bad
    with pytest.raises(ActionError, match="1 of 4 actions are not finite, the first is row 2"):
        ActionSpace(gripper=True).decode(actions, START)


@pytest.mark.parametrize(("rotation", "values"), [
    ("quat_xyzw", [0, 0, 0, 0]), ("quat_wxyz", [0, 0, 0, 1e-4]), ("rot6d_rows", [0, 0, 0, 1, 0, 0]),
    ("rot6d_columns", [1, 0, 0, 2, 0, 0]), ("rot6d_rows", [0] * 6)])
def test_a_rotation_without_direction_refuses_the_chunk(rotation, values):
    with pytest.raises(ActionError, match="row 0 has no rotation"):
        ActionSpace(rotation=rotation).decode(np.array([[0.3, 0, 0.2, *values]], float), START)


@pytest.mark.parametrize(("field", "value", "text"), [
    ("kind", "relative", "absolute, delta_start, delta_step"), ("rotation", "euler", "quat_xyzw"),
    ("delta_frame", "camera", "base, tool"),
    ("position_scale", float("nan"), "finite"), ("rotation_scale", 0.5, "only makes sense for rotvec and rpy")])
def test_a_bad_choice_is_refused_at_set_up_with_the_valid_ones(field, value, text):
    with pytest.raises(ConfigError, match=text):
        ActionSpace(**{field: value})
