"""The whole tick: it reaches, it holds, and nothing that comes in makes a command beyond the limits."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mimicik_ros import config
from mimicik_ros.core import se3
from mimicik_ros.core.kinematics import residual
from mimicik_ros.core.servo import IKServo
from mimicik_ros.core.status import Mode, Status
from mimicik_ros.core.types import JointSnapshot, ServoState, TargetSample, TickInput

DT = 0.05
HOME = np.array([0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708])
SERVO = IKServo.from_config(config.Config())
KIN = SERVO.kinematics
VELOCITY, ACCELERATION = 1.57, 10.0


def target(T, now, **change):
    sample = TargetSample(T[:3, 3], se3.quat_from_rotation(T[:3, :3]), "base_link", 100.0 + now, now)
    return dataclasses.replace(sample, **change)


def tick_input(now, q, sample, **change):
    joints = JointSnapshot(q, np.full(6, 100.0 + now), np.full(6, now))
    return dataclasses.replace(TickInput(100.0 + now, now, joints, sample), **change)


def follow(servo, q, T, ticks, start=1.0):
    """Ideal arm: results of following a still target, one a tick."""
    servo.reset()
    results = []
    for i in range(ticks):
        now = start + i * DT
        result = servo.tick(tick_input(now, q, target(T, now)))
        q = result.q_command if result.q_command is not None else q
        results.append(result)
    return results


def assert_within_limits(commands):
    """Each command and the step between neighbours; commands that were not sent are None."""
    q = v = None
    for command in commands:
        if command is None:
            q = v = None
            continue
        assert np.isfinite(command).all()
        assert (command >= KIN.lower - 1e-9).all()
        assert (command <= KIN.upper + 1e-9).all()
        if q is not None:
            now = (command - q) / DT
            assert np.abs(now).max() <= VELOCITY + 1e-6
            assert v is None or np.abs(now - v).max() <= ACCELERATION * DT + 1e-6
            v = now
        q = command


def test_a_near_target_is_reached_and_stays_reached():
    results = follow(SERVO, HOME, KIN.fk(HOME + 0.08), 60)
    assert all(r.status is Status.REACHED for r in results[-20:])
    assert results[-1].target_residual.position_m < 1e-4
    assert results[-1].mode is Mode.TRACKING
    assert_within_limits([r.q_command for r in results])


@pytest.mark.parametrize("start", [np.zeros(6), np.array([0, 0, 0, np.pi / 2, 0, -np.pi / 2])], ids=["all zero", "vendor home"])
def test_both_singular_start_poses_of_the_vendor_can_be_left(start):
    goal = start + np.array([0.1, -0.2, 0.3, 0.1, 0.2, 0.1])
    results = follow(SERVO, start, KIN.fk(goal), 160)
    assert results[-1].target_residual.position_m < 1e-3
    assert_within_limits([r.q_command for r in results])


def test_the_first_command_lies_near_the_measured_joints():
    first = follow(SERVO, HOME, KIN.fk(HOME + 0.1), 1)[0]
    assert np.abs(first.q_command - HOME).max() <= 0.05


def test_a_quaternion_and_its_negative_give_the_same_command_to_the_bit():
    T = KIN.fk(HOME + 0.05)
    quat = se3.quat_from_rotation(T[:3, :3])
    plus, minus = (SERVO.step(ServoState(), tick_input(1.0, HOME, target(T, 1.0, quat_xyzw=s * quat))) for s in (1.0, -1.0))
    assert np.array_equal(plus.q_command, minus.q_command)


def test_the_same_state_and_input_give_the_same_command():
    state = follow(SERVO, HOME, KIN.fk(HOME + 0.1), 10)[-1].state
    given_input = tick_input(1.5, state.q_ref, target(KIN.fk(HOME + 0.1), 1.5))
    first, second = SERVO.step(state, given_input), SERVO.step(state, given_input)
    assert np.array_equal(first.q_command, second.q_command)
    assert first.status is second.status


@pytest.mark.parametrize(("change", "status"), [
    ({"position_m": np.array([np.nan, 0, 0])}, Status.NON_FINITE),
    ({"quat_xyzw": np.zeros(4)}, Status.BAD_QUATERNION),
    ({"frame_id": "camera"}, Status.BAD_FRAME),
    ({"stamp_s": 0.0}, Status.NO_STAMP),
    ({"stamp_s": 1e6}, Status.STAMP_IN_FUTURE),
    ({"stamp_s": 1.0}, Status.STALE_TARGET),
    ({"receipt_s": 1.0}, Status.STALE_TARGET),
])
def test_a_bad_target_in_motion_is_named_and_brakes_within_the_limits(change, status):
    T = KIN.fk(HOME + 0.12)
    servo, results = SERVO, follow(SERVO, HOME, T, 9)
    assert np.abs(results[-1].velocity_rad_s).max() > 0.1
    for i in range(8):
        now = 1.45 + i * DT
        results.append(servo.tick(tick_input(now, servo.state.q_ref, target(T, now, **change))))
        assert results[-1].status is status
        assert results[-1].mode is Mode.HOLDING
    assert np.abs(results[-1].velocity_rad_s).max() == 0.0
    assert_within_limits([r.q_command for r in results])


def test_beyond_reach_it_comes_as_near_as_it_can_and_says_so():
    T = KIN.fk(HOME).copy()
    T[:3, 3] += [0.25, 0.0, 0.0]
    T[:3, 3] *= 1.6
    servo = IKServo(KIN, SERVO.policy, config.from_flat({"engage.max_distance_m": 5.0}))
    results = follow(servo, HOME, T, 200)
    assert results[-1].status in (Status.NOT_CONVERGED, Status.NO_IMPROVEMENT)
    assert results[-1].consecutive_failures > 10
    assert np.abs(results[-1].velocity_rad_s).max() < 0.1
    assert_within_limits([r.q_command for r in results])


@pytest.mark.parametrize("solver", ["servo", "dls"])
@pytest.mark.parametrize("way", [(0.05, 0.15, -0.1), (-0.1, -0.1, 0.12), (0.0, 0.2, 0.0), (0.0, 0.0, -0.2)])
def test_a_still_target_a_fifth_of_a_metre_away_is_reached_without_passing_it(way, solver):
    T = KIN.fk(HOME).copy()
    T[:3, 3] += way
    servo = IKServo(KIN, SERVO.policy if solver == "servo" else None, config.from_flat({"engage.ramp_s": 0.0}), solver)
    results = follow(servo, HOME, T, 80)
    beyond = [(r.T_command[:3, 3] - T[:3, 3]) @ np.array(way) / np.linalg.norm(way) for r in results]
    assert max(beyond) < 1e-3
    assert results[-1].status is Status.REACHED
    assert_within_limits([r.q_command for r in results])


def test_every_residual_is_that_of_the_command_that_leaves():
    for result in follow(SERVO, HOME, KIN.fk(HOME + 0.1), 30):
        T = KIN.fk(result.q_command)
        assert result.residual == residual(T, result.T_governed)
        again = residual(T, KIN.fk(HOME + 0.1))
        assert result.target_residual.position_m == pytest.approx(again.position_m, abs=1e-12)
        assert result.target_residual.rotation_rad == pytest.approx(again.rotation_rad, abs=1e-7)
        assert np.array_equal(result.T_command, T)
        assert result.sigma_min == KIN.sigma_min(result.q_command)


def test_a_hold_brakes_within_the_acceleration_and_then_keeps_the_very_same_command():
    T = KIN.fk(HOME + 0.12)
    last = follow(SERVO, HOME, T, 9)[-1]
    held = [SERVO.tick(tick_input(1.45 + i * DT, SERVO.state.q_ref - 0.03, target(T, 1.45 + i * DT), hold_request=True))
            for i in range(10)]
    assert {r.status for r in held} == {Status.HELD_BY_REQUEST}
    assert np.abs(held[0].velocity_rad_s - last.velocity_rad_s).max() <= ACCELERATION * DT + 1e-9
    assert all(np.array_equal(r.q_command, held[5].q_command) for r in held[5:])


@pytest.mark.parametrize("velocity_limit", [None, 3.14])
@pytest.mark.parametrize("way", [(0.8, 0.0, 0.3), (0.0, 0.0, 1.0), (-0.3, 0.9, -0.6), (0.3, -0.9, 0.0)])
def test_beyond_reach_it_comes_to_rest_without_swinging(way, velocity_limit):
    T = KIN.fk(HOME).copy()
    T[:3, 3] += way
    values = {"engage.max_distance_m": 5.0, "engage.ramp_s": 0.0}
    if velocity_limit:
        values |= {"robot.velocity_limits_rad_s": [velocity_limit] * 6, "robot.acceleration_limits_rad_s2": [np.inf] * 6}
    results = follow(IKServo(KIN, SERVO.policy, config.from_flat(values)), HOME, T, 400)
    speeds = [np.abs(r.velocity_rad_s).max() for r in results[-40:]]
    assert max(speeds) < 0.02
    nearest = min(r.target_residual.position_m for r in results)
    assert results[-1].target_residual.position_m < nearest + 0.05
    assert results[-1].status in (Status.NOT_CONVERGED, Status.NO_IMPROVEMENT)


def test_a_fault_during_which_the_ticks_paused_sends_nothing_until_the_reset():
    follow(SERVO, HOME, KIN.fk(HOME + 0.05), 20)
    T, moved = KIN.fk(HOME), HOME + 0.7
    assert SERVO.tick(tick_input(2.0, moved, target(T, 2.0))).q_command is not None
    for now in (9.0, 9.05):  # carried elsewhere meanwhile: no command of before may be sent
        later = SERVO.tick(tick_input(now, HOME - 0.3, target(T, now)))
        assert later.q_command is None
        assert (later.status, later.mode) == (Status.TRACKING_FAULT, Mode.FAULT)
    assert SERVO.tick(tick_input(9.1, HOME - 0.3, target(T, 9.1), reset_request=True)).mode is Mode.READY


def test_a_target_too_far_to_engage_gives_no_command():
    T = KIN.fk(HOME).copy()
    T[0, 3] -= 0.5
    result = follow(SERVO, HOME, T, 1)[0]
    assert result.status is Status.TARGET_TOO_FAR
    assert result.q_command is None


def test_joints_moved_by_hand_are_a_fault_that_only_a_reset_ends():
    follow(SERVO, HOME, KIN.fk(HOME + 0.05), 20)
    T, moved = KIN.fk(HOME), HOME + 0.7
    assert SERVO.tick(tick_input(2.0, moved, target(T, 2.0))).status is Status.TRACKING_FAULT
    assert SERVO.tick(tick_input(2.05, HOME, target(T, 2.05))).mode is Mode.FAULT
    assert SERVO.tick(tick_input(2.1, HOME, target(T, 2.1), reset_request=True)).mode is Mode.READY


def test_after_a_pause_the_anchor_is_the_measured_arm():
    follow(SERVO, HOME, KIN.fk(HOME + 0.05), 20)
    moved = HOME + 0.3
    result = SERVO.tick(tick_input(9.0, moved, target(KIN.fk(moved + 0.02), 9.0)))
    assert np.abs(result.q_command - moved).max() <= 0.05


faults = st.lists(st.sampled_from(["ok", "ok", "ok", "nan", "late", "no target", "hold", "disable", "far", "stale joints"]),
                  min_size=5, max_size=25)


@settings(max_examples=20, deadline=None)
@given(faults, st.integers(0, 6), st.integers(0, 2**31))
def test_no_sequence_of_faults_with_a_lagging_arm_gives_a_command_beyond_the_limits(sequence, lag, seed):
    rng = np.random.default_rng(seed)
    # Wide gates, so that it engages again at once and in full motion.
    servo = IKServo(KIN, SERVO.policy, config.from_flat({
        "engage.max_distance_m": 10.0, "engage.resume_distance_m": 10.0, "engage.max_angle_rad": 3.2, "engage.ramp_s": 0.0}))
    commands, measured, trail = [], HOME, [HOME]
    goal = HOME + rng.uniform(-0.6, 0.6, 6)
    for i, fault in enumerate(["ok"] * 12 + sequence):
        now = 1.0 + i * DT
        sample = target(KIN.fk(goal), now)
        change = {}
        if fault == "nan":
            sample = target(KIN.fk(goal), now, position_m=np.full(3, np.nan))
        elif fault == "late":
            sample = target(KIN.fk(goal), now - 1.0)
        elif fault == "no target":
            sample = None
        elif fault == "far":
            goal = HOME + rng.uniform(-0.6, 0.6, 6)
        given_input = tick_input(now, measured, sample, **change)
        if fault == "hold":
            given_input = dataclasses.replace(given_input, hold_request=True)
        elif fault == "disable":
            given_input = dataclasses.replace(given_input, enable=False)
        elif fault == "stale joints":
            given_input = dataclasses.replace(given_input, joints=dataclasses.replace(given_input.joints,
                                                                                      receipt_s=np.full(6, now - 0.5)))
        result = servo.tick(given_input)
        commands.append(result.q_command)
        trail.append(trail[-1] if result.q_command is None else result.q_command)
        measured = trail[max(0, len(trail) - 1 - lag)]
    assert_within_limits(commands)
