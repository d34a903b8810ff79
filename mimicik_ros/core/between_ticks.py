"""Commands between two ticks, at the driver's rate: where the joints are to be now, on the way to what the ticks ask for.

The tick decides; this only moves on smoothly. A tick's step becomes an even change of velocity over one tick, so the joints
are late by one and a half ticks (`BetweenTicks.lag_s`) and pass the corners of the tick's path on a quadratic B-spline. Above
the speed that the acceleration limit can stop within that lag, the lag grows, for all joints alike, to what a stop takes.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from mimicik_ros.core import limits as joint_limits
from mimicik_ros.core.limits import JointLimits
from mimicik_ros.core.types import Array

_ARRIVED_RAD = 1e-6  # nearer than this and as slow, a joint takes the command itself, to the bit
_GRACE = 2.0  # periods that a tick may be late before it counts as the last command repeated


@dataclass(frozen=True)
class StreamState:
    """What is remembered from one command to the next.

    Attributes:
        q, velocity_rad_s: (n,) of the last command that was sent, rad and rad/s.
        asked: (3, n) rad, the last three commands of the ticks, newest last.
        due_s: when the newest of them was due.
    """

    q: Array
    velocity_rad_s: Array
    asked: Array
    due_s: float

    @property
    def at_rest(self) -> bool:
        """Whether the joints stand exactly at the newest command."""
        return bool(np.all(self.q == self.asked[-1]) and not self.velocity_rad_s.any())


class BetweenTicks:
    """Steps of one period on the way to the tick's commands, whatever the timing of either.

    Each step keeps the velocity limit and changes the velocity by no more than the acceleration limit allows. The joints stay
    in the range of the commands that were asked for, and within the last three of them as far as they can still stop there:
    a joint whose commands go one way never passes the newest. Where the ticks repeat a command or stay away, the joints come
    to rest at it, to the bit.

    Args:
        limits: of the ticks; velocity and acceleration hold here too, its dt_s is the tick's period.
        period_s: time between two steps, at most a tick.
    """

    def __init__(self, limits: JointLimits, period_s: float) -> None:
        self._limits = dataclasses.replace(limits, dt_s=period_s)
        self._tick_s, self._period_s = limits.dt_s, period_s
        self._least_s = 0.5 * limits.dt_s
        # The last step to the command and the stop after it are within the limits themselves.
        within = 0.5 * period_s * np.minimum(limits.velocity, limits.acceleration * period_s)
        self._arrived_rad = np.minimum(_ARRIVED_RAD, within)

    def start(self, q: Array, due_s: float) -> StreamState:
        """At rest at q (n,) rad."""
        return StreamState(q, np.zeros_like(q), np.array([q, q, q]), due_s)

    def ask(self, state: StreamState, q_command: Array, due_s: float) -> StreamState:
        """A tick asks for q_command (n,) rad; due_s is when it was due, on the clock of `step`."""
        return dataclasses.replace(state, asked=np.array([*state.asked[1:], q_command]), due_s=due_s)

    def step(self, state: StreamState, now_s: float) -> StreamState:
        """The next command, one period after the last one in the driver's eyes."""
        q, velocity, hull = state.q, state.velocity_rad_s, state.asked
        bounds = dataclasses.replace(self._limits, lower=hull.min(axis=0), upper=hull.max(axis=0))
        low, high = joint_limits.velocity_interval(q, velocity, bounds)
        after = q + np.clip(self._wanted(state, now_s), low, high) * self._period_s
        slow = np.abs(velocity) * self._period_s < self._arrived_rad
        after = np.where(slow & (np.abs(hull[-1] - q) < self._arrived_rad), hull[-1], after)
        return dataclasses.replace(state, q=after, velocity_rad_s=(after - q) / self._period_s)

    def lag_s(self, speed_rad_s: Array) -> float:
        """How long after a tick its command is reached, for steady joint speeds (n,) rad/s."""
        stop_s = float(np.max(np.abs(speed_rad_s) / (2.0 * self._limits.acceleration)))
        return self._tick_s + max(self._least_s, stop_s + 0.5 * self._period_s)

    def _wanted(self, state: StreamState, now_s: float) -> Array:
        """Velocity (n,) rad/s on the even way to the one with which the next tick is met."""
        since_s = max(0.0, now_s - state.due_s)
        late_s = since_s - self._tick_s
        if 0.0 <= late_s < _GRACE * self._period_s:
            return state.velocity_rad_s
        left_s = self._tick_s - math.fmod(since_s, self._tick_s)
        # The last velocity was the mean of the last period, so it lies span = left + 1.5 periods before the next tick. From
        # there it goes evenly to v', and what is then missing to the newest command is v' lag:
        # way = v (span - period / 2) + (v' - v) (span^2 - period^2 / 4) / (2 span) + v' lag.
        period_s, v = self._period_s, state.velocity_rad_s
        span_s = left_s + 1.5 * period_s
        even_s = 0.5 * (span_s - 0.25 * period_s * period_s / span_s)
        way = state.asked[-1] - state.q - (span_s - 0.5 * period_s - even_s) * v
        end = way / (even_s + self._end_lag_s(way, even_s))
        end *= min(1.0, 1.0 / float(np.max(np.abs(end) / self._limits.velocity, initial=1e-12)))
        planned: Array = v + (end - v) * (period_s / span_s)
        return planned

    def _end_lag_s(self, way: Array, even_s: float) -> float:
        """Lag at the next tick, common to all joints: for v' = way / (even + lag) at least the time of a stop, v' / 2 A."""
        half_s = 0.5 * self._period_s  # a stop in steps of a period takes that much longer
        most = float(np.max(np.abs(way) / (2.0 * self._limits.acceleration)))
        base_s = even_s + half_s
        return max(self._least_s, 0.5 * (math.sqrt(base_s * base_s + 4.0 * most) - base_s) + half_s)
