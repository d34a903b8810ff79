"""ros2_control's joint trajectory controller on its topic, position interface: what it refuses, and how it interpolates."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from mimicik_ros.core.types import Array
from mimicik_ros.ros.conversions import seconds
from mimicik_ros.ros.driver_model import DriverModel

_FLOAT_EPSILON = float(np.finfo(np.float32).eps)


def refusal(message: JointTrajectory, names: list[str], now_s: float, end_velocity: bool) -> str | None:
    """Why the controller refuses a message at ROS time now_s, or None.

    Args:
        message: as received.
        names: the controller's joints.
        now_s: ROS time.
        end_velocity: its allow_nonzero_velocity_at_trajectory_end.
    """
    given, points = list(message.joint_names), message.points
    if len(given) != len(names) or any(name not in names for name in given):
        return f"joints {', '.join(given)} are not exactly the controller's: {', '.join(names)}"
    if not points:
        return "no points"
    if not end_velocity and np.any(np.abs(points[-1].velocities) > _FLOAT_EPSILON):
        return "velocity of the last point is not zero (allow_nonzero_velocity_at_trajectory_end is false)"
    after = [_after_s(point) for point in points]
    start = seconds(message.header.stamp)
    if start != 0.0 and start + after[-1] < now_s:
        return "it ends in the past"
    if np.any(np.diff(after) <= 0.0):
        return "time_from_start does not increase strictly"
    for point in points:
        if len(point.positions) != len(given) or len(point.velocities) not in (0, len(given)):
            return f"{len(given)} joints but {len(point.positions)} positions and {len(point.velocities)} velocities"
        if point.effort:
            return "effort without an effort interface"
        if not np.all(np.isfinite([*point.positions, *point.velocities])):
            return "a value is not finite"  # ours: the controller does not look
    return None


@dataclass(frozen=True)
class _Knot:
    time_s: float
    q: Array
    velocity: Array | None  # None: linear on both sides


class TrajectoryRules:
    """Each message replaces the trajectory before it; between points cubic with velocities, linear without.

    Args:
        model: the arm; joints after its n-th name (a gripper) are taken and forgotten.
        names: the controller's joints, the arm's first.
        end_velocity: allow_nonzero_velocity_at_trajectory_end.
        from_desired: interpolate_from_desired_state; otherwise a new trajectory starts from the measured joints.
        tolerance_rad: constraints.<joint>.trajectory of every joint, 0 = none. Judged at the first sample and until the last
            point: beyond it the trajectory is dropped and the measured joints are held.
    """

    def __init__(self, model: DriverModel, names: list[str], end_velocity: bool = False, from_desired: bool = False,
                 tolerance_rad: float = 0.0) -> None:
        self._model, self._names = model, names
        self._end_velocity, self._from_desired, self._tolerance_rad = end_velocity, from_desired, tolerance_rad
        self._new: JointTrajectory | None = None
        self._knots: list[_Knot] = []
        self._last: _Knot | None = None
        self.aborted = 0

    def take(self, message: JointTrajectory, now_s: float) -> str | None:
        """Take a trajectory at ROS time now_s. Returns None, or why it is refused (the last one goes on)."""
        reason = refusal(message, self._names, now_s, self._end_velocity)
        if reason is None:
            self._new = message
        return reason

    def advance(self, now_s: float) -> None:
        """Put the set-point where the trajectory is at ROS time now_s, unless the arm is too far from there."""
        first = self._new is not None
        if self._new is not None:
            self._start(self._new, now_s)
            self._new = None
        if not self._knots:
            return
        desired = _sample(self._knots, now_s)
        error = np.abs(desired.q - self._model.q_measured)
        under_way = now_s < self._knots[-1].time_s
        if self._tolerance_rad and (first or under_way) and np.any(error > self._tolerance_rad):
            self.aborted += 1
            desired = _Knot(now_s, self._model.q_measured, np.zeros(self._model.n))
            self._knots = []
        self._last = desired
        self._model.command(desired.q, np.full(self._model.n, np.inf))

    def _start(self, message: JointTrajectory, now_s: float) -> None:
        n = self._model.n
        order = [list(message.joint_names).index(name) for name in self._names[:n]]
        start = self._last if self._from_desired else None
        begin = start or _Knot(now_s, self._model.q_measured, np.zeros(n))
        zero_s = seconds(message.header.stamp) or now_s
        self._knots = [begin]
        for point in message.points:
            velocity = np.array(point.velocities)[order] if point.velocities else None
            self._knots.append(_Knot(zero_s + _after_s(point), np.array(point.positions)[order], velocity))


def _sample(knots: list[_Knot], now_s: float) -> _Knot:
    """The trajectory at now_s; before its first knot that one, after its last that one at rest."""
    for a, b in itertools.pairwise(knots):
        if now_s < b.time_s:
            span_s = b.time_s - a.time_s
            u = min(1.0, max(0.0, (now_s - a.time_s) / span_s))
            if a.velocity is None or b.velocity is None:
                return _Knot(now_s, a.q + u * (b.q - a.q), (b.q - a.q) / span_s)
            return _cubic(a, b, u, now_s)
    return _Knot(now_s, knots[-1].q, np.zeros_like(knots[-1].q))


def _cubic(a: _Knot, b: _Knot, u: float, now_s: float) -> _Knot:
    """Hermite cubic from a to b at u in [0, 1]."""
    assert a.velocity is not None and b.velocity is not None
    span_s, way = b.time_s - a.time_s, b.q - a.q
    c2 = 3.0 * way - span_s * (2.0 * a.velocity + b.velocity)
    c3 = span_s * (a.velocity + b.velocity) - 2.0 * way
    q = a.q + u * (span_s * a.velocity + u * (c2 + u * c3))
    return _Knot(now_s, q, a.velocity + u * (2.0 * c2 + 3.0 * u * c3) / span_s)


def _after_s(point: object) -> float:
    duration = point.time_from_start  # type: ignore[attr-defined]
    return float(duration.sec) + 1e-9 * float(duration.nanosec)
