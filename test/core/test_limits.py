"""No command leaves the limits: position, velocity, acceleration, with one factor for all joints."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mimicik_ros.core.limits import JointLimits, brake, step, stopping_step

DT = 0.05
LIMITS = JointLimits(np.full(3, -1.0), np.full(3, 1.0), np.array([1.0, 2.0, 2.0]), np.full(3, 10.0), DT)
FREE = JointLimits(np.full(3, -9.0), np.full(3, 9.0), np.full(3, 1.0), np.full(3, math.inf), DT)
requests = st.lists(st.tuples(*[st.floats(-3.0, 3.0)] * 3), min_size=1, max_size=40)


def test_a_step_within_the_limits_passes_untouched():
    got = step(np.zeros(3), np.zeros(3), np.array([0.02, 0.0, -0.01]), LIMITS)
    assert np.allclose(got.q_command, [0.02, 0.0, -0.01], atol=1e-15)
    assert got.scale == 1.0


def test_one_factor_scales_every_joint_and_keeps_the_direction():
    # joint 1 asks 0.1 rad in 0.05 s = 2 rad/s of 1 allowed: factor one half for all.
    got = step(np.zeros(3), np.zeros(3), np.array([0.1, 0.04, -0.02]), FREE)
    assert got.scale == pytest.approx(0.5)
    assert np.allclose(got.q_command, [0.05, 0.02, -0.01])


def test_from_rest_the_acceleration_limit_allows_a_dt_squared():
    got = step(np.zeros(3), np.zeros(3), np.array([0.5, 0.0, 0.0]), LIMITS)
    assert got.q_command[0] == pytest.approx(10.0 * DT * DT)


def test_a_stop_takes_as_long_as_the_acceleration_needs():
    velocity, q, ticks = np.array([1.0, 0.0, 0.0]), np.array([-0.5, 0.0, 0.0]), 0
    while np.abs(velocity).max() > 1e-9:
        got = brake(q, velocity, LIMITS)
        assert (velocity - got.velocity_rad_s)[0] <= 10.0 * DT + 1e-9
        q, velocity, ticks = got.q_command, got.velocity_rad_s, ticks + 1
    assert ticks == 2  # 1 rad/s at 10 rad/s^2 is 0.1 s


@pytest.mark.parametrize(("distance", "reduction", "expected"), [
    (0.0, 1.0, 0.0), (-1.0, 1.0, 0.0), (1.0, 1.0, 1.0), (3.0, 1.0, 2.0), (6.0, 1.0, 3.0), (0.3, math.inf, 0.3),
])
def test_the_stopping_step_is_the_triangular_sum_by_hand(distance, reduction, expected):
    assert stopping_step(distance, reduction) == pytest.approx(expected)  # 3 = 2 + 1, 6 = 3 + 2 + 1


@given(st.floats(1e-6, 10.0), st.floats(1e-4, 1.0))
def test_steps_that_shrink_from_the_stopping_step_never_pass_the_end(distance, reduction):
    s = stopping_step(distance, reduction)
    k = max(0, math.ceil(s / reduction) - 1)
    assert s * (k + 1) - reduction * k * (k + 1) / 2 <= distance * (1 + 1e-9)


def stops_within(first, distance, reduction):
    """Whether steps that shrink by `reduction` from `first` end before `distance`, by counting them."""
    way, s = 0.0, first
    while s > 0.0:
        way, s = way + s, s - reduction
    return way <= distance


@given(st.floats(1e-3, 10.0), st.floats(1e-2, 1.0))
def test_the_stopping_step_is_the_largest_that_stops_when_the_steps_are_counted(distance, reduction):
    s = stopping_step(distance, reduction)
    assert stops_within(s * (1 - 1e-6), distance, reduction)
    assert not stops_within(s * (1 + 1e-6) + 1e-9, distance, reduction)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.tuples(*[st.floats(-3.0, 3.0)] * 3), st.booleans()), min_size=1, max_size=40),
       st.sampled_from([(10.0, 10.0, 10.0), (math.inf,) * 3, (10.0, math.inf, 0.5)]))
def test_no_sequence_of_requests_and_brakes_breaks_a_limit_with_any_accelerations(sequence, accelerations):
    limits = JointLimits(LIMITS.lower, LIMITS.upper, LIMITS.velocity, np.array(accelerations), DT)
    q, v = np.zeros(3), np.zeros(3)
    for delta_q, braking in sequence * 3:
        got = brake(q, v, limits) if braking else step(q, v, np.array(delta_q), limits)
        assert (np.abs(got.q_command) <= 1.0 + 1e-9).all()
        assert (np.abs(got.velocity_rad_s) <= limits.velocity + 1e-9).all()
        assert (np.abs(got.velocity_rad_s - v) <= limits.acceleration * DT + 1e-9).all()
        assert np.isfinite(got.q_command).all()
        q, v = got.q_command, got.velocity_rad_s


@settings(max_examples=200)
@given(requests)
def test_no_sequence_of_requests_breaks_a_limit(sequence):
    q, v = np.zeros(3), np.zeros(3)
    for delta_q in [*sequence, (3.0, 3.0, 3.0), (-3.0, 3.0, -3.0)] * 3:
        got = step(q, v, np.array(delta_q), LIMITS)
        assert (got.q_command <= LIMITS.upper + 1e-9).all()
        assert (got.q_command >= LIMITS.lower - 1e-9).all()
        assert (np.abs(got.velocity_rad_s) <= LIMITS.velocity + 1e-9).all()
        assert (np.abs(got.velocity_rad_s - v) <= LIMITS.acceleration * DT + 1e-9).all()
        assert np.allclose(got.q_command - q, got.velocity_rad_s * DT, atol=1e-12)
        assert 0.0 <= got.scale <= 1.0
        q, v = got.q_command, got.velocity_rad_s


@given(requests)
def test_braking_from_anywhere_ends_at_rest_inside(sequence):
    q, v = np.zeros(3), np.zeros(3)
    for delta_q in sequence:
        got = step(q, v, np.array(delta_q), LIMITS)
        q, v = got.q_command, got.velocity_rad_s
    for _ in range(5):
        got = brake(q, v, LIMITS)
        q, v = got.q_command, got.velocity_rad_s
    assert np.abs(v).max() < 1e-9
    assert (np.abs(q) <= 1.0 + 1e-9).all()


@given(st.tuples(*[st.floats(-3.0, 3.0)] * 3))
def test_without_an_acceleration_limit_the_direction_is_always_kept(delta_q):
    got = step(np.zeros(3), np.array([1.0, -1.0, 1.0]), np.array(delta_q), FREE)
    assert np.allclose(got.q_command, got.scale * np.array(delta_q), atol=1e-9)


def test_a_moving_joint_gets_exactly_the_step_that_was_asked_for():
    # The old velocity forbids standing still next tick; what is asked for lies well inside and must not be added to.
    limits = JointLimits(np.array([-3.0]), np.array([3.0]), np.array([1.57]), np.array([10.0]), 0.05)
    limited = step(np.zeros(1), np.array([0.6]), np.array([0.55 * 0.05]), limits)
    assert limited.velocity_rad_s == pytest.approx([0.55])
    assert limited.scale == 1.0
