"""ROS messages to core values and back. Nothing is judged here: a bad target passes unchanged and the core says why."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, TwistStamped

from mimicik_ros.core import se3
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
    linear = T_wanted[:3, 3] - T_actual[:3, 3]
    angular = se3.rotation_log(T_wanted[:3, :3] @ T_actual[:3, :3].T)
    out.twist.linear.x, out.twist.linear.y, out.twist.linear.z = (float(v) for v in linear)
    out.twist.angular.x, out.twist.angular.y, out.twist.angular.z = (float(v) for v in angular)
    return out


def residual_of(message: TwistStamped) -> Residual:
    """Norms of a residual message."""
    v, w = message.twist.linear, message.twist.angular
    return Residual(float(np.linalg.norm([v.x, v.y, v.z])), float(np.linalg.norm([w.x, w.y, w.z])))
