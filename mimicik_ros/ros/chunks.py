"""Timed chunks of poses as nav_msgs/Path, the message of ~/target_path."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path
from rclpy.time import Time

from mimicik_ros.core.types import Array


class ChunkError(Exception):
    """The poses are no chunk, or come too late to be one; nothing must be sent."""


def path_message(poses: Array, frame_id: str, seen_ns: int, start_ns: int, period_ns: int, now_ns: int) -> Path:
    """Poses as a chunk with a stamp on each; the header tells when the policy saw what they answer.

    Args:
        poses: (n, 7) rows x y z qx qy qz qw: metres and a quaternion of any norm above 1e-3, in frame_id.
        frame_id: frame of the poses.
        seen_ns: time of the observation, on the ROS clock.
        start_ns: when the first pose is due, on the ROS clock.
        period_ns: from each pose to the next.
        now_ns: the ROS clock.

    Raises:
        ChunkError: wrong shape, NaN or infinite, a quaternion without direction, or the last pose is past.
    """
    if poses.ndim != 2 or poses.shape[1] != 7 or not len(poses):
        raise ChunkError(f"a chunk has the shape (n, 7), x y z qx qy qz qw, got {poses.shape}")
    if not np.isfinite(poses).all():
        row = int(np.argmin(np.isfinite(poses).all(axis=1)))
        raise ChunkError(f"pose {row} of {len(poses)} has a value that is not finite")
    norms = np.linalg.norm(poses[:, 3:], axis=1)
    if norms.min() < 1e-3:
        raise ChunkError(f"pose {int(norms.argmin())} of {len(poses)} has a quaternion of norm {norms.min():.2g}")
    late_s = 1e-9 * (now_ns - start_ns - (len(poses) - 1) * period_ns)
    if late_s > 0.0:
        raise ChunkError(f"the chunk ended {late_s:.2f} s before it was there; a faster policy or a longer chunk is needed")
    path = Path()
    path.header.frame_id, path.header.stamp = frame_id, Time(nanoseconds=seen_ns).to_msg()
    unit = np.hstack([poses[:, :3], poses[:, 3:] / norms[:, None]])
    for i, row in enumerate(unit.tolist()):
        pose = PoseStamped()
        pose.header.frame_id, pose.header.stamp = frame_id, Time(nanoseconds=start_ns + i * period_ns).to_msg()
        p, q = pose.pose.position, pose.pose.orientation
        p.x, p.y, p.z, q.x, q.y, q.z, q.w = row
        path.poses.append(pose)
    return path
