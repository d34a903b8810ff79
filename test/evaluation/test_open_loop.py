"""Open loop: every tick starts from the true joints of the row before, whatever was commanded there."""

import dataclasses
import math

import numpy as np
import pytest

from mimicik_ros.config import Config
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.servo import IKServo
from mimicik_ros.evaluation import metrics
from mimicik_ros.evaluation.energy import EnergyMeter
from mimicik_ros.evaluation.rollout import rollout, with_velocity_limit, without_gates
from mimicik_ros.evaluation.trial import episode_of, run_trial

HOME = np.array([0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708])


@pytest.fixture
def path():
    return HOME + np.linspace(0.0, 0.4, 30)[:, None] * np.array([1.0, 0.5, -0.5, 1.0, 0.5, 1.0])


def servo_of(arm, limit=100.0):
    return IKServo(arm, None, with_velocity_limit(without_gates(Config()), limit), "dls")


def test_an_arm_too_slow_to_follow_falls_behind_in_closed_loop_only(arm, trial, path):
    servo, case = servo_of(arm, limit=0.1), trial(path)  # the path asks for 0.28 rad/s
    closed, opened = (run_trial(servo, case, EnergyMeter([], ""), loop) for loop in (False, True))
    assert closed.position_m[-1] > 0.05
    assert opened.position_m[1:].max() < 0.01
    steps = np.abs(opened.done.q[1:] - path[:-1]).max(axis=1)
    np.testing.assert_allclose(steps, 0.1 * 0.05, rtol=1e-6)  # each tick moves as far as the limit allows, from the reference


def test_with_a_perfect_solver_open_and_closed_loop_agree(arm, trial, path):
    case = trial(path)
    closed, opened = (run_trial(servo_of(arm), case, EnergyMeter([], ""), loop) for loop in (False, True))
    assert max(closed.position_m.max(), opened.position_m.max()) < 2e-4


def test_the_open_loop_carries_the_velocity_of_the_reference(arm, trial, path):
    config = without_gates(Config())
    robot = dataclasses.replace(config.robot, acceleration_limits_rad_s2=(1.0,) * 6)  # from rest 2.5 mrad a tick, not 14
    servo = IKServo(arm, None, dataclasses.replace(config, robot=robot), "dls")
    opened = run_trial(servo, trial(path), EnergyMeter([], ""), True)
    steps = np.abs(opened.done.q[2:] - path[1:-1]).max(axis=1)
    assert steps.min() > 0.01


def test_cpu_and_solver_time_are_parts_of_the_tick(arm, trial, path):
    case = trial(path)
    done = rollout(servo_of(arm), case.stream, case.q_init)
    assert (done.solver_ms > 0.0).all() and (done.solver_ms < done.latency_ms).all()
    assert done.cpu_s > 0.0


def test_a_command_that_is_not_finite_has_an_infinite_error(arm, trial, path):
    case = trial(path)
    done = rollout(servo_of(arm), case.stream, case.q_init)
    q = done.q.copy()
    q[4, 2] = np.nan
    episode = episode_of(arm, case, done.__class__(q, done.latency_ms, done.status, done.solver_ms, done.cpu_s), None)
    assert math.isinf(episode.position_m[4]) and np.isfinite(np.delete(episode.position_m, 4)).all()
    assert np.isfinite(episode.commands).all() and metrics.calm(episode.commands, 0.05)["max_velocity"] < 1.0


@pytest.mark.parametrize("limit", [0.0, -1.0, 100.1, float("nan")])
def test_a_velocity_limit_that_cannot_be_is_refused(limit):
    with pytest.raises(ConfigError, match="--velocity-limit: must lie in"):
        with_velocity_limit(Config(), limit)
