"""Going home: a straight way in joint space within every limit, without a target, and only where the arm may move."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mimicik_ros import config
from mimicik_ros.core import home, se3
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.limits import JointLimits
from mimicik_ros.core.servo import IKServo
from mimicik_ros.core.status import Mode, Status
from mimicik_ros.core.types import JointSnapshot, TargetSample, TickInput

DT = 0.05
HOME = np.array([0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708])
AWAY = HOME + np.array([0.6, 0.3, -0.4, 0.5, 0.4, -0.3])
BARE = IKServo.from_config(config.Config(), "dls")
KIN = BARE.kinematics
LOW, HIGH = KIN.lower + 0.01, KIN.upper - 0.01


def servo(**settings):
    return IKServo(KIN, None, config.from_mapping(settings), "dls")


def tick_input(i, q, **change):
    now = 1.0 + DT * i
    return TickInput(100.0 + now, now, JointSnapshot(q, np.full(6, 100.0 + now), np.full(6, now)), None,
                     **{"home_request": True, **change})


def run(one, q, ticks, first=0, **change):
    """Ideal arm. Returns the results."""
    results = []
    for i in range(first, first + ticks):
        results.append(one.tick(tick_input(i, q, **change)))
        q = results[-1].q_command if results[-1].q_command is not None else q
    return results


def assert_within(commands, start, speed):
    q = np.vstack([start, commands])
    v = np.diff(q, axis=0) / DT
    assert (q[1:] >= LOW - 1e-9).all()
    assert (q[1:] <= HIGH + 1e-9).all()
    assert np.abs(v).max() <= speed + 1e-9
    assert np.abs(np.diff(np.vstack([np.zeros(6), v]), axis=0)).max() <= 10.0 * DT + 1e-9


def test_it_arrives_without_a_target_says_so_and_stays():
    one = servo()
    results = run(one, AWAY, 60)
    assert [r.status for r in results[:20]] == [Status.HOMING] * 20
    assert [r.mode for r in results[:20]] == [Mode.HOMING] * 20
    assert results[-1].status is Status.AT_HOME
    assert results[-1].mode is Mode.HOLDING
    assert results[-1].q_command == pytest.approx(HOME, abs=1e-6)
    assert_within([r.q_command for r in results], AWAY, 0.5)
    # 0.6 rad at 0.5 rad/s are 1.2 s, and a little for both ramps.
    assert 24 <= sum(r.status is Status.HOMING for r in results) <= 30


def test_the_way_is_straight_in_joint_space():
    commands = np.array([r.q_command for r in run(servo(), AWAY, 60)])
    along = (commands - AWAY) @ (HOME - AWAY) / ((HOME - AWAY) @ (HOME - AWAY))
    assert np.abs(commands - AWAY - along[:, None] * (HOME - AWAY)).max() < 1e-6


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6), st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6))
def test_from_anywhere_to_anywhere_within_every_limit(start, goal):
    q, q_home = (np.clip(LOW + np.array(share) * (HIGH - LOW), LOW, HIGH) for share in (start, goal))
    one = servo(home={"q_rad": [float(v) for v in q_home], "speed_rad_s": 1.0})
    results = run(one, q, 150)
    assert results[-1].status is Status.AT_HOME
    assert results[-1].q_command == pytest.approx(q_home, abs=1e-6)
    assert_within([r.q_command for r in results], q, 1.0)


def test_faster_than_home_speed_it_slows_down_within_the_acceleration_limit():
    q, one = AWAY, servo(engage={"ramp_s": 0.0})
    T = KIN.fk(AWAY + np.array([0.8, 0, 0, 0, 0, 0.0]))
    results = []
    for i in range(60):
        now = 1.0 + DT * i
        sample = TargetSample(T[:3, 3], se3.quat_from_rotation(T[:3, :3]), "base_link", 100.0 + now, now)
        going_home = i >= 6
        results.append(one.tick(dataclasses.replace(tick_input(i, q, home_request=going_home), target=sample)))
        q = results[-1].q_command
    assert_within([r.q_command for r in results], AWAY, 1.57)
    assert results[5].mode is Mode.TRACKING
    assert np.abs(results[5].velocity_rad_s).max() > 0.8
    assert [r.mode for r in results[6:10]] == [Mode.HOMING] * 4
    assert np.abs(results[15].velocity_rad_s).max() <= 0.5


@pytest.mark.parametrize(("change", "status"), [
    ({"enable": False}, Status.DISABLED), ({"hold_request": True}, Status.HELD_BY_REQUEST)])
def test_disable_and_hold_stop_it(change, status):
    one = servo()
    q = run(one, AWAY, 15)[-1].q_command
    results = run(one, q, 5, 15, **change)
    assert [r.status for r in results] == [status] * 5
    assert not results[-1].velocity_rad_s.any()


def test_lost_joints_stop_it():
    one = servo()
    q = run(one, AWAY, 15)[-1].q_command
    old = JointSnapshot(q, np.full(6, 101.7), np.full(6, 1.7))
    results = [one.tick(dataclasses.replace(tick_input(i, q), joints=old)) for i in range(15, 27)]
    assert results[-1].status is Status.STALE_JOINTS
    assert not results[-1].velocity_rad_s.any()


def test_joints_out_of_range_do_not_begin_it():
    q = HOME.copy()
    q[0] = HIGH[0] + 0.07
    assert run(servo(), q, 1)[0].status is Status.JOINTS_OUT_OF_RANGE


def test_enable_again_follows_targets_from_home():
    one = servo()
    q = run(one, AWAY, 60)[-1].q_command
    now = 1.0 + DT * 60
    T = KIN.fk(HOME + 0.1)  # further than resume_distance_m
    sample = TargetSample(T[:3, 3], se3.quat_from_rotation(T[:3, :3]), "base_link", 100.0 + now, now)
    result = one.tick(dataclasses.replace(tick_input(60, q, home_request=False, enable_request=True), target=sample))
    assert result.mode is Mode.ENGAGING


def test_a_home_outside_the_limits_is_refused_with_the_joint():
    with pytest.raises(ConfigError, match=r"home\.q_rad: 2\.5 of joint1 lies outside its limits \[-3\.1316, 2\.0844\] rad"):
        servo(home={"q_rad": [2.5, -1.0, 1.2, 1.5708, -1.2, -1.5708]})


def test_a_home_of_the_wrong_length_is_refused():
    with pytest.raises(ConfigError, match=r"home\.q_rad has 2 values for 6 joints"):
        servo(home={"q_rad": [0.0, 0.0]})


def test_an_arm_that_the_default_does_not_fit_works_but_cannot_go_home():
    limits = JointLimits(np.full(6, -0.5), np.full(6, 0.5), np.full(6, 1.0), np.full(6, 10.0), DT)
    assert home.refusal(config.Config(), limits).startswith("home.q_rad: -1 of joint2 lies outside")
    assert BARE.home_refusal is None
