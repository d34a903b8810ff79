"""The closed form against FK: every branch exact, q itself among them, singular poses, and arms that it is not for."""

import numpy as np
import pytest

from mimicik_ros.config import Config
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.kinematics import Kinematics, residual
from mimicik_ros.core.limits import JointLimits
from mimicik_ros.evaluation.baselines.closed_form import ClosedForm, wrist_centre, zero_screws
from mimicik_ros.share import share_path

ROBOT = Config().robot


def arm(urdf=ROBOT.urdf):
    return Kinematics(share_path(urdf), ROBOT.base_frame, ROBOT.tool_frame, ROBOT.joint_names)


def solver_of(kinematics):
    return ClosedForm(kinematics, JointLimits.from_config(Config(), kinematics))


KIN = arm()
SOLVER = solver_of(KIN)


def exact(branches, T, kinematics=KIN):
    gaps = [residual(kinematics.fk(q), T) for q in branches]
    return all(gap.position_m < 1e-9 and gap.rotation_rad < 1e-9 for gap in gaps)


@pytest.mark.parametrize("urdf", ["urdf/airbot_play_g2.urdf", "urdf/airbot_play_e2b.urdf", "urdf/airbot_play_bare.urdf"])
def test_every_branch_of_thousands_of_poses_is_exact_and_within_the_limits_and_the_joints_themselves_are_one(urdf):
    kinematics = arm(urdf)
    solver, rng = solver_of(kinematics), np.random.default_rng(0)
    counts = set()
    for q in rng.uniform(kinematics.lower, kinematics.upper, (1500, 6)):
        T = kinematics.fk(q)
        branches = solver.branches(T, q + rng.uniform(-0.1, 0.1, 6), kinematics.lower, kinematics.upper)
        assert exact(branches, T, kinematics)
        assert (branches >= kinematics.lower).all() and (branches <= kinematics.upper).all()
        assert np.abs(branches - q).max(axis=1).min() < 1e-6
        counts.add(len(branches))
    assert max(counts) == 8 and min(counts) >= 1


def test_the_wrist_centre_is_where_the_table_puts_it():
    # Joint 3 lies 0.27009 m from joint 2 along its x, the wrist 0.29015 m further along joint 3's y; by hand at q = 0.
    w, p, _ = zero_screws(KIN)
    np.testing.assert_allclose(np.linalg.norm(p[2] - p[1]), 0.27009, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(wrist_centre(w, p) - p[2]), 0.29015, atol=1e-9)
    np.testing.assert_allclose(wrist_centre(w, p)[1], 0.0, atol=1e-9)


@pytest.mark.parametrize("q", [
    [0.0] * 6, [0, 0, 0, np.pi / 2, 0, -np.pi / 2], [0.3, -1, 1, 0.7, 0, 0.1], [0.3, -1, 1, 0.7, 1e-10, 0.1]])
def test_at_the_singular_wrist_joint_4_keeps_its_value(q):
    q = np.array(q, dtype=float)
    branches = SOLVER.branches(KIN.fk(q), q, KIN.lower, KIN.upper)
    assert exact(branches, KIN.fk(q))
    assert np.abs(branches - q).max(axis=1).min() < 1e-8


@pytest.mark.parametrize("offset", [0.0, 1e-9, -1e-7])
def test_at_the_straight_elbow_the_pose_is_met(offset):
    w, p, _ = zero_screws(KIN)
    q = np.array([0.3, -1.0, _straight(w, p) + offset, 0.2, 0.8, 0.1])  # both elbow branches meet
    branches = SOLVER.branches(KIN.fk(q), q, KIN.lower, KIN.upper)
    assert exact(branches, KIN.fk(q))
    assert np.abs(branches - q).max(axis=1).min() < 1e-6


def _straight(w, p):
    """q3 at which shoulder, elbow and wrist centre lie in line, inside the limits."""
    a, b = p[2] - p[1], wrist_centre(w, p) - p[2]
    return float(np.arctan2(w[2] @ np.cross(b, a), b @ a)) % (2 * np.pi)


def test_the_straight_elbow_lies_where_the_notes_on_the_arm_say():
    w, p, _ = zero_screws(KIN)
    assert _straight(w, p) == pytest.approx(2.7549, abs=1e-4)


def test_with_the_wrist_over_the_shoulder_joint_1_keeps_its_value():
    w, p, _ = zero_screws(KIN)
    c = wrist_centre(w, p)
    q = np.array([0.4, 0.0, 1.9, 0.5, 0.9, -0.3])
    nudge = np.array([0.0, 1e-6, 0.0, 0.0, 0.0, 0.0])
    for _ in range(50):  # turn joint 2 until the wrist centre lies on axis 1 (Newton, by hand from FK)
        r, slope = _distance(q, c), (_distance(q + nudge, c) - _distance(q - nudge, c)) / 2e-6
        q[1] -= r / slope
    assert abs(_distance(q, c)) < 1e-12
    branches = SOLVER.branches(KIN.fk(q), q, np.full(6, -7.0), np.full(6, 7.0))
    assert exact(branches, KIN.fk(q))
    assert np.abs(branches - q).max(axis=1).min() < 1e-6


def _distance(q, centre):
    """Signed distance (m) of the wrist centre from axis 1, in the plane of the arm."""
    _, _, M = zero_screws(KIN)
    x = KIN.fk(q) @ np.linalg.inv(M) @ np.append(centre, 1.0)
    return float(np.cos(q[0]) * x[0] + np.sin(q[0]) * x[1])


def test_it_takes_the_branch_nearest_to_the_last_command():
    q = np.array([0.0, -1.0, 1.2, 0.5, -0.9, -0.5])
    wrist_flip = q + np.array([0.0, 0.0, 0.0, -np.pi, 1.8, np.pi])
    box = np.full(6, -9.0), np.full(6, 9.0)
    np.testing.assert_allclose(SOLVER.joints(q + 0.05, KIN.fk(q), *box).q, q, atol=1e-9)
    np.testing.assert_allclose(SOLVER.joints(wrist_flip + 0.05, KIN.fk(q), *box).q, wrist_flip, atol=1e-9)


def test_out_of_reach_it_has_no_branch_but_reaches_towards_the_target():
    T = KIN.fk(np.array([0.0, -1.0, 1.2, 0.5, -0.9, -0.5]))
    T[:3, 3] *= 4.0
    assert not len(SOLVER.branches(T, np.zeros(6), KIN.lower, KIN.upper))
    q = SOLVER.joints(np.zeros(6), T, KIN.lower, KIN.upper).q
    assert (q >= KIN.lower).all() and (q <= KIN.upper).all()
    assert residual(KIN.fk(q), T).position_m < residual(KIN.fk(np.zeros(6)), T).position_m


URDF = share_path(ROBOT.urdf).read_text()


@pytest.mark.parametrize(("was", "becomes", "words"), [
    ('<origin xyz="0.27009 0 0" rpy="0 0 1.9575"/>', '<origin xyz="0.27009 0 0" rpy="0.1 0 1.9575"/>', "joints 2 and 3 parallel"),
    ('<origin xyz="0 0 0" rpy="-1.570796327 0 0"/>', '<origin xyz="0.01 0 0" rpy="-1.570796327 0 0"/>', "through one point"),
    ('<origin xyz="0 0 0" rpy="-1.570796327 0 0"/>', '<origin xyz="0 0 0" rpy="-1.4 0 0"/>', "joint 5 square"),
    ('<origin xyz="0.27009 0 0" rpy="0 0 1.9575"/>', '<origin xyz="0 0 0" rpy="0 0 1.9575"/>', "two links of some length")])
def test_an_arm_of_another_structure_is_refused_by_what_it_lacks(was, becomes, words):
    assert was in URDF
    other = Kinematics(URDF.replace(was, becomes).encode(), ROBOT.base_frame, ROBOT.tool_frame, ROBOT.joint_names)
    with pytest.raises(ConfigError, match=words):
        solver_of(other)


def test_an_arm_of_five_joints_is_refused():
    five = Kinematics(URDF.encode(), ROBOT.base_frame, "link5", ROBOT.joint_names[:5])
    with pytest.raises(ConfigError, match="6 revolute joints"):
        ClosedForm(five, JointLimits.from_config(Config(), five))
