"""joint_command between the ticks: a steady timer at output.command_rate_hz, from the same process."""

from __future__ import annotations

import math

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node

from mimicik_ros.config import Config
from mimicik_ros.core.between_ticks import BetweenTicks, StreamState
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.limits import JointLimits
from mimicik_ros.core.types import Array
from mimicik_ros.ros.ports import Ports

_ANCHOR_RAD = 1e-9


class CommandStream:
    """Takes the place of `Ports.send` for the commands of the ticks, unless output.command_rate_hz is 0.

    Nothing is sent that the ticks do not ask for: when they fall silent, the joints come to rest at the last command and this
    falls silent too. Where a tick starts anew from the measured joints, so does this.

    Args:
        node: owner of the timer.
        config: rates.
        kinematics: for the position limits.
        ports: where commands go.
        first_due_s: steady time of the first tick; the others lie on its grid.
    """

    def __init__(self, node: Node, config: Config, kinematics: Kinematics, ports: Ports, first_due_s: float) -> None:
        self._node, self._ports = node, ports
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._tick_s, self._period_s, self._first_due_s = config.dt_s, config.command_period_s, first_due_s
        self._state: StreamState | None = None
        self._taken_s = -math.inf
        self._timer = None
        if config.output.command_rate_hz:
            self._between = BetweenTicks(JointLimits.from_config(config, kinematics), self._period_s)
            self._ports.deliver = self.take
            self._timer = node.create_timer(self._period_s, self._on_timer, clock=self._steady)

    @property
    def silent(self) -> bool:
        """Whether nothing is under way and nothing is sent."""
        return self._state is None

    def take(self, q: Array, velocity: Array, _time: Time) -> None:
        """A tick asks for joints (n,) rad, a step of velocity (n,) rad/s from the joints that it started from."""
        now_s = self._now_s()
        due_s = self._first_due_s + self._tick_s * math.floor((now_s - self._first_due_s) / self._tick_s)
        anchor = q - velocity * self._tick_s
        if self._state is None or np.max(np.abs(anchor - self._state.asked[-1])) > _ANCHOR_RAD:
            self._state = self._between.start(anchor, due_s)
        self._state = self._between.ask(self._state, q, due_s)
        self._taken_s = now_s

    def wait(self, seconds: float) -> None:
        """Sleep, and send meanwhile what is to be sent; for callers that keep the executor from its timers."""
        if self._timer is None:
            self._steady.sleep_for(Duration(seconds=seconds))
            return
        end_s = self._now_s() + seconds
        while self._now_s() < end_s - 0.5 * self._period_s:
            self._steady.sleep_for(Duration(seconds=self._period_s))
            self._on_timer()

    def close(self) -> None:
        """Come to rest at the last command, and give `Ports.send` its place back."""
        if self._timer is None:
            return
        for _ in range(math.ceil(1.0 / self._period_s)):
            if self._state is None or self._state.at_rest:
                break
            self.wait(self._period_s)
        self._node.destroy_timer(self._timer)
        self._ports.deliver, self._state, self._timer = self._ports.send, None, None

    def _on_timer(self) -> None:
        if self._state is None:
            return
        now_s = self._now_s()
        if self._state.at_rest and now_s - self._taken_s > 1.5 * self._tick_s:
            self._state = None  # the ticks are silent
            return
        self._state = self._between.step(self._state, now_s)
        self._ports.send(self._state.q, self._state.velocity_rad_s, self._node.get_clock().now().to_msg())

    def _now_s(self) -> float:
        return float(self._steady.now().nanoseconds) * 1e-9
