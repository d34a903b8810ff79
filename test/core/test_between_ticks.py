"""Commands between ticks: every bound holds for any timing, and what the ticks ask for is reached to the bit."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mimicik_ros.core import limits as joint_limits
from mimicik_ros.core.between_ticks import BetweenTicks
from mimicik_ros.core.limits import JointLimits

TICK, PERIOD = 0.05, 0.004
VELOCITY, ACCELERATION = np.array([1.57, 1.0]), np.array([10.0, 6.0])
LIMITS = JointLimits(np.full(2, -1.0), np.full(2, 1.0), VELOCITY, ACCELERATION, TICK)


def ticks(deltas, limits=LIMITS, start=0.0):
    """Commands that the core's limits let through, from rest."""
    q, v, out = np.full(2, start), np.zeros(2), []
    for delta in deltas:
        step = joint_limits.step(q, v, np.array(delta), limits)
        q, v = step.q_command, step.velocity_rad_s
        out.append(q)
    return out


def play(commands, period=PERIOD, rest_ticks=0, late=None, limits=LIMITS, start=0.0):
    """Positions (k, 2) that are sent, beginning with the start, and the newest command at each: one tick each TICK."""
    stream = BetweenTicks(limits, period)
    state = stream.start(np.full(2, start), 0.0)
    late = late or [0.0] * len(commands)
    newest, sent, asked, now = state.q, [state.q], [state.q], 0.3 * period
    for k in range(len(commands) + rest_ticks):
        end = (k + 1) * TICK
        arrival = k * TICK + (late[k] if k < len(commands) else 0.0)
        came = k >= len(commands)
        while now < end:
            if not came and now >= arrival:
                newest, came = commands[k], True
                state = stream.ask(state, newest, k * TICK)
            state = stream.step(state, now)
            sent.append(state.q)
            asked.append(newest)
            now += period
        if not came:  # later than the next one is due: both come at once, as after a pause of the process
            newest = commands[k]
            state = stream.ask(state, newest, k * TICK)
    return np.array(sent), np.array(asked), state


def assert_within(sent, period, limits=LIMITS):
    velocity = np.diff(sent, axis=0) / period
    assert np.all(np.isfinite(sent))
    assert np.all(np.abs(velocity) <= limits.velocity * (1 + 1e-9))
    change = np.diff(np.vstack([np.zeros(2), velocity]), axis=0) / period
    assert np.all(np.abs(change) <= limits.acceleration * (1 + 1e-6) + 1e-6)


deltas = st.lists(st.tuples(st.floats(-0.3, 0.3), st.floats(-0.3, 0.3)), min_size=1, max_size=25)
periods = st.sampled_from([0.004, 0.005, 0.01, 0.04])


@settings(max_examples=150, deadline=None)
@given(deltas, periods, st.lists(st.floats(0.0, 0.12), min_size=25, max_size=25))
def test_no_timing_of_ticks_breaks_velocity_acceleration_or_the_range_of_the_commands(asked, period, late):
    commands = ticks(asked)
    sent, _, state = play(commands, period, rest_ticks=30, late=late)
    assert_within(sent, period)
    hull = np.vstack([np.zeros(2), commands])
    assert np.all(sent >= hull.min(axis=0) - 1e-9) and np.all(sent <= hull.max(axis=0) + 1e-9)
    assert np.all(np.abs(sent) <= 1.0 + 1e-9)
    assert state.at_rest and np.array_equal(sent[-1], commands[-1])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(0.0, 0.3), st.floats(-0.3, 0.0)), min_size=1, max_size=25), periods)
def test_commands_that_go_one_way_are_never_passed(asked, period):
    sent, newest, _ = play(ticks(asked), period, rest_ticks=4)
    assert np.all(sent[:, 0] <= newest[:, 0] + 1e-9)
    assert np.all(sent[:, 1] >= newest[:, 1] - 1e-9)


@settings(max_examples=100, deadline=None)
@given(deltas, periods)
def test_without_an_acceleration_limit_velocity_and_range_still_hold(asked, period):
    free = JointLimits(LIMITS.lower, LIMITS.upper, VELOCITY, np.full(2, math.inf), TICK)
    commands = ticks(asked, free)
    sent, _, _ = play(commands, period, rest_ticks=30, limits=free)
    assert np.all(np.abs(np.diff(sent, axis=0)) <= VELOCITY * period * (1 + 1e-9))
    assert np.all(np.abs(sent) <= 1.0 + 1e-9)
    assert np.array_equal(sent[-1], commands[-1])


@settings(max_examples=60, deadline=None)
@given(deltas, periods)
def test_when_the_ticks_stop_it_comes_to_rest_at_the_last_command_to_the_bit_and_stays(asked, period):
    commands = ticks(asked)
    stream = BetweenTicks(LIMITS, period)
    state = stream.start(np.zeros(2), 0.0)
    for k, command in enumerate(commands):
        state = stream.ask(state, command, k * TICK)
        for j in range(round(TICK / period)):
            state = stream.step(state, k * TICK + j * period)
    begin, sent = (len(commands) - 1) * TICK, []
    for j in range(round(1.5 / period)):
        state = stream.step(state, begin + TICK + j * period)
        sent.append(state.q)
    assert np.array_equal(sent[-1], commands[-1])
    half = len(sent) // 2
    assert all(np.array_equal(q, commands[-1]) for q in sent[half:])


def test_a_steady_speed_is_sent_as_that_speed_one_and_a_half_ticks_late():
    speed = np.array([0.3, -0.2])
    commands = [speed * TICK * (k + 1) for k in range(20)]  # asked for at k TICK
    sent, _, _ = play(commands)
    velocity = np.diff(sent, axis=0) / PERIOD
    assert np.allclose(velocity[60:], speed, atol=1e-4)
    # By hand: tick k asks for speed TICK (k + 1) and is reached TICK + TICK / 2 later, so at `now` it is speed (now - TICK / 2).
    now = 0.3 * PERIOD + PERIOD * np.arange(len(sent) - 1)
    assert np.allclose(sent[61:], speed * (now[60:, None] - TICK / 2), atol=1e-5)
    assert BetweenTicks(LIMITS, PERIOD).lag_s(speed) == pytest.approx(1.5 * TICK)


def test_above_the_speed_that_stops_within_that_lag_the_lag_is_what_a_stop_takes():
    # 1.5 rad/s at 10 rad/s^2: 0.075 s, and half a period because the stop is made in steps.
    assert BetweenTicks(LIMITS, PERIOD).lag_s(np.array([1.5, 0.1])) == pytest.approx(TICK + 0.075 + 0.002)
    start, speed = -0.9, np.array([1.5, 0.5])
    commands = ticks([speed * TICK] * 26, start=start)
    sent, newest, _ = play(commands, start=start)
    velocity = np.diff(sent, axis=0) / PERIOD
    assert np.allclose(velocity[-20:-10], speed, atol=0.02)
    # Both joints are late by the same time, so the way between them keeps its direction.
    missing = newest[-1] - sent[-1]
    assert missing[0] / missing[1] == pytest.approx(3.0, rel=0.05)


def test_joints_that_start_and_stop_together_stay_on_the_straight_line():
    commands = ticks([(0.02, 0.01)] * 12 + [(0.0, 0.0)] * 6)
    sent, _, _ = play(commands)
    assert np.allclose(sent[:, 0], 2.0 * sent[:, 1], atol=1e-9)
    assert np.array_equal(sent[-1], commands[-1])


def test_an_even_acceleration_of_the_ticks_is_sent_as_that_acceleration_and_not_in_jerks():
    q, v, commands = np.zeros(2), np.zeros(2), []
    for _ in range(12):
        v = v + np.array([1.0, 0.5]) * TICK
        q = q + v * TICK
        commands.append(q)
    sent, _, _ = play(commands[:9], 0.005)
    acceleration = np.diff(np.diff(sent, axis=0) / 0.005, axis=0) / 0.005
    assert np.allclose(acceleration[25:80], [1.0, 0.5], atol=0.03)


@pytest.mark.parametrize("late_s", [0.0, 0.003, 0.007])
def test_a_tick_that_is_late_by_less_than_two_periods_changes_nothing_at_a_steady_speed(late_s):
    commands = [np.array([0.015, 0.0]) * (k + 1) for k in range(20)]
    sent, _, _ = play(commands, late=[0.0] * 10 + [late_s] + [0.0] * 9)
    assert np.allclose(np.diff(sent[80:], axis=0)[:, 0] / PERIOD, 0.3, atol=1e-4)


def test_the_same_state_and_time_give_the_same_step():
    stream = BetweenTicks(LIMITS, PERIOD)
    state = stream.ask(stream.start(np.zeros(2), 0.0), np.array([0.02, 0.01]), 0.0)
    first, second = stream.step(state, 0.01), stream.step(state, 0.01)
    assert np.array_equal(first.q, second.q)
    assert np.array_equal(state.q, np.zeros(2)), "the state that was given is not changed"
