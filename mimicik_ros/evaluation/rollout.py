"""A servo in closed loop on an ideal arm: the measured joints are the last command."""

from __future__ import annotations

import dataclasses
import math
import time
from dataclasses import dataclass

import numpy as np

from mimicik_ros.config import Config
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.servo import IKServo
from mimicik_ros.core.status import Status
from mimicik_ros.core.types import Array, JointSnapshot, TargetSample, TickInput
from mimicik_ros.evaluation.streams import Stream

CLOCK_S = 1.0  # stream time 0 on the clocks: a stamp of 0 means "none"
GOOD = (Status.OK, Status.REACHED)
UNCLAMPED_RAD_S = 100.0  # the largest limit that the configuration allows: 5 rad a tick at 20 Hz


@dataclass(frozen=True)
class Rollout:
    """One tick a target.

    Attributes:
        q: (k, n) rad, the command in force.
        latency_ms: (k,) wall time of the tick.
        status: `ok` or the status name.
        solver_ms: (k,) wall time of the solver's call within the tick.
        cpu_s: CPU time of this process over all ticks, every thread counted.
    """

    q: Array
    latency_ms: Array
    status: list[str]
    solver_ms: Array
    cpu_s: float


def without_gates(config: Config) -> Config:
    """The configuration with engagement out of the way: no ramp, no distance gates, no lead bound (an ideal arm has none)."""
    engage = dataclasses.replace(config.engage, ramp_s=0.0, max_distance_m=10.0, max_angle_rad=3.2, max_first_step_rad=1.0,
                                 resume_distance_m=10.0)
    servo = dataclasses.replace(config.servo, max_lead_rad=0.0)
    return dataclasses.replace(config, engage=engage, servo=servo)


def with_velocity_limit(config: Config, limit_rad_s: float) -> Config:
    """The configuration with one velocity limit for every joint and no acceleration limit.

    Raises:
        ConfigError: the limit lies outside (0, 100] rad/s.
    """
    if not 0.0 < limit_rad_s <= UNCLAMPED_RAD_S:
        raise ConfigError(f"--velocity-limit: must lie in (0, {UNCLAMPED_RAD_S:g}] rad/s, got {limit_rad_s:g}")
    n = len(config.robot.joint_names)
    robot = dataclasses.replace(config.robot, velocity_limits_rad_s=(limit_rad_s,) * n,
                                acceleration_limits_rad_s2=(math.inf,) * n)
    return dataclasses.replace(config, robot=robot)


def without_step_guard(config: Config) -> Config:
    """The configuration with the guard against branch jumps opened as far as the velocity limits go, for classical solvers.

    The guard protects an arm from its solver; what a solver does by itself is what a comparison has to show.
    """
    fastest = max(config.robot.velocity_limits_rad_s) * config.dt_s
    servo = dataclasses.replace(config.servo, max_joint_step_rad=max(config.servo.max_joint_step_rad, fastest))
    return dataclasses.replace(config, servo=servo)


def rollout(servo: IKServo, stream: Stream, q_init: Array, reference: Array | None = None) -> Rollout:
    """Follow a stream from q_init (n,) rad, one tick a row, ticks at the servo's period.

    Ticks have their own clock: a gap between rows is a pause of the source, after which the next row is a target like any
    other; the arm stands meanwhile.

    Args:
        servo: it is reset first.
        stream: k targets.
        q_init: (n,) rad, joints at rest before the first target.
        reference: (k, n) rad, a joint path that follows the stream. Given, the loop is open (teacher-forced): each tick
            starts from the reference of the row before, at the reference's velocity, whatever was commanded there.
    """
    servo.reset()
    base, dt_s = servo.kinematics.base_frame, servo.config.dt_s
    q = before = np.asarray(q_init, dtype=float)
    commands, latency, solving, status, cpu_s = [], [], [], [], 0.0
    for i in range(len(stream.t_s)):
        if reference is not None and i > 0:
            q, before = reference[i - 1], q
            servo.state = dataclasses.replace(servo.state, q_ref=q, velocity_rad_s=(q - before) / dt_s)
        now = CLOCK_S + i * dt_s
        stamps = np.full(len(q), now)
        target = TargetSample(stream.position_m[i], stream.quat_xyzw[i], base, now, now)
        tick_input = TickInput(now, now, JointSnapshot(q, stamps, stamps), target)
        start = time.process_time()
        result = servo.tick(tick_input)
        cpu_s += time.process_time() - start
        command = q if result.q_command is None else result.q_command
        if reference is None:
            q = command
        commands.append(command)
        latency.append(result.timings.total_ms)
        solving.append(result.timings.policy_ms + result.timings.refine_ms)
        status.append("ok" if result.status in GOOD else result.status.label)
    return Rollout(np.array(commands), np.array(latency), status, np.array(solving), cpu_s)


def settle(servo: IKServo, T_target: Array, q_init: Array, ticks: int) -> Array:
    """Joints (n,) rad after following one resting pose (4, 4) from q_init (n,) rad for some ticks."""
    stream = Stream.of_poses(np.repeat(T_target[None], ticks, axis=0), servo.config.dt_s)
    q: Array = rollout(servo, stream, q_init).q[-1]
    return q
