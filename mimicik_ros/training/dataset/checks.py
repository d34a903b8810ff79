"""Every check that an episode passes through: what is wrong, in which rows, and what can be kept."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.training.dataset.recording import Fault, Recording
from mimicik_ros.training.dataset.resample import continuous

LIMIT_SLACK_RAD = 0.05  # a joint is measured so far outside its limits at times
FAR_RAD = 0.5  # outside by more than this, a value may be in another unit
NORM_SLACK = 0.1  # a quaternion whose norm is further from 1 is none
GAP_PERIODS = 3.5  # a longer time without a row ends a piece
LEAST_S = 0.5  # shorter pieces are not kept
SLOWEST_S = 0.5  # rows further apart hold no motion that could be learned: their stamps are in another unit
LATEST_S = 1e11  # a stamp of the year 5000


@dataclass(frozen=True)
class Rules:
    """What an episode is held against.

    Attributes:
        kinematics: the robot.
        period_s: of the dataset.
        max_speed_rad_s: no joint is faster; a faster step is a jump, and a command further ahead than 0.25 s of it is none.
    """

    kinematics: Kinematics
    period_s: float
    max_speed_rad_s: float


def judge(recording: Recording, rules: Rules) -> tuple[list[Recording], list[Fault]]:
    """The good pieces of a recording, and everything that is wrong with it.

    A fault of the whole episode (unreadable, degrees) leaves no piece. Otherwise bad rows are taken out, and what is left is
    cut at gaps and jumps; pieces shorter than LEAST_S are not kept.
    """
    faults = list(recording.faults)
    k = len(recording.t_s)
    if not k or any(f.rows is None for f in faults):
        return [], faults or [Fault("empty", "no rows")]
    good = np.ones(k, dtype=bool)

    def found(kind: str, rows: np.ndarray, text: str) -> None:
        if (rows & good).any():
            first = int(np.flatnonzero(rows & good)[0])
            faults.append(Fault(kind, f"{text} in {int((rows & good).sum())} of {k} rows, first in row {first}", rows))
            good[rows] = False

    for fault in faults:
        good[fault.rows] = False
    found("non-finite", ~_finite(recording), "NaN, infinite or missing")
    slow = too_slow(recording.t_s[good])
    if slow:
        return [], [*faults, Fault("stamps", slow)]
    found("stamps", np.abs(recording.t_s) > LATEST_S, "a stamp beyond the year 5000")
    unit = [f for name, q in _joints(recording) if (f := _in_degrees(name, q[good], rules.kinematics))]
    if unit:
        return [], faults + unit
    for name, q in _joints(recording):
        low, high = rules.kinematics.lower - LIMIT_SLACK_RAD, rules.kinematics.upper + LIMIT_SLACK_RAD
        outside = (q < low) | (q > high)
        joints = [j for j, bad in zip(rules.kinematics.joint_names, outside[good].any(axis=0), strict=True) if bad]
        found("limits", outside.any(axis=1), f"{name} of {', '.join(joints)} outside the limits")
    if recording.quat_xyzw is not None:
        norm = np.linalg.norm(recording.quat_xyzw, axis=1)
        found("quaternion", np.abs(norm - 1.0) > NORM_SLACK, "a quaternion of another norm than 1")
    if recording.q_command is not None:
        lead = np.abs(recording.q_command - recording.q).max(axis=1)
        found("step", lead > 0.25 * rules.max_speed_rad_s, "a command too far from the joints")
    found("stamps", _not_after(recording.t_s, good), "a stamp that is not after those before it")
    pieces = _pieces(recording.taken(np.flatnonzero(good)), rules, faults)
    if not pieces and not faults:
        faults.append(Fault("short", f"shorter than {LEAST_S:g} s"))
    return pieces, faults


def fk_offset_m(recording: Recording, kinematics: Kinematics) -> float:
    """Median distance (m) of FK from the tool positions recorded with it; NaN where there are none.

    Measured joints are compared with measured poses, or else commands with targets: a constant offset is another tool or base.
    """
    q, position = recording.q, recording.measured_position_m
    if position is None:
        q, position = recording.q_command, recording.position_m
    if q is None or position is None or not len(q):
        return float("nan")
    return float(np.median(np.linalg.norm(kinematics.fk_batch(q)[:, :3, 3] - position, axis=1)))


def too_slow(t_s: Array) -> str:
    """What is wrong where stamps (k,) are seldom less than SLOWEST_S apart, as those in ms or ns are; else empty."""
    with np.errstate(over="ignore"):
        steps = np.diff(t_s)
    steps = steps[steps > 0.0]
    usual = float(np.median(steps)) if len(steps) else 0.0
    if usual <= SLOWEST_S:
        return ""
    return f"a row every {usual:.4g} s (median), more than {SLOWEST_S:g} s: stamps in ms or ns? Give seconds"


def _finite(recording: Recording) -> np.ndarray:
    values = [recording.t_s[:, None], recording.q, recording.q_command, recording.position_m, recording.quat_xyzw]
    return np.all([np.isfinite(v).all(axis=1) for v in values if v is not None], axis=0)


def _joints(recording: Recording) -> list[tuple[str, Array]]:
    named = [("measured position", recording.q), ("command", recording.q_command)]
    return [(name, q) for name, q in named if q is not None]


def _in_degrees(name: str, q: Array, kinematics: Kinematics) -> Fault | None:
    """Values far outside the limits that lie inside them when taken for degrees; prismatic joints are left out."""
    turning = ~kinematics.table.prismatic
    low, high, q = kinematics.lower[turning], kinematics.upper[turning], q[:, turning]
    if not len(q):
        return None
    far = ((q < low - FAR_RAD) | (q > high + FAR_RAD)).any(axis=1).mean()
    radians = np.deg2rad(q)
    inside = ((radians > low - LIMIT_SLACK_RAD) & (radians < high + LIMIT_SLACK_RAD)).all(axis=1).mean()
    if far < 0.05 or inside < 0.99:
        return None
    return Fault("degrees", f"{name} looks like degrees (up to {np.abs(q).max():.4g}); convert on purpose with --degrees")


def _not_after(t_s: Array, good: np.ndarray) -> np.ndarray:
    """Rows whose stamp is not later than every good one before."""
    t = np.where(good, t_s, -np.inf)
    before = np.concatenate([[-np.inf], np.maximum.accumulate(t)[:-1]])
    return good & (t_s <= before)


def _pieces(recording: Recording, rules: Rules, faults: list[Fault]) -> list[Recording]:
    """Runs of rows without a gap or a jump, long enough to keep; quaternions made unit and continuous in sign."""
    t_s, q = recording.t_s, recording.q
    if len(t_s) < 2:
        return []
    steps = np.diff(t_s)
    usual = float(np.median(steps))
    gap = steps > GAP_PERIODS * max(usual, rules.period_s)
    jump = ~gap & (np.abs(np.diff(q, axis=0)).max(axis=1) > rules.max_speed_rad_s * np.maximum(steps, usual))
    if recording.q_command is not None:
        jump |= ~gap & (np.abs(np.diff(recording.q_command, axis=0)).max(axis=1)
                        > 2.0 * rules.max_speed_rad_s * np.maximum(steps, usual))
    if gap.any():
        faults.append(Fault("gap", f"{int(gap.sum())} gaps, the longest {steps.max():.4g} s", np.zeros(0, dtype=bool)))
    if jump.any():
        speed = float((np.abs(np.diff(q, axis=0)).max(axis=1) / np.maximum(steps, usual))[jump].max())
        faults.append(Fault("step", f"{int(jump.sum())} jumps, a joint at up to {speed:.3g} rad/s", np.zeros(0, dtype=bool)))
    edges = [0, *(np.flatnonzero(gap | jump) + 1), len(t_s)]
    runs = [recording.taken(np.arange(a, b)) for a, b in pairwise(edges)]
    return [_unit(r) for r in runs if len(r.t_s) > 1 and r.t_s[-1] - r.t_s[0] >= LEAST_S]


def _unit(recording: Recording) -> Recording:
    quat = recording.quat_xyzw
    if quat is None:
        return recording
    return dataclasses.replace(recording, quat_xyzw=continuous(quat))
