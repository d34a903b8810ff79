"""A servo in closed loop on an ideal arm: the measured joints are the last command."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from mimicik_ros.config import Config
from mimicik_ros.core import se3
from mimicik_ros.core.servo import IKServo
from mimicik_ros.core.status import Status
from mimicik_ros.core.types import Array, JointSnapshot, TargetSample, TickInput
from mimicik_ros.evaluation.streams import Stream

CLOCK_S = 1.0  # stream time 0 on the clocks: a stamp of 0 means "none"
GOOD = (Status.OK, Status.REACHED)


@dataclass(frozen=True)
class Rollout:
    """One tick a target: commands (k, n) rad, wall time of the tick (k,) ms, `ok` or the status name."""

    q: Array
    latency_ms: Array
    status: list[str]


def without_gates(config: Config) -> Config:
    """The configuration with engagement out of the way: no ramp, no distance gates, no lead bound (an ideal arm has none)."""
    engage = dataclasses.replace(config.engage, ramp_s=0.0, max_distance_m=10.0, max_angle_rad=3.2, max_first_step_rad=1.0,
                                 resume_distance_m=10.0)
    servo = dataclasses.replace(config.servo, max_lead_rad=0.0)
    return dataclasses.replace(config, engage=engage, servo=servo)


def without_step_guard(config: Config) -> Config:
    """The configuration with the guard against branch jumps opened as far as the velocity limits go, for baselines.

    The guard protects an arm from its solver; what a solver does by itself is what a baseline has to show.
    """
    fastest = max(config.robot.velocity_limits_rad_s) * config.dt_s
    servo = dataclasses.replace(config.servo, max_joint_step_rad=max(config.servo.max_joint_step_rad, fastest))
    return dataclasses.replace(config, servo=servo)


def rollout(servo: IKServo, stream: Stream, q_init: Array) -> Rollout:
    """Follow a stream from q_init (n,) rad, one tick a row, ticks at the servo's period.

    Ticks have their own clock: a gap between rows is a pause of the source, after which the next row is a target like any
    other; the arm stands meanwhile.
    """
    servo.reset()
    base = servo.kinematics.base_frame
    q = np.asarray(q_init, dtype=float)
    commands, latency, status = [], [], []
    for i in range(len(stream.t_s)):
        now = CLOCK_S + i * servo.config.dt_s
        stamps = np.full(len(q), now)
        target = TargetSample(stream.position_m[i], stream.quat_xyzw[i], base, now, now)
        result = servo.tick(TickInput(now, now, JointSnapshot(q, stamps, stamps), target))
        if result.q_command is not None:
            q = result.q_command
        commands.append(q)
        latency.append(result.timings.total_ms)
        status.append("ok" if result.status in GOOD else result.status.label)
    return Rollout(np.array(commands), np.array(latency), status)


def settle(servo: IKServo, T_target: Array, q_init: Array, ticks: int) -> Array:
    """Joints (n,) rad after following one resting pose (4, 4) from q_init (n,) rad for some ticks."""
    position = np.repeat(T_target[None, :3, 3], ticks, axis=0)
    quat = np.repeat(se3.quat_from_rotation(T_target[:3, :3])[None], ticks, axis=0)
    q: Array = rollout(servo, Stream(servo.config.dt_s * np.arange(ticks), position, quat), q_init).q[-1]
    return q
