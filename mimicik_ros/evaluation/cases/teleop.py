"""Human motion that no training saw: held-out VR episodes and a hand-held rig where the data is there, else our own motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array, Flags
from mimicik_ros.evaluation.cases.case import Case
from mimicik_ros.evaluation.cases.follow import follow, leading, longest
from mimicik_ros.evaluation.motion import human_motion
from mimicik_ros.evaluation.streams import Stream, read_stream

SYNTHETIC = "synthetic"  # begins the names of our own motion
HELD_OUT_FROM = 56  # VR episodes g1_056 and later, a fifth of them; only earlier ones may be trained on
SEGMENT_S, SHORTEST_S, GAP_S = 15.0, 2.0, 0.25
LARGEST_RADIUS_M = 0.2  # larger motion (a walking person's) is scaled down to this
SCALE_VR = 0.8
FASTEST_RAD_S, HARDEST_RAD_S2 = 1.57, 10.0  # of the reference: the limits as shipped; singular motion has a suite of its own
EASE_S = 0.5  # the motion swells in
ENOUGH, TRIES = 0.8, 6  # places are tried until this share of a motion can be followed


def teleop(kinematics: Kinematics, rng: np.random.Generator, count: int, period_s: float, data: Path | None) -> list[Case]:
    """About `count` cases: half VR, half hand-held segments where `data` (a folder with vr_teleop/ and handheld/) is there.

    A segment that the arm can follow nowhere is left out.
    """
    sources = _segments_of(data, period_s, rng, count) if data else []
    if not sources:
        return [synthetic(kinematics, rng, i, period_s) for i in range(count)]
    placed = [_placed(kinematics, name, stream, rng, period_s) for name, stream in sources]
    return [case for case in placed if case is not None]


def synthetic(kinematics: Kinematics, rng: np.random.Generator, index: int, period_s: float) -> Case:
    """Our own human-like motion (reaches, pauses, faint tremor) at a random place where the arm can follow it."""
    while True:
        stream = human_motion(np.eye(4), SEGMENT_S, period_s, int(rng.integers(2**31)))
        case = _placed(kinematics, f"{SYNTHETIC}_{index:03d}", stream, rng, period_s)
        if case is not None:
            return case


def recorded(case: Case) -> bool:
    """Whether a case is recorded human motion, and not our own."""
    return case.suite == "teleop" and not case.name.startswith(SYNTHETIC)


def held_out(path: Path) -> bool:
    """Whether a VR file (g1_NNN_side.csv) is kept from training."""
    parts = path.stem.split("_")
    return len(parts) > 1 and parts[1].isdigit() and int(parts[1]) >= HELD_OUT_FROM


def _segments_of(data: Path, period_s: float, rng: np.random.Generator, count: int) -> list[tuple[str, Stream]]:
    vr = [(p.stem, s) for p in sorted((data / "vr_teleop").glob("*.csv")) if held_out(p) for s in segments(p, period_s, SCALE_VR)]
    hand = [(p.stem, s) for p in sorted((data / "handheld").glob("*.csv")) for s in segments(p, period_s, 1.0)]
    chosen = []
    for group in (vr, hand):
        size = min(len(group), (count + 1) // 2)
        chosen += [(f"{group[i][0]}_{i:03d}", group[i][1]) for i in sorted(rng.choice(len(group), size, replace=False))]
    return chosen


def segments(path: Path, period_s: float, scale: float) -> list[Stream]:
    """A recorded stream at the period, cut at gaps and into SEGMENT_S, relative to its first pose, scaled to fit an arm."""
    stream = read_stream(path)
    cuts = np.flatnonzero(np.diff(stream.t_s) > GAP_S) + 1
    found = []
    for rows in np.split(np.arange(len(stream.t_s)), cuts):
        t, p, quat = stream.t_s[rows], stream.position_m[rows], stream.quat_xyzw[rows]
        signs = np.cumprod(np.concatenate([[1.0], np.where((quat[1:] * quat[:-1]).sum(1) < 0, -1.0, 1.0)]))
        grid = np.arange(t[0], t[-1], period_s)
        columns = [np.interp(grid, t, c) for c in (*p.T, *(quat * signs[:, None]).T)]
        for start in range(0, len(grid), int(SEGMENT_S / period_s)):
            part = slice(start, start + int(SEGMENT_S / period_s))
            if len(grid[part]) * period_s < SHORTEST_S:
                continue
            position = np.stack(columns[:3], 1)[part]
            radius = float(np.linalg.norm(position - position[0], axis=1).max())
            shrink = min(scale, LARGEST_RADIUS_M / max(radius, 1e-9))
            cut = Stream(grid[part] - grid[part][0], position, np.stack(columns[3:], 1)[part])
            found.append(cut.placed(np.eye(4), shrink))
    return found


def _eased(stream: Stream) -> Stream:
    """A motion away from the identity that swells in over EASE_S."""
    s = np.clip(stream.t_s / EASE_S, 0.0, 1.0)[:, None]
    swell = s * s * (3.0 - 2.0 * s)
    turn = se3.rotation_log(stream.poses[:, :3, :3])
    return Stream(stream.t_s, swell * stream.position_m, se3.quat_from_rotation(se3.rotation_exp(swell * turn)))


def _placed(kinematics: Kinematics, name: str, stream: Stream, rng: np.random.Generator, period_s: float) -> Case | None:
    """The motion turned about the vertical, begun at a random configuration; its longest part that can be followed, or None."""
    best = slice(0, 0)
    for _ in range(TRIES):
        yaw = se3.rotation_exp(np.array([0.0, 0.0, rng.uniform(-np.pi, np.pi)]))
        turned = Stream(stream.t_s, stream.position_m @ yaw.T, se3.quat_from_rotation(yaw @ stream.poses[:, :3, :3] @ yaw.T))
        q = _home(kinematics, rng)
        poses = _begun_at(kinematics.fk(q), turned)
        path, met = follow(kinematics, poses, q)
        part = longest(met & _within_limits(path, period_s))
        if part.stop - part.start > best.stop - best.start:
            best, kept, start = part, poses[part], path[part.start]
        if best.stop - best.start > ENOUGH * len(met):
            break
    if (best.stop - best.start) * period_s < SHORTEST_S:
        return None
    away = Stream.of_poses(se3.pose(kept[:, :3, :3] @ kept[0, :3, :3].T, kept[:, :3, 3] - kept[0, :3, 3]), period_s)
    poses = _begun_at(kept[0], _eased(away))  # a part begins in mid-motion, an arm at rest
    path, met = follow(kinematics, poses, start)
    rows = leading(met & _within_limits(path, period_s))
    if rows * period_s < SHORTEST_S:
        return None
    return Case("teleop", name, Stream.of_poses(poses[:rows], period_s), path[0], path[:rows], np.ones(rows, dtype=bool))


def _begun_at(T_start: Array, away: Stream) -> Array:
    """Poses (k, 4, 4) of a motion away from the identity, begun at T_start (4, 4)."""
    T = away.poses
    return se3.pose(T[:, :3, :3] @ T_start[:3, :3], T_start[:3, 3] + T[:, :3, 3])


def _within_limits(path: Array, period_s: float) -> Flags:
    """Rows (k,) of a joint path (k, n) rad that need no more than FASTEST_RAD_S and HARDEST_RAD_S2."""
    steps = np.diff(path, axis=0, prepend=path[:1])
    changes = np.diff(steps, axis=0, prepend=np.zeros((1, path.shape[1])))
    slow: Flags = np.abs(steps).max(axis=1) <= FASTEST_RAD_S * period_s
    calm: Flags = np.abs(changes).max(axis=1) <= HARDEST_RAD_S2 * period_s**2
    return slow & calm


def _home(kinematics: Kinematics, rng: np.random.Generator) -> Array:
    """The best conditioned of eight configurations in the inner 70 % of the range: where a person would begin."""
    centre, half = (kinematics.lower + kinematics.upper) / 2, 0.35 * (kinematics.upper - kinematics.lower)
    drawn = rng.uniform(centre - half, centre + half, (8, kinematics.n))
    best: Array = drawn[int(np.argmax([kinematics.sigma_min(q) for q in drawn]))]
    return best
