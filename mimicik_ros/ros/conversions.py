"""ROS messages to core values and back. Nothing is judged here: a bad target passes unchanged and the core says why."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Path

from mimicik_ros.core import se3
from mimicik_ros.core.status import Status
from mimicik_ros.core.target_inputs import PathSample, TwistSample
from mimicik_ros.core.types import Array, Residual, TargetSample


def seconds(stamp: Time) -> float:
    """Stamp as seconds."""
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)


def stamp(time_s: float) -> Time:
    """Seconds (>= 0) as a stamp."""
    nanoseconds = round(time_s * 1e9)
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def target_sample(message: PoseStamped, receipt_s: float) -> TargetSample:
    """The pose exactly as received; receipt_s is on the steady clock."""
    p, r = message.pose.position, message.pose.orientation
    return TargetSample(
        np.array([p.x, p.y, p.z]), np.array([r.x, r.y, r.z, r.w]), message.header.frame_id,
        seconds(message.header.stamp), receipt_s,
    )


def path_sample(message: Path, receipt_s: float, receipt_ros_s: float) -> PathSample:
    """The path exactly as received. Its frame is the header's; poses that name another one are a fault."""
    poses = [pose.pose for pose in message.poses]
    frame = message.header.frame_id
    others = sorted({pose.header.frame_id for pose in message.poses} - {"", frame})
    return PathSample(
        np.array([[p.position.x, p.position.y, p.position.z] for p in poses]).reshape(-1, 3),
        np.array([[p.orientation.x, p.orientation.y, p.orientation.z, p.orientation.w] for p in poses]).reshape(-1, 4),
        np.array([seconds(pose.header.stamp) for pose in message.poses]), frame, seconds(message.header.stamp),
        receipt_s, receipt_ros_s, Status.BAD_FRAME if others else None,
        f"poses in '{others[0]}', path in '{frame}'" if others else "",
    )


def twist_sample(message: TwistStamped, receipt_s: float) -> TwistSample:
    """The twist exactly as received."""
    v, w = message.twist.linear, message.twist.angular
    velocity = np.array([v.x, v.y, v.z, w.x, w.y, w.z])
    return TwistSample(velocity, message.header.frame_id, seconds(message.header.stamp), receipt_s)


def pose_message(T_base_tool: Array, frame_id: str, time: Time) -> PoseStamped:
    """Pose (4, 4) in frame_id as a message with a unit quaternion, w >= 0."""
    out = PoseStamped()
    out.header.stamp, out.header.frame_id = time, frame_id
    p, r = out.pose.position, out.pose.orientation
    p.x, p.y, p.z = (float(v) for v in T_base_tool[:3, 3])
    r.x, r.y, r.z, r.w = (float(v) for v in se3.quat_from_rotation(T_base_tool[:3, :3]))
    return out


def target_message(position_m: Array, quat_xyzw: Array, frame_id: str, time: Time) -> PoseStamped:
    """Target from position (3,) m and quaternion (4,) xyzw as they are."""
    out = PoseStamped()
    out.header.stamp, out.header.frame_id = time, frame_id
    p, r = out.pose.position, out.pose.orientation
    p.x, p.y, p.z = (float(v) for v in position_m)
    r.x, r.y, r.z, r.w = (float(v) for v in quat_xyzw)
    return out


def residual_message(T_actual: Array, T_wanted: Array, frame_id: str, time: Time) -> TwistStamped:
    """What is missing from T_actual to T_wanted (4, 4), in the base frame: linear m, angular rotation vector rad."""
    out = TwistStamped()
    out.header.stamp, out.header.frame_id = time, frame_id
    v, w = out.twist.linear, out.twist.angular
    v.x, v.y, v.z, w.x, w.y, w.z = (float(value) for value in se3.difference(T_wanted, T_actual))
    return out


def residual_of(message: TwistStamped) -> Residual:
    """Norms of a residual message."""
    v, w = message.twist.linear, message.twist.angular
    return Residual(float(np.linalg.norm([v.x, v.y, v.z])), float(np.linalg.norm([w.x, w.y, w.z])))
