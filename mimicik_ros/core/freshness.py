"""Whether the inputs of a tick can be used: ages, stamps, finite values, quaternion and frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mimicik_ros.config import FreshnessConfig
from mimicik_ros.core import se3
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.status import Status
from mimicik_ros.core.types import Ages, Array, JointSnapshot, TargetSample, TickInput

SMALLEST_NORM = 1e-3  # of a quaternion
LARGEST_POSITION_M = 100.0  # beyond this a target is a unit error or worse
OUT_OF_RANGE_RAD = 0.1  # joints further outside their limits than this are not the robot of the URDF


@dataclass(frozen=True)
class Judgement:
    """Status of each input (None = usable), what was wrong, the target pose in the base frame, and the ages."""

    joints: Status | None
    target: Status | None
    T_base_target: Array | None
    ages: Ages
    detail: str


def judge(tick_input: TickInput, config: FreshnessConfig, kinematics: Kinematics, base_frame_id: str = "") -> Judgement:
    """Judge both inputs of a tick. Age = the worse of stamp age (ROS clock) and receipt age (steady clock).

    base_frame_id is the base frame's name in messages where that is not its name in the URDF.
    """
    joints_status, joints_age, joints_detail = _joints(tick_input, config, kinematics)
    target_status, target_age, target_detail = _target(tick_input, config, base_frame_id or kinematics.base_frame)
    target = tick_input.target
    T, offset = None, None
    if target is not None:
        if target.stamp_s != 0.0:
            offset = (tick_input.now_s - (tick_input.steady_s - target.receipt_s)) - target.stamp_s
        if target_status is None:
            T = se3.pose_from_quat(target.position_m, target.quat_xyzw)
    details = "; ".join(text for text in (joints_detail, target_detail) if text)
    return Judgement(joints_status, target_status, T, Ages(joints_age, target_age, offset), details)


def _joints(tick_input: TickInput, config: FreshnessConfig, kinematics: Kinematics) -> tuple[Status | None, float | None, str]:
    joints: JointSnapshot = tick_input.joints
    names = kinematics.joint_names
    missing = np.isnan(joints.receipt_s)
    if missing.any():
        return Status.WAITING_FOR_JOINTS, None, f"never received: {_named(names, missing)}"
    bad = ~np.isfinite(joints.q)
    if bad.any():
        return Status.NON_FINITE, None, f"position of {_named(names, bad)}"
    stamped = joints.stamp_s != 0.0
    if not stamped.all() and not config.accept_zero_stamp:
        return Status.NO_STAMP, None, "joint_states with stamp 0"
    if not np.isfinite(joints.stamp_s).all():
        return Status.NON_FINITE, None, "stamp of joint_states"
    stamp_ages = np.where(stamped, tick_input.now_s - joints.stamp_s, 0.0)
    ages = np.maximum(stamp_ages, tick_input.steady_s - joints.receipt_s)
    age = float(ages.max())
    early = stamp_ages < -config.future_tolerance_s
    if early.any():
        return Status.STAMP_IN_FUTURE, age, f"joint_states {-stamp_ages.min():.3f} s ahead"
    stale = ~(ages <= config.joints_timeout_s)  # an age of NaN is stale
    if stale.any():
        return Status.STALE_JOINTS, age, f"{_named(names, stale)}: {age:.3f} s"
    outside = (joints.q < kinematics.lower - OUT_OF_RANGE_RAD) | (joints.q > kinematics.upper + OUT_OF_RANGE_RAD)
    if outside.any():
        return Status.JOINTS_OUT_OF_RANGE, age, _named(names, outside)
    return None, age, ""


def _target(tick_input: TickInput, config: FreshnessConfig, base_frame: str) -> tuple[Status | None, float | None, str]:
    target: TargetSample | None = tick_input.target
    if target is None:
        return Status.WAITING_FOR_TARGET, None, ""
    if target.fault is not None:
        return target.fault, tick_input.steady_s - target.receipt_s, target.detail
    if target.frame_id != base_frame and not (target.frame_id == "" and config.assume_base_frame):
        return Status.BAD_FRAME, None, f"got '{target.frame_id}', expected '{base_frame}'"
    if not np.isfinite(target.stamp_s):
        return Status.NON_FINITE, None, "target stamp"
    fault = pose_fault(target.position_m, target.quat_xyzw)
    if fault is not None:
        return fault[0], None, fault[1]
    if target.stamp_s == 0.0 and not config.accept_zero_stamp:
        return Status.NO_STAMP, None, "target with stamp 0"
    stamp_age = tick_input.now_s - target.stamp_s if target.stamp_s != 0.0 else 0.0
    age = float(np.maximum(stamp_age, tick_input.steady_s - target.receipt_s))
    if stamp_age < -config.future_tolerance_s:
        return Status.STAMP_IN_FUTURE, age, f"target {-stamp_age:.3f} s ahead"
    if not age <= config.target_timeout_s:  # an age of NaN is stale
        return Status.STALE_TARGET, age, f"{age:.3f} s"
    return None, age, ""


def pose_fault(position_m: Array, quat_xyzw: Array) -> tuple[Status, str] | None:
    """What is wrong with positions (..., 3) m and quaternions (..., 4), any of them; None when each is a pose."""
    if not np.isfinite(position_m).all():
        return Status.NON_FINITE, "target"
    if np.abs(position_m).max() > LARGEST_POSITION_M:
        return Status.OUT_OF_WORLD, f"{np.abs(position_m).max():.3g} m"
    norm = np.linalg.norm(quat_xyzw, axis=-1)
    least = float(norm.min())  # NaN where any is NaN
    if not np.isfinite(norm).all() or least < SMALLEST_NORM:
        return Status.BAD_QUATERNION, f"norm {least:.3g}"
    return None


def _named(names: tuple[str, ...], which: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> str:
    return ", ".join(name for name, flag in zip(names, which, strict=True) if flag)
