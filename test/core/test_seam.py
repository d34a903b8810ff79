"""A seam keeps pose and velocity over a change of plan, and dies away at bounded speed and acceleration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mimicik_ros.config import TargetConfig
from mimicik_ros.core import se3, seam
from mimicik_ros.core.seam import Seam

CONFIG = TargetConfig(blend_linear_speed_m_s=0.4, blend_linear_acceleration_m_s2=2.0, blend_angular_speed_rad_s=1.5,
                      blend_angular_acceleration_rad_s2=8.0)
DT = 0.05


def run(offset, rate, dt=DT, seconds=6.0):
    """Offsets and rates (k, 6) from the start on."""
    states = [Seam(np.array(offset, dtype=float), np.array(rate, dtype=float))]
    while len(states) * dt < seconds:
        states.append(seam.advance(states[-1], dt, CONFIG))
    return np.array([s.offset for s in states]), np.array([s.rate for s in states])


def test_from_rest_the_first_step_is_as_large_as_the_acceleration_allows():
    offsets, rates = run([1.0, 0, 0, 0, 0, 0], np.zeros(6))
    assert rates[1] == pytest.approx([-0.1, 0, 0, 0, 0, 0])  # 2 m/s^2 in 0.05 s
    assert offsets[1][0] == pytest.approx(0.995)
    assert rates[4][0] == pytest.approx(-0.4)
    assert rates[10][0] == pytest.approx(-0.4)  # at the configured speed


def test_it_ends_at_rest_in_about_the_time_of_speeding_up_and_slowing_down():
    offsets, rates = run([0.03, 0, 0, 0, 0, 0], np.zeros(6))
    # Half of 0.03 m at 2 m/s^2 and half at 1.6 m/s^2: 0.122 + 0.137 s, and at most three ticks of rounding.
    done = np.flatnonzero((np.abs(offsets) < 1e-12).all(axis=1) & (np.abs(rates) < 1e-12).all(axis=1))[0]
    assert 0.259 <= done * DT <= 0.259 + 3 * DT
    assert offsets[:, 0].min() >= -1e-12, "it does not pass zero"


def test_nothing_is_left_of_nothing():
    assert not np.any(seam.advance(Seam.none(), DT, CONFIG).offset)


vectors = st.tuples(*[st.floats(-1.0, 1.0)] * 6).map(np.array)


@settings(max_examples=40, deadline=None)
@given(vectors, vectors, st.floats(0.002, 0.1))
def test_it_keeps_its_bounds_and_ends_from_anywhere(offset, rate, dt):
    offset, rate = offset * [0.3, 0.3, 0.3, 1.5, 1.5, 1.5], rate * 0.5
    offsets, rates = run(offset, rate, dt, 12.0)
    for part, speed, acceleration in ((slice(0, 3), 0.4, 2.0), (slice(3, 6), 1.5, 8.0)):
        size = np.linalg.norm(rates[:, part], axis=1)
        assert size.max() <= max(speed, size[0]) + 1e-9
        assert np.linalg.norm(np.diff(rates[:, part], axis=0), axis=1).max() <= acceleration * dt + 1e-9
    assert np.abs(offsets[-1]).max() < 1e-9
    assert np.abs(rates[-1]).max() < 1e-9


@settings(max_examples=60, deadline=None)
@given(vectors, vectors, vectors, vectors, vectors)
def test_over_another_plan_pose_and_velocity_of_the_target_stay(offset, rate, way, v_old, v_new):
    old = Seam(offset * [0.2, 0.2, 0.2, 1.0, 1.0, 1.0], rate)
    T_old = se3.pose(se3.rotation_exp(np.array([0.3, -0.7, 0.2])), np.array([0.3, 0.0, 0.2]))
    T_new = se3.shifted(T_old, way * [0.2, 0.2, 0.2, 0.8, 0.8, 0.8])
    new = seam.rebased(old, T_old, v_old, T_new, v_new)
    h = 1e-6

    def target(one, T, velocity, t):
        return se3.shifted(se3.shifted(T, velocity * t), one.offset + one.rate * t)

    assert np.allclose(target(new, T_new, v_new, 0.0), target(old, T_old, v_old, 0.0), atol=1e-9)
    rates = [se3.difference(target(one, T, v, h), target(one, T, v, -h)) / (2 * h)
             for one, T, v in ((old, T_old, v_old), (new, T_new, v_new))]
    assert np.allclose(rates[0], rates[1], atol=1e-5)
