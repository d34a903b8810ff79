"""What a solver, a clock or an arm can do wrong, and what the tick makes of it: an exact status and a harmless command."""

import dataclasses

import numpy as np
import pytest

from mimicik_ros import config
from mimicik_ros.core import dls, se3
from mimicik_ros.core.servo import IKServo
from mimicik_ros.core.status import Mode, Status
from mimicik_ros.core.types import JointSnapshot, ServoState, TargetSample, TickInput

DT = 0.05
HOME = np.array([0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708])
SERVO = IKServo.from_config(config.Config())
KIN = SERVO.kinematics


class Told:
    """A policy that says what it was told to, with the card of the shipped one."""

    def __init__(self, delta_q):
        self.card, self.provider, self._delta_q = SERVO.policy.card, "told", np.asarray(delta_q, dtype=float)

    def predict(self, observation):
        if self._delta_q.ndim == 0:
            raise RuntimeError("no memory")
        return self._delta_q


def tick_input(now, q, T, **change):
    joints = JointSnapshot(q, np.full(6, 100.0 + now), np.full(6, now))
    target = TargetSample(T[:3, 3], se3.quat_from_rotation(T[:3, :3]), "base_link", 100.0 + now, now)
    return dataclasses.replace(TickInput(100.0 + now, now, joints, target), **change)


def servo_of(policy=None, solver="servo", **values):
    if solver == "dls":
        policy = None
    elif policy is None:
        policy = SERVO.policy
    return IKServo(KIN, policy, config.from_flat({k.replace("__", "."): v for k, v in values.items()}), solver)


def moving(servo, T, ticks=9):
    """The servo after some ticks towards a still target from HOME, and the time of the next tick."""
    q = HOME
    for i in range(ticks):
        q = servo.tick(tick_input(1.0 + i * DT, q, T)).q_command
    assert np.abs(servo.state.velocity_rad_s).max() > 0.1
    return 1.0 + ticks * DT


def test_a_model_that_says_nan_is_replaced_by_the_fallback_and_named():
    servo = servo_of(Told(np.full(6, np.nan)))
    T = KIN.fk(HOME + 0.05)
    q = HOME
    results = []
    for i in range(60):
        results.append(servo.tick(tick_input(1.0 + i * DT, q, T)))
        q = results[-1].q_command
        assert np.isfinite(q).all()
    assert {r.source for r in results} <= {"fallback", "none"}
    assert results[-1].target_residual.position_m < 1e-4
    assert all(Status.NON_FINITE.text in r.detail for r in results)


def test_the_model_alone_that_says_nan_brakes_with_non_finite():
    servo = servo_of(Told(np.full(6, np.nan)), solver="model")
    result = servo.tick(tick_input(1.0, HOME, KIN.fk(HOME + 0.1)))
    assert result.status is Status.NON_FINITE
    assert np.array_equal(result.q_command, HOME)


def test_a_branch_jump_of_the_model_never_leaves():
    servo = servo_of(Told([0, 0, 0, 1.5, 0, -1.5]), solver="model")
    result = servo.tick(tick_input(1.0, HOME, KIN.fk(HOME + 0.1)))
    assert result.status is Status.BRANCH_JUMP
    assert np.array_equal(result.q_command, HOME)


@pytest.mark.parametrize("solver", ["servo", "dls"])
def test_no_solver_moves_a_joint_further_than_a_branch_jump_however_fast_the_joints(solver):
    fast = {"robot__velocity_limits_rad_s": [90.0] * 6, "robot__acceleration_limits_rad_s2": [float("inf")] * 6,
            "servo__max_lead_rad": 0.0, "servo__max_linear_speed_m_s": 10.0, "servo__max_angular_speed_rad_s": 30.0,
            "engage__max_angle_rad": 3.2, "engage__max_distance_m": 10.0, "engage__max_first_step_rad": 1.0,
            "engage__ramp_s": 0.0, "servo__refine_max_steps": 100, "engage__max_tracking_error_rad": 6.3}
    servo = servo_of(Told(np.zeros(6)), solver=solver, **fast)
    q = HOME
    goals = [HOME, HOME + 0.6, HOME - 0.6] * 4
    for i, goal in enumerate(goals):
        result = servo.tick(tick_input(1.0 + i * DT, q, KIN.fk(goal)))
        assert np.abs(result.q_command - q).max() <= 0.5 + 1e-12
        q = result.q_command


def test_an_exception_in_the_model_brakes_within_the_limits_and_is_named():
    servo = servo_of()
    T = KIN.fk(HOME + 0.12)
    now = moving(servo, T)
    broken = IKServo(KIN, Told(0.0), servo.config)
    state, previous = servo.state, servo.state
    for i in range(6):
        result = broken.step(state, tick_input(now + i * DT, state.q_ref, T))
        assert result.status is Status.INTERNAL_ERROR
        assert "no memory" in result.detail
        assert np.abs(result.velocity_rad_s - previous.velocity_rad_s).max() <= 10.0 * DT + 1e-9
        previous = state = result.state
    assert not result.velocity_rad_s.any()
    assert result.consecutive_failures == 6


def test_an_exception_on_the_first_tick_sends_nothing():
    result = IKServo(KIN, Told(0.0), SERVO.config).step(ServoState(), tick_input(1.0, HOME, KIN.fk(HOME)))
    assert result.status is Status.INTERNAL_ERROR
    assert result.q_command is None


def test_an_exception_after_a_pause_does_not_send_the_command_from_before():
    servo = servo_of()
    T = KIN.fk(HOME + 0.12)
    moving(servo, T)
    result = IKServo(KIN, Told(0.0), servo.config).step(servo.state, tick_input(60.0, HOME + 0.1, T))
    assert result.status is Status.INTERNAL_ERROR
    assert result.q_command is None


def test_a_refinement_that_gives_nan_is_non_finite_and_moves_nothing(monkeypatch):
    monkeypatch.setattr(dls, "refine", lambda _k, q, *_: dls.Refined(np.full_like(q, np.nan), 0.0, 1, 1.0))
    for servo in (servo_of(solver="dls"), servo_of(Told(np.full(6, np.nan)))):
        result = servo.step(ServoState(), tick_input(1.0, HOME, KIN.fk(HOME + 0.1)))
        assert result.status is Status.NON_FINITE
        assert np.array_equal(result.q_command, HOME)


def test_after_silence_the_first_command_lies_near_the_arm_that_was_moved_meanwhile():
    servo = servo_of(freshness__on_timeout="stop_publishing")
    T = KIN.fk(HOME + 0.12)
    now = moving(servo, T)
    measured = servo.state.q_ref
    for _ in range(20):
        now += DT
        fresh = tick_input(now, measured, T)
        stale = dataclasses.replace(fresh, target=dataclasses.replace(fresh.target, receipt_s=now - 1.0))
        result = servo.tick(stale)
        assert result.status is Status.STALE_TARGET
    assert result.q_command is None
    moved = HOME + 0.3
    far = servo.tick(tick_input(now + DT, moved, KIN.fk(HOME)))
    assert far.status is Status.TARGET_TOO_FAR
    assert far.q_command is None
    again = servo.tick(tick_input(now + 2 * DT, moved, KIN.fk(moved + 0.01)))
    assert again.mode is Mode.ENGAGING
    assert np.abs(again.q_command - moved).max() <= 0.05


def test_a_fault_leads_the_command_to_the_measured_joints_without_passing_them():
    servo = servo_of()
    T = KIN.fk(HOME + 0.12)
    now = moving(servo, T)
    stuck = servo.state.q_ref - np.array([0.6, 0, 0, 0, 0, 0])
    commands = []
    for i in range(40):
        result = servo.tick(tick_input(now + i * DT, stuck, T))
        assert result.status is Status.TRACKING_FAULT
        commands.append(result.q_command[0])
    assert min(commands) >= stuck[0] - 1e-9
    assert commands[-1] == pytest.approx(stuck[0], abs=1e-6)


def test_through_the_singular_wrist_a_smooth_stream_stays_strict_and_calm():
    servo = servo_of(engage__ramp_s=0.0)
    start, end = HOME.copy(), HOME.copy()
    start[4], end[4] = -0.6, 0.6
    share = np.concatenate([np.zeros(10), 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 60))])
    q, step = start, np.zeros(6)
    for i, s in enumerate(share):
        result = servo.tick(tick_input(1.0 + i * DT, q, KIN.fk(start + s * (end - start))))
        assert result.target_residual.position_m <= 1e-3
        assert result.target_residual.rotation_rad <= np.radians(0.2)
        assert np.abs(result.q_command - q - step).max() <= 0.05
        step, q = result.q_command - q, result.q_command
