"""A stand-in for a policy: publishes a stream of poses as targets, at its own pace, stamped when sent."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from std_srvs.srv import SetBool

from mimicik_ros.core.types import Array
from mimicik_ros.ros import conversions


class TargetSource(Node):
    """Publishes the first pose until `start`, then the stream, forth and back for ever.

    Args:
        t_s: (k,) times, position_m (k, 3) m, quat_xyzw (k, 4): the stream.
        frame: frame_id of the targets.
        node_name: node that is addressed, in this node's namespace.
        rate_hz: targets per second, interpolated between the stream's rows.
        kwargs: passed to rclpy's Node.
    """

    def __init__(self, t_s: Array, position_m: Array, quat_xyzw: Array, frame: str, node_name: str = "mimicik",
                 rate_hz: float = 20.0, **kwargs: Any) -> None:
        super().__init__("target_source", **kwargs)
        flips = np.cumprod(np.where((quat_xyzw[1:] * quat_xyzw[:-1]).sum(axis=1) < 0.0, -1.0, 1.0))
        self._t, self._position = t_s - t_s[0], position_m
        self._quat = np.concatenate([quat_xyzw[:1], quat_xyzw[1:] * flips[:, None]])
        self._frame, self._begin = frame, None  # type: str, float | None
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._publisher = self.create_publisher(PoseStamped, f"{node_name}/target_pose", 1)
        self._client = self.create_client(SetBool, f"{node_name}/enable")
        self._timer = self.create_timer(1.0 / rate_hz, self._send, clock=self._steady)
        self._want_enabled = False

    def request_enable(self) -> None:
        """Call ~/enable as soon as the service is there."""
        self._want_enabled = True

    def start(self) -> None:
        """Begin the stream now."""
        self._begin = self._steady.now().nanoseconds * 1e-9

    def _send(self) -> None:
        if self._want_enabled and self._client.service_is_ready():
            self._want_enabled = False
            self._client.call_async(SetBool.Request(data=True))
        elapsed = 0.0 if self._begin is None else self._steady.now().nanoseconds * 1e-9 - self._begin
        length = float(self._t[-1])
        turned = elapsed % (2.0 * length) if length > 0.0 else 0.0
        t = min(turned, 2.0 * length - turned)
        position = np.array([np.interp(t, self._t, column) for column in self._position.T])
        quat = np.array([np.interp(t, self._t, column) for column in self._quat.T])
        stamp = self.get_clock().now().to_msg()
        self._publisher.publish(conversions.target_message(position, quat / np.linalg.norm(quat), self._frame, stamp))
