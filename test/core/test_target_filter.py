"""Filters: the stated lag is the measured one, tremor is smaller, a still target is met, and a gap begins anew."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mimicik_ros.config import TargetConfig
from mimicik_ros.core import se3, target_filter

H, GAP = 1.0 / 72.0, 0.25  # a headset's period
ONE_EURO = TargetConfig(filter="one_euro", filter_cutoff_hz=2.0, filter_beta_linear=20.0, filter_beta_angular=5.0)
SECOND = TargetConfig(filter="second_order", filter_cutoff_hz=2.0)
BOTH = pytest.mark.parametrize("config", [ONE_EURO, SECOND], ids=["one_euro", "second_order"])
AXIS = np.array([0.6, 0.0, 0.8])


def run(config, motion, seconds, h=H):
    """Filter states for a motion: time -> (6,) from the identity."""
    state, out = None, []
    for i in range(round(seconds / h)):
        state = target_filter.step(state, se3.shifted(np.eye(4), motion(i * h)), 10.0 + i * h, config, GAP)
        out.append(state)
    return out


@BOTH
def test_the_first_sample_passes_as_it_is(config):
    T = se3.shifted(np.eye(4), np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
    assert np.array_equal(target_filter.step(None, T, 1.0, config, GAP).T, T)


def steady(t):
    return np.concatenate([[0.2 * t, 0.0, 0.0], 0.5 * t * AXIS])


def test_second_order_lags_a_steady_motion_by_what_it_states():
    last = run(SECOND, steady, 4.0)[-1]
    assert last.lag_s == pytest.approx(1.0 / (np.pi * 2.0))  # 159 ms at 2 Hz
    behind = se3.difference(last.T_in, last.T)
    assert behind[0] == pytest.approx(0.2 * last.lag_s, rel=1e-6)
    assert behind[3:] == pytest.approx(0.5 * last.lag_s * AXIS, rel=1e-6)


def test_one_euro_lags_by_what_it_states_and_less_the_faster_it_goes():
    last = run(ONE_EURO, steady, 6.0)[-1]
    assert last.lag_s == pytest.approx(1.0 / (2.0 * np.pi * (2.0 + 20.0 * 0.2)), rel=1e-6)  # 27 ms; at rest 80 ms
    behind = se3.difference(last.T_in, last.T)
    assert behind[0] == pytest.approx(0.2 * last.lag_s, rel=1e-6)
    angular_lag = 1.0 / (2.0 * np.pi * (2.0 + 5.0 * 0.5))
    assert behind[3:] == pytest.approx(0.5 * angular_lag * AXIS, rel=1e-6)


@BOTH
def test_tremor_of_ten_hertz_shrinks(config):
    states = run(config, lambda t: np.array([0.001, 0, 0, 0, 0, 0.01]) * np.sin(2 * np.pi * 10.0 * t), 4.0)
    x = np.array([se3.difference(s.T, np.eye(4)) for s in states[144:]])
    # One-euro at 2 + 20 |v| Hz and a second-order at 2 Hz pass at most these shares of 10 Hz.
    share = 0.45 if config is ONE_EURO else 0.05
    assert np.abs(x[:, 0]).max() < 0.001 * share
    assert np.abs(x[:, 5]).max() < 0.01 * share


@BOTH
@settings(max_examples=40, deadline=None)
@given(st.tuples(*[st.floats(-1.0, 1.0)] * 6).map(np.array), st.floats(0.005, 0.1))
def test_a_target_that_rests_is_met_without_passing_it(config, way, h):
    states = run(config, lambda t: way if t > 0.0 else np.zeros(6), 3.0, h)
    assert se3.difference(states[-1].T, se3.shifted(np.eye(4), way)) == pytest.approx(np.zeros(6), abs=1e-5)
    left = np.array([np.linalg.norm(se3.difference(states[-1].T_in, s.T)[:3]) for s in states])
    assert (np.diff(left) <= 1e-12).all()


@BOTH
def test_the_same_sample_again_changes_nothing(config):
    state = run(config, steady, 0.5)[-1]
    assert target_filter.step(state, state.T_in, state.time_s, config, GAP) is state


@BOTH
@pytest.mark.parametrize("jump_s", [0.3, -1.0], ids=["gap", "clock backwards"])
def test_a_gap_or_a_clock_jump_begins_anew(config, jump_s):
    state = run(config, steady, 0.5)[-1]
    T = se3.shifted(np.eye(4), np.array([1.0, 0, 0, 0, 0, 0]))
    assert np.array_equal(target_filter.step(state, T, state.time_s + jump_s, config, GAP).T, T)
