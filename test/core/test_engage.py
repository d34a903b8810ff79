"""When the arm may move: the gates, the anchor, the ramp, and what ends a hold or a fault. Distances are given by hand."""

import dataclasses

import numpy as np
import pytest

from mimicik_ros.config import EngageConfig
from mimicik_ros.core import engage
from mimicik_ros.core.freshness import Judgement
from mimicik_ros.core.limits import JointLimits
from mimicik_ros.core.status import Mode, Status
from mimicik_ros.core.types import Ages, JointSnapshot, Residual, ServoState, TickInput

CONFIG = EngageConfig(max_distance_m=0.3, resume_distance_m=0.05, max_first_step_rad=0.05, ramp_s=1.0, max_pause_s=0.5)
LIMITS = JointLimits(np.full(2, -1.0), np.full(2, 1.0), np.full(2, 1.5), np.full(2, 10.0), 0.05)
Q = np.array([0.1, 0.2])
TRACKING = ServoState(Mode.TRACKING, Q, np.array([0.4, 0.0]), engage_start_s=1.0, last_steady_s=9.95)


def decide(state, now=10.0, joints=None, target=None, q=Q, distance=0.0, **change):
    """Decision at steady time now; joints and target are what is wrong with them."""
    snapshot = JointSnapshot(np.asarray(q, dtype=float), np.full(2, now), np.full(2, now))
    judgement = Judgement(joints, target, np.eye(4) if target is None else None, Ages(), "")
    return engage.step(state, TickInput(now, now, snapshot, None, **change), judgement,
                       lambda _: Residual(distance, 0.0), LIMITS, CONFIG)


def test_from_nothing_it_waits_then_is_ready_then_engages_at_the_measured_joints():
    waiting = decide(ServoState(), joints=Status.WAITING_FOR_JOINTS)
    assert (waiting.state.mode, waiting.stop) == (Mode.WAITING, Status.WAITING_FOR_JOINTS)
    ready = decide(waiting.state, now=10.05, enable=False)
    assert (ready.state.mode, ready.stop) == (Mode.READY, Status.DISABLED)
    moving = decide(ready.state, now=10.1)
    assert (moving.state.mode, moving.stop, moving.anchored) == (Mode.ENGAGING, None, True)
    assert np.array_equal(moving.state.q_ref, Q)
    assert np.array_equal(moving.state.velocity_rad_s, [0.0, 0.0])


@pytest.mark.parametrize(("elapsed", "scale", "mode"), [
    (0.0, 0.1, Mode.ENGAGING), (0.5, 0.55, Mode.ENGAGING), (1.0, 1.0, Mode.TRACKING), (5.0, 1.0, Mode.TRACKING)])
def test_the_ramp_goes_from_a_tenth_to_full_speed_in_its_time(elapsed, scale, mode):
    state = dataclasses.replace(TRACKING, mode=Mode.ENGAGING, engage_start_s=10.0 - elapsed)
    got = decide(state)
    assert got.speed_scale == pytest.approx(scale)
    assert got.state.mode is mode


@pytest.mark.parametrize(("distance", "moves"), [(0.29, True), (0.31, False)])
def test_the_first_engagement_asks_for_a_target_within_max_distance(distance, moves):
    got = decide(ServoState(), distance=distance)
    assert (got.stop is None) is moves
    assert moves or got.stop is Status.TARGET_TOO_FAR


@pytest.mark.parametrize(("distance", "enable_request", "moves"), [
    (0.04, False, True), (0.06, False, False), (0.06, True, True), (0.31, True, False)])
def test_after_a_lost_target_it_resumes_only_near_or_when_enabled_again(distance, enable_request, moves):
    held = decide(TRACKING, target=Status.STALE_TARGET)
    assert (held.state.mode, held.stop) == (Mode.HOLDING, Status.STALE_TARGET)
    got = decide(held.state, now=10.05, distance=distance, enable_request=enable_request)
    assert (got.stop is None) is moves


def test_being_too_far_to_resume_does_not_turn_a_loss_into_something_else():
    state = decide(TRACKING, target=Status.STALE_TARGET).state
    for i in range(5):
        state = decide(state, now=10.05 + 0.05 * i, distance=0.2).state
    assert state.hold_status is Status.STALE_TARGET


@pytest.mark.parametrize("later", [10.6, 9.0], ids=["pause", "clock backwards"])
def test_after_a_pause_or_a_clock_jump_the_anchor_is_the_measured_joints(later):
    moved = Q + 0.3
    got = decide(TRACKING, now=later, q=moved)
    assert got.stop is None
    assert np.array_equal(got.state.q_ref, moved)
    assert np.array_equal(got.state.velocity_rad_s, [0.0, 0.0])


def test_a_pause_during_a_loss_does_not_open_the_wide_gate():
    held = decide(TRACKING, target=Status.STALE_TARGET).state
    got = decide(held, now=12.0, distance=0.2)
    assert got.stop is Status.TARGET_TOO_FAR
    assert got.state.mode is Mode.HOLDING


def test_a_hold_keeps_the_command_and_not_the_measured_joints():
    got = decide(TRACKING, q=Q - 0.1, hold_request=True)
    assert (got.state.mode, got.stop) == (Mode.HOLDING, Status.HELD_BY_REQUEST)
    assert np.array_equal(got.state.q_ref, Q)


def test_a_hold_by_request_ends_within_the_wide_gate():
    held = decide(TRACKING, hold_request=True).state
    assert decide(held, now=10.05, distance=0.2).stop is None


def test_a_tracking_error_is_a_fault_at_the_measured_joints_that_only_a_reset_ends():
    got = decide(TRACKING, q=Q + 0.6)
    assert (got.state.mode, got.stop) == (Mode.FAULT, Status.TRACKING_FAULT)
    assert np.allclose(got.state.q_hold, Q + 0.6)
    assert decide(got.state, now=10.05, enable_request=True).state.mode is Mode.FAULT
    assert decide(got.state, now=10.05, reset_request=True, joints=Status.STALE_JOINTS).state.mode is Mode.FAULT
    assert decide(got.state, now=10.05, reset_request=True).state.mode is Mode.READY


@pytest.mark.parametrize(("outside", "moves"), [(0.04, True), (0.06, False)])
def test_an_arm_outside_its_limits_engages_only_where_the_way_back_is_no_jump(outside, moves):
    got = decide(ServoState(), q=[1.0 + outside, 0.0])
    assert (got.stop is None) is moves
    assert moves or got.stop is Status.JOINTS_OUT_OF_RANGE
