"""Inputs that cannot be believed are named by their exact status, with both ages."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from mimicik_ros.config import FreshnessConfig
from mimicik_ros.core.freshness import judge
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.status import Status
from mimicik_ros.core.types import JointSnapshot, TargetSample, TickInput

ROOT = Path(__file__).resolve().parents[2]
G2 = Kinematics(ROOT / "urdf/airbot_play_g2.urdf", "base_link", "end_link", tuple(f"joint{i}" for i in range(1, 7)))
NOW, STEADY = 1000.0, 50.0  # two clocks that share nothing
CONFIG = FreshnessConfig()
JOINTS = JointSnapshot(np.zeros(6), np.full(6, NOW - 0.01), np.full(6, STEADY - 0.005))
TARGET = TargetSample(np.array([0.3, 0.0, 0.2]), np.array([0.0, 0.0, 0.0, 1.0]), "base_link", NOW - 0.02, STEADY - 0.01)


def judged(joints=None, target=None, config=CONFIG):
    return judge(TickInput(NOW, STEADY, dataclasses.replace(JOINTS, **(joints or {})),
                           dataclasses.replace(TARGET, **(target or {}))), config, G2)


def one(value, index=2, base=None):
    """The six values of base with one of them changed."""
    out = np.array(JOINTS.q if base is None else base)
    out[index] = value
    return out


def test_good_inputs_have_no_status_and_the_worse_of_their_ages():
    got = judged()
    assert got.joints is None
    assert got.target is None
    assert got.ages.joints_s == pytest.approx(0.01)
    assert got.ages.target_s == pytest.approx(0.02)
    assert got.ages.stamp_offset_s == pytest.approx(0.01)  # received 0.01 s after its stamp
    assert np.allclose(got.T_base_target[:3, 3], [0.3, 0.0, 0.2])


@pytest.mark.parametrize(("change", "status"), [
    ({"q": one(np.nan)}, Status.NON_FINITE),
    ({"q": one(np.inf)}, Status.NON_FINITE),
    ({"receipt_s": one(np.nan, base=JOINTS.receipt_s)}, Status.WAITING_FOR_JOINTS),
    ({"stamp_s": one(0.0, base=JOINTS.stamp_s)}, Status.NO_STAMP),
    ({"stamp_s": one(NOW - 0.3, base=JOINTS.stamp_s)}, Status.STALE_JOINTS),
    ({"receipt_s": one(STEADY - 0.3, base=JOINTS.receipt_s)}, Status.STALE_JOINTS),
    ({"stamp_s": one(NOW + 0.2, base=JOINTS.stamp_s)}, Status.STAMP_IN_FUTURE),
    ({"q": one(-1.0)}, Status.JOINTS_OUT_OF_RANGE),
])
def test_one_bad_joint_is_enough_and_is_named(change, status):
    got = judged(joints=change)
    assert got.joints is status
    assert got.target is None
    if status in (Status.NON_FINITE, Status.WAITING_FOR_JOINTS, Status.STALE_JOINTS, Status.JOINTS_OUT_OF_RANGE):
        assert "joint3" in got.detail


@pytest.mark.parametrize(("change", "status"), [
    ({"quat_xyzw": np.zeros(4)}, Status.BAD_QUATERNION),
    ({"quat_xyzw": np.array([0, 0, 0, 5e-4])}, Status.BAD_QUATERNION),
    ({"quat_xyzw": np.array([0, 0, np.nan, 1])}, Status.BAD_QUATERNION),
    ({"position_m": np.array([0.3, np.nan, 0])}, Status.NON_FINITE),
    ({"position_m": np.array([300.0, 0, 0])}, Status.OUT_OF_WORLD),
    ({"frame_id": "world"}, Status.BAD_FRAME),
    ({"frame_id": ""}, Status.BAD_FRAME),
    ({"stamp_s": 0.0}, Status.NO_STAMP),
    ({"stamp_s": NOW + 0.11}, Status.STAMP_IN_FUTURE),
    ({"stamp_s": NOW - 0.26}, Status.STALE_TARGET),
    ({"receipt_s": STEADY - 0.26}, Status.STALE_TARGET),
])
def test_a_bad_target_is_refused_by_its_status_and_gives_no_pose(change, status):
    got = judged(target=change)
    assert got.target is status
    assert got.T_base_target is None
    assert got.joints is None


def test_a_quaternion_of_any_other_norm_is_normalised():
    T = judged(target={"quat_xyzw": np.array([0.0, 0.0, 0.0, -7.0])}).T_base_target
    assert np.array_equal(T[:3, :3], np.eye(3))


def test_stamp_zero_and_an_empty_frame_pass_only_when_the_parameters_say_so():
    config = FreshnessConfig(accept_zero_stamp=True, assume_base_frame=True)
    got = judged(joints={"stamp_s": np.zeros(6)}, target={"stamp_s": 0.0, "frame_id": ""}, config=config)
    assert (got.joints, got.target) == (None, None)
    assert got.ages.target_s == pytest.approx(0.01)  # by receipt alone


def test_no_target_at_all_is_waiting():
    assert judge(TickInput(NOW, STEADY, JOINTS, None), CONFIG, G2).target is Status.WAITING_FOR_TARGET
