"""When the arm may move: WAITING, READY, ENGAGING, TRACKING, HOMING, HOLDING, FAULT, and the anchor of the next command."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mimicik_ros.config import EngageConfig
from mimicik_ros.core.freshness import Judgement
from mimicik_ros.core.limits import JointLimits
from mimicik_ros.core.status import Mode, Status
from mimicik_ros.core.types import Array, Residual, ServoState, TickInput

FIRST_SPEED = 0.1  # of the full speed, at the start of the ramp
# Holds that only ~/enable ends; then the engagement gate applies.
BY_INTENT = (Status.DISABLED, Status.HELD_BY_REQUEST, Status.HOMING, Status.AT_HOME)


@dataclass(frozen=True)
class Engagement:
    """The state after the decision, why there is no motion (None = move), the governor's speed, and a fresh anchor or not."""

    state: ServoState
    stop: Status | None
    speed_scale: float = 0.0
    anchored: bool = False


def step(state: ServoState, tick_input: TickInput, judgement: Judgement, distance: Callable[[Array], Residual],
         limits: JointLimits, config: EngageConfig) -> Engagement:
    """Decide the mode of this tick.

    Args:
        state: after the last tick.
        tick_input: the input.
        judgement: of the inputs.
        distance: from the tool pose at joints (n,) to the target; called only where the target is usable.
        limits: position limits, into which an anchor is put.
        config: gates and ramp.
    """
    q = tick_input.joints.q
    state = after_pause(state, tick_input.steady_s, config.max_pause_s)
    if state.mode is Mode.FAULT:
        return _in_fault(state, tick_input, judgement)
    if judgement.joints is not None:
        return _stop(state, judgement.joints, Mode.WAITING)
    if state.q_ref is not None and np.abs(state.q_ref - q).max() > config.max_tracking_error_rad:
        hold = np.clip(q, limits.lower, limits.upper)
        fault = dataclasses.replace(state, mode=Mode.FAULT, hold_status=Status.TRACKING_FAULT, q_hold=hold, engage_start_s=None)
        return Engagement(fault, Status.TRACKING_FAULT)
    if tick_input.hold_request:
        return _stop(state, Status.HELD_BY_REQUEST, Mode.READY)
    if not tick_input.enable:
        return _stop(state, Status.DISABLED, Mode.READY)
    if tick_input.home_request:
        return _home(state, tick_input, limits, config)
    if judgement.target is not None:
        return _stop(state, judgement.target, Mode.WAITING)
    if state.mode in (Mode.TRACKING, Mode.ENGAGING):
        return _ramp(state, tick_input.steady_s, config, anchored=False)
    if not _near_enough(state, tick_input, distance, config):
        return _stop(state, Status.TARGET_TOO_FAR, Mode.READY)
    return _engage(state, tick_input, limits, config)


def after_pause(state: ServoState, steady_s: float, max_pause_s: float) -> ServoState:
    """Forget the anchor after a pause or a jump of the clock: the arm may have been moved meanwhile."""
    last = state.last_steady_s
    if last is not None and not 0.0 <= steady_s - last <= max_pause_s:
        state = without_anchor(state)
    return dataclasses.replace(state, last_steady_s=steady_s)


def without_anchor(state: ServoState) -> ServoState:
    """The state once no command is in force any more. An arm that has moved stays HOLDING: it resumes like after any loss.

    A fault stays a fault, and says nothing more to the arm.
    """
    mode = Mode.FAULT if state.mode is Mode.FAULT else Mode.HOLDING
    moved = state.q_ref is not None or state.mode in (Mode.HOLDING, Mode.FAULT)
    return ServoState(mode=mode if moved else Mode.WAITING, last_steady_s=state.last_steady_s,
                      hold_status=state.hold_status, consecutive_failures=state.consecutive_failures)


def _in_fault(state: ServoState, tick_input: TickInput, judgement: Judgement) -> Engagement:
    status = state.hold_status or Status.TRACKING_FAULT
    if tick_input.reset_request and judgement.joints is None:
        return Engagement(ServoState(mode=Mode.READY, last_steady_s=tick_input.steady_s), Status.DISABLED)
    return Engagement(state, status)


def _stop(state: ServoState, status: Status, before: Mode) -> Engagement:
    """No motion: HOLDING where something has been commanded, else `before`. The first loss is remembered, not the latest."""
    if state.q_ref is None and state.mode is not Mode.HOLDING:
        return Engagement(dataclasses.replace(state, mode=before, hold_status=status), status)
    reason = status
    if state.mode is Mode.HOLDING and status is Status.TARGET_TOO_FAR and state.hold_status is not None:
        reason = state.hold_status  # being too far to resume does not change why it holds
    holding = dataclasses.replace(state, mode=Mode.HOLDING, hold_status=reason, engage_start_s=None)
    return Engagement(holding, status)


def _near_enough(state: ServoState, tick_input: TickInput, distance: Callable[[Array], Residual], config: EngageConfig) -> bool:
    """The gate: by intent within max_distance, by itself after a lost input within resume_distance."""
    lost_input = state.mode is Mode.HOLDING and state.hold_status not in BY_INTENT and not tick_input.enable_request
    gap = distance(tick_input.joints.q if state.q_ref is None else state.q_ref)
    reach = config.resume_distance_m if lost_input else config.max_distance_m
    return gap.position_m <= reach and gap.rotation_rad <= config.max_angle_rad


def _engage(state: ServoState, tick_input: TickInput, limits: JointLimits, config: EngageConfig) -> Engagement:
    """Anchor on the last command where there is one, else (activation, pause, reset) on the measured joints.

    A command that is in force is never replaced by the measured joints: an arm lags behind it, and that would be a jump.
    The tick leads it back to within max_first_step of the measured joints as fast as the limits allow.
    """
    anchored = _anchored(state, tick_input, limits, config)
    if anchored is None:
        return _stop(state, Status.JOINTS_OUT_OF_RANGE, Mode.READY)
    engaged = dataclasses.replace(anchored, mode=Mode.ENGAGING, hold_status=None, engage_start_s=tick_input.steady_s, q_hold=None)
    return _ramp(engaged, tick_input.steady_s, config, anchored=True)


def _home(state: ServoState, tick_input: TickInput, limits: JointLimits, config: EngageConfig) -> Engagement:
    """On the way home, from the last command or from the measured joints; no target is asked for."""
    anchored = _anchored(state, tick_input, limits, config)
    if anchored is None:
        return _stop(state, Status.JOINTS_OUT_OF_RANGE, Mode.READY)
    fresh = state.q_ref is None
    homing = dataclasses.replace(anchored, mode=Mode.HOMING, hold_status=Status.HOMING, engage_start_s=None, q_hold=None,
                                 target_motion=None)
    return Engagement(homing, Status.HOMING, anchored=fresh)


def _anchored(state: ServoState, tick_input: TickInput, limits: JointLimits, config: EngageConfig) -> ServoState | None:
    """The state with a command in force: its own, or the measured joints; None where the way inside would be a jump."""
    if state.q_ref is not None and state.velocity_rad_s is not None:
        return state
    q = tick_input.joints.q
    anchor = np.clip(q, limits.lower, limits.upper)
    if np.abs(anchor - q).max() > config.max_first_step_rad:
        return None
    return dataclasses.replace(state, q_ref=anchor, velocity_rad_s=np.zeros_like(q))


def _ramp(state: ServoState, steady_s: float, config: EngageConfig, anchored: bool) -> Engagement:
    start = state.engage_start_s
    progress = 1.0 if start is None or config.ramp_s <= 0.0 else min(1.0, max(0.0, (steady_s - start) / config.ramp_s))
    mode = Mode.TRACKING if progress >= 1.0 else Mode.ENGAGING
    scale = FIRST_SPEED + (1.0 - FIRST_SPEED) * progress
    return Engagement(dataclasses.replace(state, mode=mode), None, scale, anchored)
