"""Forward kinematics against the arm's table, an independent computation and finite differences."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mimicik_ros.core import se3
from mimicik_ros.core.errors import RobotError
from mimicik_ros.core.kinematics import Kinematics, residual

ROOT = Path(__file__).resolve().parents[2]
NAMES = tuple(f"joint{i}" for i in range(1, 7))
P = np.pi / 2
# The table of urdf/README.md: xyz (m) and rpy (rad) of every joint, written out again on purpose.
TABLE = [
    ((0, 0, 0.1127), (0, 0, 0)), ((0, 0, 0), (-P, -0.3867, np.pi)), ((0.27009, 0, 0), (0, 0, 1.9575)),
    ((0, 0.29015, 0), (-P, -P, 0)), ((0, 0, 0), (P, 0, 0)), ((0, 0, 0), (-P, 0, 0)),
]
G2_TOOL = ((0, 0, 0.2466), (P, -P, 0))
LIMITS = np.array([[-3.1416, 2.0944], [-2.9671, 0.17453], [-0.087266, 3.1416], [-3.0107, 3.0107], [-1.7628, 1.7628],
                   [-3.0107, 3.0107]])
G2 = Kinematics(ROOT / "urdf/airbot_play_g2.urdf", "base_link", "end_link", NAMES)

joints = st.tuples(*(st.floats(low, high) for low, high in LIMITS)).map(np.array)


def place(xyz, rpy, turn=0.0):
    """Homogeneous transform of a URDF origin, then a turn about z, by elementary rotations."""
    (cr, cp, cy, ct), (sr, sp, sy, s) = np.cos([*rpy, turn]), np.sin([*rpy, turn])
    Rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    Ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    Rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    Rq = np.array([[ct, -s, 0], [s, ct, 0], [0, 0, 1]])
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rz @ Ry @ Rx @ Rq, xyz
    return T


def table_fk(q):
    T = np.eye(4)
    for (xyz, rpy), angle in zip(TABLE, q, strict=True):
        T = T @ place(xyz, rpy, angle)
    return T @ place(*G2_TOOL)


@given(joints)
def test_fk_equals_the_table_multiplied_out_by_hand(q):
    assert np.allclose(G2.fk(q), table_fk(q), atol=1e-8)


@given(joints)
def test_link_poses_are_those_of_the_table_up_to_the_link(q):
    T = np.eye(4)
    poses = G2.link_poses(q, ["base_link", *(f"link{i}" for i in range(1, 7)), "end_link"])
    assert np.allclose(poses[0], T)
    for (xyz, rpy), angle, pose in zip(TABLE, q, poses[1:7], strict=True):
        T = T @ place(xyz, rpy, angle)
        assert np.allclose(pose, T, atol=1e-8)
    assert np.allclose(poses[7], G2.fk(q))


def test_what_moves_with_the_tool_is_what_the_last_joint_carries():
    assert [G2.moves_with_tool(link) for link in ("base_link", "link5", "link6", "end_link")] == [False, False, True, True]
    with pytest.raises(RobotError, match="no frame named 'link9'"):
        G2.link_poses(np.zeros(6), ["link9"])


@given(joints)
def test_the_batched_fk_equals_the_single_one(q):
    assert np.allclose(G2.fk_batch(np.stack([q, -0.5 * q]))[0], G2.fk(q), atol=1e-12)


@settings(max_examples=50)
@given(joints)
def test_the_jacobian_is_the_finite_difference_of_fk(q):
    J, step = G2.jacobian(q), 1e-6
    for i in range(6):
        plus, minus = q.copy(), q.copy()
        plus[i] += step
        minus[i] -= step
        relative = se3.inverse(G2.fk(q)) @ G2.fk(plus), se3.inverse(G2.fk(q)) @ G2.fk(minus)
        linear = (relative[0][:3, 3] - relative[1][:3, 3]) / (2 * step)
        angular = (se3.rotation_log(relative[0][:3, :3]) - se3.rotation_log(relative[1][:3, :3])) / (2 * step)
        assert np.allclose(J[:, i], np.concatenate([linear, angular]), atol=1e-6)


@pytest.mark.parametrize("q", [np.zeros(6), np.array([0, 0, 0, P, 0, -P])], ids=["all zero", "vendor home"])
def test_both_start_poses_of_the_vendor_are_singular(q):
    assert G2.sigma_min(q) < 1e-9


def test_a_straight_elbow_is_singular_inside_the_limits():
    assert G2.sigma_min(np.array([0.3, -1.0, np.pi - 0.38673, 0.5, 0.7, 0.1])) < 1e-4


def test_the_good_home_is_not_singular():
    assert G2.sigma_min(np.array([0, -1, 1.2, 1.5708, -1.2, -1.5708])) > 0.05


def test_limits_are_those_of_the_table_and_velocity_0_means_not_given():
    assert np.array_equal(np.stack([G2.lower, G2.upper], 1), LIMITS)
    assert [j.velocity for j in G2.joints] == [None] * 6


def test_the_tool_turns_a_quarter_with_joint_1_about_the_vertical():
    T = G2.fk(np.array([P, 0, 0, 0, 0, 0]))
    assert np.allclose(T[:3, 3], [0.0, 0.28659, 0.2146], atol=6e-5)
    assert np.allclose(T[:3, 0], [0, 1, 0], atol=1e-5)


def test_the_residual_of_a_known_offset_is_its_length_and_angle():
    T = np.eye(4)
    moved = place((0.003, 0.0, 0.004), (0.0, 0.0, 0.1))
    got = residual(T, moved)
    assert got.position_m == pytest.approx(0.005, abs=1e-12)
    assert got.rotation_rad == pytest.approx(0.1, abs=1e-12)


def test_the_kinematic_hash_differs_between_tools_and_not_between_loads():
    tools = {Kinematics(ROOT / f"urdf/airbot_play_{t}.urdf", "base_link", "end_link", NAMES).kinematic_hash()
             for t in ("bare", "e2b", "g2", "g2")}
    assert len(tools) == 3


@pytest.mark.parametrize(("change", "message"), [
    ({"base_frame": "world"}, "no frame named 'world'"),
    ({"tool_frame": "tool0"}, "no frame named 'tool0'"),
    ({"joint_names": (*NAMES[:5], "joint7")}, "no movable joint named 'joint7'"),
    ({"joint_names": NAMES[::-1]}, "must follow the chain"),
    ({"joint_names": ()}, "distinct and not empty"),
    ({"urdf": ROOT / "urdf/absent.urdf"}, "cannot read"),
    ({"urdf": b"<robot"}, "not a readable URDF"),
    ({"urdf": b""}, "not a readable URDF"),
    ({"tool_frame": "base_link"}, "is not moved by the last joint"),
    ({"base_frame": "link3"}, "moves with joint_names"),
])
def test_a_robot_that_cannot_be_is_refused_in_one_line(change, message):
    arguments = {"urdf": ROOT / "urdf/airbot_play_g2.urdf", "base_frame": "base_link", "tool_frame": "end_link",
                 "joint_names": NAMES}
    with pytest.raises(RobotError, match=message) as caught:
        Kinematics(**(arguments | change))
    assert "\n" not in str(caught.value)
