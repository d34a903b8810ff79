"""Targets in any tf frame, into the base frame: the latest transform, without ever waiting for one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time

from mimicik_ros.core import se3
from mimicik_ros.core.freshness import pose_fault
from mimicik_ros.core.status import Status
from mimicik_ros.core.target_inputs import PathSample, TwistSample
from mimicik_ros.core.types import Array, TargetSample

MISSING = "tf2_ros is not installed (apt install ros-jazzy-tf2-ros, or rosdep)"


class TfBuffer:
    """tf2_ros' buffer, fed from /tf and /tf_static through node's own executor. Raises ImportError without tf2_ros."""

    def __init__(self, node: Node) -> None:
        import tf2_ros

        self._buffer = tf2_ros.Buffer(node=node)
        self._listener = tf2_ros.TransformListener(self._buffer, node, spin_thread=False)

    def lookup_transform(self, target_frame: str, source_frame: str, time: Time, timeout: Duration) -> Any:
        """As tf2_ros' own: geometry_msgs/TransformStamped, or one of its exceptions."""
        return self._buffer.lookup_transform(target_frame, source_frame, time, timeout)

    def close(self) -> None:
        """Listen no longer."""
        self._listener.unregister()


class Frames:
    """Transforms samples into the base frame; what cannot be transformed gets the fault NO_TRANSFORM with both names.

    An empty frame and the base frame itself pass unchanged: the core judges them.

    Args:
        base_frame, tool_frame: of the robot.
        make_buffer: makes the TfBuffer; called when the first other frame comes, so that a node whose targets are all in the
            base frame does not listen to tf.
    """

    def __init__(self, base_frame: str, tool_frame: str, make_buffer: Callable[[], Any]) -> None:
        self._base, self._tool, self._make = base_frame, tool_frame, make_buffer
        self._buffer: Any = None
        self._missing = False

    @staticmethod
    def missing() -> tuple[str, ...]:
        """What to say while configuring where tf2_ros is not installed; nothing where it is."""
        try:
            import tf2_ros  # noqa: F401
        except ImportError:
            return (f"targets must be in the base frame: {MISSING}; any other frame_id is a no_transform",)
        return ()

    def close(self) -> None:
        """Let the buffer go."""
        if self._buffer is not None:
            self._buffer.close()
        self._buffer = None

    def pose(self, sample: TargetSample) -> TargetSample:
        """A pose in the base frame."""
        if sample.frame_id in ("", self._base):
            return sample
        T, detail = self._to_base(sample.frame_id)
        if T is None:
            return dataclasses.replace(sample, fault=Status.NO_TRANSFORM, detail=detail)
        position, quat = _moved(T, sample.position_m, sample.quat_xyzw)
        return dataclasses.replace(sample, position_m=position, quat_xyzw=quat, frame_id=self._base)

    def path(self, sample: PathSample) -> PathSample:
        """A path in the base frame, all its poses by one transform."""
        if sample.frame_id in ("", self._base) or sample.fault is not None:
            return sample
        T, detail = self._to_base(sample.frame_id)
        if T is None:
            return dataclasses.replace(sample, fault=Status.NO_TRANSFORM, detail=detail)
        position, quat = _moved(T, sample.position_m, sample.quat_xyzw)
        return dataclasses.replace(sample, position_m=position, quat_xyzw=quat, frame_id=self._base)

    def twist(self, sample: TwistSample) -> TwistSample:
        """A twist along the axes of the base frame; one along the tool's stays as it is: the tool turns meanwhile."""
        if sample.frame_id in ("", self._base, self._tool):
            return sample
        T, detail = self._to_base(sample.frame_id)
        if T is None:
            return dataclasses.replace(sample, fault=Status.NO_TRANSFORM, detail=detail)
        R = T[:3, :3]
        turned = np.concatenate([R @ sample.velocity[:3], R @ sample.velocity[3:]])
        return dataclasses.replace(sample, velocity=turned, frame_id=self._base)

    def _to_base(self, frame: str) -> tuple[Array | None, str]:
        """T_base_frame (4, 4), or None and why."""
        if self._missing:
            return None, f"from '{frame}' to '{self._base}': {MISSING}"
        try:
            if self._buffer is None:
                self._buffer = self._make()
            found = self._buffer.lookup_transform(self._base, frame, Time(), Duration())
        except ImportError:
            self._missing = True
            return None, f"from '{frame}' to '{self._base}': {MISSING}"
        except Exception as error:  # tf2's own classes cannot be named where it is not installed; whatever it is, it is told
            text = (str(error).splitlines() or [""])[0]
            return None, f"from '{frame}' to '{self._base}': {type(error).__name__}: {text}"
        t, r = found.transform.translation, found.transform.rotation
        position, quat = np.array([t.x, t.y, t.z]), np.array([r.x, r.y, r.z, r.w])
        if pose_fault(position, quat) is not None:
            return None, f"from '{frame}' to '{self._base}': tf gave a transform that is none"
        return se3.pose_from_quat(position, quat), ""


def _moved(T: Array, position_m: Array, quat_xyzw: Array) -> tuple[Array, Array]:
    """Positions (..., 3) and quaternions (..., 4) by T (4, 4); what is no pose stays as it is, to be named by the core."""
    if not position_m.size or pose_fault(position_m, quat_xyzw) is not None:
        return position_m, quat_xyzw
    poses = T @ se3.pose_from_quat(position_m, quat_xyzw)
    return poses[..., :3, 3], se3.quat_from_rotation(poses[..., :3, :3])
