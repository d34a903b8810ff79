"""Frozen values that pass through a tick. SI and radians; n is the number of joints; T is 4x4 homogeneous."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimicik_ros.core.status import Mode, Status

Array = NDArray[np.float64]
Float32Array = NDArray[np.float32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class JointSnapshot:
    """Latest position of each joint, in the order of robot.joint_names.

    Attributes:
        q: (n,) rad; NaN where never received.
        stamp_s: (n,) header stamp on the ROS clock; NaN where never received.
        receipt_s: (n,) receipt on the steady clock; NaN where never received.
    """

    q: Array
    stamp_s: Array
    receipt_s: Array

    @classmethod
    def empty(cls, n: int) -> JointSnapshot:
        """A snapshot in which no joint has been received."""
        nan = np.full(n, np.nan)
        return cls(nan, nan, nan)


@dataclass(frozen=True)
class TargetSample:
    """A target pose exactly as received: unchecked.

    Attributes:
        position_m: (3,) in frame_id.
        quat_xyzw: (4,), any norm.
        frame_id: frame name of the header.
        stamp_s: header stamp on the ROS clock (0 = none given).
        receipt_s: receipt on the steady clock.
        fault: why there is no pose to use (no transform, a bad path, a silent twist), found before the tick; detail says more.
    """

    position_m: Array
    quat_xyzw: Array
    frame_id: str
    stamp_s: float
    receipt_s: float
    fault: Status | None = None
    detail: str = ""


@dataclass(frozen=True)
class TickInput:
    """All that a tick may look at. now_s is the ROS clock, steady_s the steady clock.

    enable, hold_request and home_request are levels; enable_request (a fresh call of ~/enable) and reset_request last one tick.
    """

    now_s: float
    steady_s: float
    joints: JointSnapshot
    target: TargetSample | None
    enable: bool = True
    enable_request: bool = False
    hold_request: bool = False
    home_request: bool = False
    reset_request: bool = False


@dataclass(frozen=True)
class Residual:
    """Pose error between FK(q) and a target: Euclidean metres and geodesic radians."""

    position_m: float
    rotation_rad: float


@dataclass(frozen=True)
class Proposal:
    """A joint step asked for by a solver. source is model, refined, fallback or none."""

    delta_q: Array  # (n,) rad
    source: str


@dataclass(frozen=True)
class LimitedStep:
    """A step inside the limits. scale is the one factor applied to every joint (1 = untouched)."""

    q_command: Array  # (n,) rad
    velocity_rad_s: Array  # (n,)
    scale: float


@dataclass(frozen=True)
class Ages:
    """Ages at the tick in seconds, the worse of stamp and receipt; None where nothing was received.

    stamp_offset_s is receipt-time ROS clock minus target stamp (clock offset plus transport).
    """

    joints_s: float | None = None
    target_s: float | None = None
    stamp_offset_s: float | None = None


@dataclass(frozen=True)
class Timings:
    """Wall time of the tick and its stages in milliseconds."""

    total_ms: float = 0.0
    policy_ms: float = 0.0
    refine_ms: float = 0.0


@dataclass(frozen=True)
class TargetMotion:
    """Pose of the latest target (4, 4), its time (stamp, else receipt), and its velocity.

    velocity is (6,) in the base frame: m/s of the target's origin, then rad/s.
    """

    T_base_target: Array
    time_s: float
    velocity: Array


@dataclass(frozen=True)
class ServoState:
    """Everything a tick remembers; replaced, never changed, so a tick can be replayed from a log."""

    mode: Mode = Mode.WAITING
    q_ref: Array | None = None  # (n,) last command, the anchor of the next step
    velocity_rad_s: Array | None = None  # (n,) of the last command
    engage_start_s: float | None = None  # steady clock
    last_steady_s: float | None = None
    hold_status: Status | None = None  # why HOLDING or FAULT was entered
    q_hold: Array | None = None  # (n,) measured joints at a tracking fault, to which the command is led
    target_motion: TargetMotion | None = None
    consecutive_failures: int = 0


@dataclass(frozen=True)
class TickResult:
    """What a tick decided, how good it is, why, and from which solver.

    Attributes:
        q_command: (n,) rad, or None when nothing may be published.
        T_command: 4x4 FK of q_command in the base frame.
        T_governed: 4x4 pose one tick ahead on the way to the target.
        residual: FK(q_command) against T_governed.
        model_residual: FK(q_ref + model delta_q) against T_governed, before refinement and limits.
        target_residual: FK(q_command) against the target itself.
    """

    status: Status
    mode: Mode
    state: ServoState
    q_command: Array | None = None
    velocity_rad_s: Array | None = None
    T_command: Array | None = None
    T_governed: Array | None = None
    residual: Residual | None = None
    model_residual: Residual | None = None
    target_residual: Residual | None = None
    source: str = "none"
    refine_steps: int = 0
    scale: float = 1.0
    sigma_min: float | None = None
    observation_score: float | None = None  # 1 = edge of the training range
    consecutive_failures: int = 0
    ages: Ages = field(default_factory=Ages)
    timings: Timings = field(default_factory=Timings)
    detail: str = ""

    def as_values(self) -> dict[str, Any]:
        """The scalar fields as plain values for a status message or a log."""
        values: dict[str, Any] = {
            "status": self.status.label, "mode": self.mode.value, "source": self.source,
            "scale": self.scale, "refine_steps": self.refine_steps, "sigma_min": self.sigma_min,
            "observation_score": self.observation_score, "consecutive_failures": self.consecutive_failures,
            "joints_age_s": self.ages.joints_s, "target_age_s": self.ages.target_s,
            "stamp_offset_s": self.ages.stamp_offset_s, "tick_ms": self.timings.total_ms,
            "policy_ms": self.timings.policy_ms, "refine_ms": self.timings.refine_ms, "detail": self.detail,
        }
        for name in ("residual", "model_residual", "target_residual"):
            value: Residual | None = getattr(self, name)
            values[f"{name}_m"] = value.position_m if value else None
            values[f"{name}_rad"] = value.rotation_rad if value else None
        return values
