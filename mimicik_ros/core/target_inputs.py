"""What the target topics have said since the last tick, unchecked, but by tf in the base frame where need be."""

from __future__ import annotations

from dataclasses import dataclass

from mimicik_ros.core.status import Status
from mimicik_ros.core.types import Array, TargetSample


@dataclass(frozen=True)
class PathSample:
    """A path of k poses: a policy's action chunk.

    Attributes:
        position_m: (k, 3) in frame_id.
        quat_xyzw: (k, 4), any norm.
        pose_stamps_s: (k,) stamps of the poses on the ROS clock; where all are equal they have none of their own.
        frame_id: frame name of the path's header.
        stamp_s: stamp of the path's header on the ROS clock (0 = none given).
        receipt_s, receipt_ros_s: receipt on the steady clock and on the ROS clock.
        fault: what was found wrong before (no transform); detail says more.
    """

    position_m: Array
    quat_xyzw: Array
    pose_stamps_s: Array
    frame_id: str
    stamp_s: float
    receipt_s: float
    receipt_ros_s: float
    fault: Status | None = None
    detail: str = ""


@dataclass(frozen=True)
class TwistSample:
    """A velocity of the tool as received: linear of its origin (m/s), then angular (rad/s), along the axes of frame_id.

    The other attributes are those of PathSample.
    """

    velocity: Array  # (6,)
    frame_id: str
    stamp_s: float
    receipt_s: float
    fault: Status | None = None
    detail: str = ""


@dataclass(frozen=True)
class TargetInputs:
    """Everything new since the last tick: the poses in order of receipt, the newest path, the newest twist."""

    poses: tuple[TargetSample, ...] = ()
    path: PathSample | None = None
    twist: TwistSample | None = None


@dataclass(frozen=True)
class Moment:
    """One tick as the target side sees it.

    Attributes:
        now_s, steady_s: ROS clock and steady clock.
        T_base_tool: (4, 4) pose of the last command, of the measured joints where none is in force, None where unknown.
        engaged: whether the arm follows its target.
    """

    now_s: float
    steady_s: float
    T_base_tool: Array | None
    engaged: bool
