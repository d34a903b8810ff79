"""A path becomes poses at times: by stamps, by period or from its receipt; what cannot be followed is named."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimicik_ros.config import FreshnessConfig, TargetConfig
from mimicik_ros.core import chunk, se3
from mimicik_ros.core.status import Status
from mimicik_ros.core.target_inputs import PathSample

QUARTER = np.array([0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4)])  # a quarter turn about z
UNIT = np.array([0.0, 0.0, 0.0, 1.0])
NOW = 100.0
PATH = PathSample(np.array([[0.3, 0.0, 0.2], [0.3, 0.1, 0.2], [0.3, 0.1, 0.4]]), np.array([UNIT, QUARTER, QUARTER]),
                  np.array([100.0, 100.1, 100.3]), "base_link", 100.0, 7.0, NOW)


def read(target=None, freshness=None, now=NOW, **change):
    return chunk.read(dataclasses.replace(PATH, **change), now, "base_link", TargetConfig(**(target or {})),
                      FreshnessConfig(**(freshness or {})))


def test_between_two_poses_position_and_rotation_run_evenly():
    made, status, _ = read()
    assert status is None
    T, velocity = made.at(100.05)
    assert T[:3, 3] == pytest.approx([0.3, 0.05, 0.2])
    assert T[:3, :3] == pytest.approx(se3.rotation_exp(np.array([0.0, 0.0, np.pi / 4])))
    assert velocity == pytest.approx([0, 1.0, 0, 0, 0, np.pi / 2 / 0.1])
    T, velocity = made.at(100.2)
    assert T[:3, 3] == pytest.approx([0.3, 0.1, 0.3])
    assert velocity == pytest.approx([0, 0, 1.0, 0, 0, 0])


@pytest.mark.parametrize(("time", "index"), [(90.0, 0), (100.301, -1), (200.0, -1)])
def test_before_and_after_it_stands_at_its_ends(time, index):
    made, _, _ = read()
    T, velocity = made.at(time)
    assert np.array_equal(T, made.poses[index])
    assert not velocity.any()


def test_at_its_begin_and_at_its_end_it_moves():
    made, _, _ = read()
    assert made.at(100.0)[1][1] == pytest.approx(1.0)
    T, velocity = made.at(100.3)
    assert np.allclose(T, made.poses[-1])
    assert velocity[2] == pytest.approx(1.0)


def test_beyond_its_end_it_goes_on_as_between_its_last_poses():
    made, _, _ = read()
    T, velocity = made.beyond(100.4)
    assert T[:3, 3] == pytest.approx([0.3, 0.1, 0.5])
    assert velocity == pytest.approx([0, 0, 1.0, 0, 0, 0])
    assert np.array_equal(made.beyond(100.2)[0], made.at(100.2)[0])


def test_a_single_pose_is_a_chunk_at_rest():
    made, status, _ = read(position_m=PATH.position_m[:1], quat_xyzw=PATH.quat_xyzw[:1], pose_stamps_s=PATH.pose_stamps_s[:1])
    assert status is None
    assert np.array_equal(made.at(100.0)[0], made.at(500.0)[0])


def test_the_sign_of_a_quaternion_changes_nothing():
    plus, _, _ = read()
    minus, _, _ = read(quat_xyzw=PATH.quat_xyzw * np.array([[1.0], [-1.0], [1.0]]))
    assert np.array_equal(plus.at(100.07)[0], minus.at(100.07)[0])


@pytest.mark.parametrize("stamps", [np.zeros(3), np.full(3, 100.0)], ids=["none", "the header's"])
def test_poses_without_stamps_of_their_own_lie_one_period_apart(stamps):
    made, status, _ = read(target={"chunk_period_s": 0.04}, pose_stamps_s=stamps)
    assert status is None
    assert made.times_s == pytest.approx([100.0, 100.04, 100.08])


def test_from_its_receipt_the_first_pose_comes_first_and_the_spacing_stays():
    made, status, _ = read(target={"chunk_start": "receipt"}, pose_stamps_s=PATH.pose_stamps_s - 50.0, stamp_s=50.0)
    assert status is None
    assert made.times_s == pytest.approx([100.0, 100.1, 100.3])


def test_without_any_stamp_it_begins_at_its_receipt_where_that_is_allowed():
    made, status, _ = read(freshness={"accept_zero_stamp": True}, pose_stamps_s=np.zeros(3), stamp_s=0.0)
    assert status is None
    assert made.times_s == pytest.approx([100.0, 100.05, 100.1])


def test_a_path_may_begin_in_the_near_future():
    made, status, _ = read(target={"chunk_max_lead_s": 1.0}, pose_stamps_s=PATH.pose_stamps_s + 0.9)
    assert status is None
    assert made.begin_s == pytest.approx(100.9)


@pytest.mark.parametrize(("change", "status", "says"), [
    ({"position_m": np.zeros((0, 3)), "quat_xyzw": np.zeros((0, 4)), "pose_stamps_s": np.zeros(0)}, Status.BAD_PATH, "no poses"),
    ({"pose_stamps_s": np.array([100.0, 100.2, 100.1])}, Status.BAD_PATH, "the stamp of pose 2 is not after"),
    ({"pose_stamps_s": np.array([100.0, 100.1, 100.1])}, Status.BAD_PATH, "the stamp of pose 2 is not after"),
    ({"pose_stamps_s": np.array([100.0, 0.0, 0.0])}, Status.BAD_PATH, "the stamp of pose 1 is not after"),
    ({"pose_stamps_s": np.array([100.0, np.nan, 100.2])}, Status.NON_FINITE, "stamps"),
    ({"position_m": np.array([[0.3, 0, 0], [np.nan, 0, 0], [0.3, 0, 0]])}, Status.NON_FINITE, "path"),
    ({"position_m": np.array([[0.3, 0, 0], [300.0, 0, 0], [0.3, 0, 0]])}, Status.OUT_OF_WORLD, "300 m"),
    ({"quat_xyzw": np.array([UNIT, np.zeros(4), UNIT])}, Status.BAD_QUATERNION, "norm 0"),
    ({"quat_xyzw": np.array([UNIT, np.full(4, np.inf), UNIT])}, Status.BAD_QUATERNION, "norm"),
    ({"frame_id": "camera"}, Status.BAD_FRAME, "path in 'camera', expected 'base_link'"),
    ({"frame_id": ""}, Status.BAD_FRAME, "path in ''"),
    ({"stamp_s": 0.0, "pose_stamps_s": np.zeros(3)}, Status.NO_STAMP, "stamp 0"),
    ({"stamp_s": 100.2}, Status.STAMP_IN_FUTURE, "path 0.200 s ahead"),
    ({"pose_stamps_s": PATH.pose_stamps_s + 1.1}, Status.STAMP_IN_FUTURE, "begins 1.100 s from now"),
    ({"fault": Status.BAD_FRAME, "detail": "found before"}, Status.BAD_FRAME, "found before"),
])
def test_what_cannot_be_followed_is_named(change, status, says):
    made, got, detail = read(**change)
    assert made is None
    assert got is status
    assert says in detail


def test_an_empty_frame_is_the_base_only_where_that_is_assumed():
    assert read(freshness={"assume_base_frame": True}, frame_id="")[1] is None


@given(st.floats(100.0, 100.3))
def test_velocity_is_the_derivative_of_the_pose(time):
    made, _, _ = read()
    h = 1e-6
    if np.abs(made.times_s - time).min() < 2 * h:
        return
    numeric = se3.difference(made.at(time + h)[0], made.at(time - h)[0]) / (2 * h)
    assert np.allclose(numeric, made.at(time)[1], atol=1e-6)
