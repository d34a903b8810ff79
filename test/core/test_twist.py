"""A twist is integrated along its own axes, never faster or further than allowed, and fades away in silence."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimicik_ros import config
from mimicik_ros.core import se3, twist
from mimicik_ros.core.status import Status
from mimicik_ros.core.target_inputs import TwistSample

CONFIG = config.from_mapping({
    "target": {"twist_timeout_s": 0.1, "twist_decay_s": 0.4, "twist_lead_m": 0.05, "twist_lead_rad": 0.3},
    "servo": {"max_linear_speed_m_s": 0.8, "max_angular_speed_rad_s": 3.0}})
QUARTER = se3.pose(se3.rotation_exp(np.array([0.0, 0.0, np.pi / 2])), np.array([0.3, 0.0, 0.2]))


def sample(*velocity, frame="base_link", **change):
    return dataclasses.replace(TwistSample(np.array(velocity, dtype=float), frame, 100.0, 7.0), **change)


def test_in_the_base_frame_it_moves_and_turns_along_the_base_axes():
    T = twist.advance(QUARTER, sample(0.1, 0, 0, 0, 0, 0.5), 0.0, 0.1, QUARTER, CONFIG)
    assert T[:3, 3] == pytest.approx([0.31, 0.0, 0.2])
    assert se3.rotation_log(T[:3, :3]) == pytest.approx([0, 0, np.pi / 2 + 0.05])


def test_in_the_tool_frame_it_moves_and_turns_along_the_tool_axes():
    T = twist.advance(QUARTER, sample(0.1, 0, 0, 0.5, 0, 0, frame="end_link"), 0.0, 0.1, QUARTER, CONFIG)
    assert T[:3, 3] == pytest.approx([0.3, 0.01, 0.2])  # the tool's x is the base's y
    expected = QUARTER[:3, :3] @ se3.rotation_exp(np.array([0.05, 0.0, 0.0]))
    assert T[:3, :3] == pytest.approx(expected)


@pytest.mark.parametrize(("age", "share"), [(0.0, 1.0), (0.1, 1.0), (0.3, 0.5), (0.5, 0.0), (9.0, 0.0)])
def test_it_holds_until_the_timeout_and_then_goes_evenly_to_zero(age, share):
    assert twist.share(age, CONFIG.target) == pytest.approx(share)


def test_without_a_decay_it_ends_at_the_timeout():
    at_once = dataclasses.replace(CONFIG.target, twist_decay_s=0.0)
    assert (twist.share(0.1, at_once), twist.share(0.11, at_once)) == (1.0, 0.0)


def test_the_worse_of_both_ages_counts():
    assert twist.age_s(sample(), 100.3, 7.1) == pytest.approx(0.3)
    assert twist.age_s(sample(), 100.1, 7.3) == pytest.approx(0.3)
    assert twist.age_s(sample(stamp_s=0.0), 100.3, 7.1) == pytest.approx(0.1)


def test_it_is_never_faster_than_the_governor_and_keeps_its_direction():
    T = twist.advance(QUARTER, sample(1.6, 0, 0, 0, 0, 0.2), 0.0, 0.05, QUARTER, CONFIG)
    assert T[:3, 3] == pytest.approx([0.34, 0.0, 0.2])  # 0.8 m/s
    assert se3.rotation_log(T[:3, :3]) == pytest.approx([0, 0, np.pi / 2 + 0.05 * 0.1])  # halved as well


@given(st.lists(st.tuples(*[st.floats(-5.0, 5.0)] * 6), min_size=1, max_size=30), st.sampled_from(["base_link", "end_link"]))
def test_the_target_never_leaves_the_tool_further_than_its_lead(twists, frame):
    T = QUARTER
    for velocity in twists:
        T = twist.advance(T, sample(*velocity, frame=frame), 0.0, 0.1, QUARTER, CONFIG)
        lead = se3.difference(T, QUARTER)
        assert np.linalg.norm(lead[:3]) <= 0.05 + 1e-9
        assert np.linalg.norm(lead[3:]) <= 0.3 + 1e-9


@pytest.mark.parametrize(("change", "status"), [
    ({}, None), ({"frame_id": "end_link"}, None), ({"frame_id": "camera"}, Status.BAD_FRAME),
    ({"frame_id": ""}, Status.BAD_FRAME),
    ({"velocity": np.array([0, 0, np.nan, 0, 0, 0])}, Status.NON_FINITE),
    ({"velocity": np.array([0, 0, 0, np.inf, 0, 0])}, Status.NON_FINITE),
    ({"stamp_s": 0.0}, Status.NO_STAMP), ({"stamp_s": 100.2}, Status.STAMP_IN_FUTURE),
    ({"fault": Status.BAD_FRAME, "detail": "before"}, Status.BAD_FRAME)])
def test_what_cannot_be_used_is_named(change, status):
    found = twist.fault(sample(0, 0, 0, 0, 0, 0, **change), 100.0, CONFIG)
    assert (None if found is None else found[0]) is status
