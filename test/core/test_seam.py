"""A seam begins in the old motion, ends in the new plan, and adds no more speed and acceleration than was allowed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mimicik_ros.config import TargetConfig
from mimicik_ros.core import se3, seam

CONFIG = TargetConfig(blend_linear_speed_m_s=0.4, blend_linear_acceleration_m_s2=2.0, blend_angular_speed_rad_s=1.5,
                      blend_angular_acceleration_rad_s2=8.0)
START = 5.0


def at(x=0.0, turn=0.0):
    return se3.pose(se3.rotation_exp(np.array([0.0, 0.0, turn])), np.array([x, 0.0, 0.0]))


def test_at_rest_the_duration_is_the_longest_that_a_bound_asks_for():
    # 0.1 m: speed 1.875 * 0.1 / 0.4 = 0.469 s; acceleration sqrt(5.7735 * 0.1 / 2) = 0.537 s.
    short = seam.begin(at(0.1), np.zeros(6), at(), np.zeros(6), START, CONFIG)
    assert short.duration_s == pytest.approx(np.sqrt(5.7735 * 0.1 / 2.0), rel=1e-4)
    # 1 m: speed 4.69 s; acceleration 1.70 s.
    long = seam.begin(at(1.0), np.zeros(6), at(), np.zeros(6), START, CONFIG)
    assert long.duration_s == pytest.approx(1.875 / 0.4)


def test_halfway_half_of_an_offset_is_left():
    made = seam.begin(at(0.1), np.zeros(6), at(), np.zeros(6), START, CONFIG)
    assert made.at(START + made.duration_s / 2)[0] == pytest.approx(0.05)


def test_without_an_offset_and_with_equal_velocities_there_is_nothing_to_blend():
    velocity = np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.3])
    made = seam.begin(at(0.2), velocity, at(0.2), velocity, START, CONFIG)
    assert made.duration_s == 0.0
    assert not made.at(START).any()


def plan(t, T, velocity):
    """A plan that moves steadily from T at START."""
    return se3.shifted(T, velocity * (t - START))


vectors = st.tuples(*[st.floats(-1.0, 1.0)] * 6).map(np.array)


@settings(max_examples=60, deadline=None)
@given(vectors, vectors, vectors)
def test_it_joins_both_motions_in_pose_and_velocity_and_keeps_the_bounds_between(offset, v_from, v_plan):
    offset, v_from, v_plan = offset * [0.2, 0.2, 0.2, 1.5, 1.5, 1.5], 0.3 * v_from, 0.3 * v_plan
    T_plan = se3.pose(se3.rotation_exp(np.array([0.3, -0.7, 0.2])), np.array([0.3, 0.0, 0.2]))
    T_from = se3.shifted(T_plan, offset)
    made = seam.begin(T_from, v_from, T_plan, v_plan, START, CONFIG)

    def blended(t):
        return se3.shifted(plan(t, T_plan, v_plan), made.at(t))

    assert np.allclose(blended(START), T_from, atol=1e-9)
    h = 1e-5
    begin = se3.difference(blended(START + h), blended(START)) / h
    assert np.allclose(begin, v_from, atol=2e-3)
    end = START + made.duration_s
    assert np.allclose(blended(end), plan(end, T_plan, v_plan), atol=1e-9)
    assert not made.at(end + 1.0).any()

    t = np.linspace(START, end, 400)
    track = np.array([made.at(s) for s in t])
    for part, speed, acceleration in ((slice(0, 3), 0.4, 2.0), (slice(3, 6), 1.5, 8.0)):
        rate = np.gradient(track[:, part], t, axis=0) if made.duration_s > 1e-6 else np.zeros((400, 3))
        first = np.linalg.norm(made.velocity[part])
        assert np.linalg.norm(rate, axis=1).max() <= speed + first + 1e-6
        change = np.gradient(rate, t, axis=0) if made.duration_s > 1e-6 else np.zeros((400, 3))
        assert np.linalg.norm(change, axis=1).max() <= acceleration * (1 + 1e-3) + 1e-6
