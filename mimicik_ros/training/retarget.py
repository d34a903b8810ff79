"""Human end-effector streams turned into joint-space steps for one arm: placed, followed by damped steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.errors import StreamError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array

ITERATIONS = 6
DAMPING = 0.03
REACHED_M, REACHED_RAD = 1e-4, 1e-3
PLACEMENTS = 4  # seeded placements of every stream: home, axes and scale
SCALE = (0.5, 1.0)


def retarget(kinematics: Kinematics, folder: Path, period_s: float, max_step_rad: float, seed: int) -> tuple[Array, Array]:
    """Joint steps of all streams below a folder: (q, delta_q), each (k, n) rad; empty where it holds no stream.

    Each stream (CSV: t,x,y,z,qx,qy,qz,qw) is resampled to the period, taken relative to its first pose, scaled, turned and
    placed at well-conditioned random configurations, and followed by damped least squares from there.

    Raises:
        StreamError: a file is no table of eight numbers a row.
    """
    streams = [_resampled(path, period_s) for path in sorted(folder.rglob("*.csv"))]
    rng = np.random.default_rng(seed)
    q_parts, step_parts = [np.zeros((0, kinematics.n))], [np.zeros((0, kinematics.n))]
    for length, group in _by_length(streams).items():
        poses = np.repeat(np.stack(group), PLACEMENTS, axis=0)
        q = _homes(kinematics, rng, len(poses))
        targets = _placed(kinematics, poses, q, rng)
        alive = np.ones(len(q), dtype=bool)
        for i in range(1, length):
            q_next, reached = follow(kinematics, q, targets[:, i])
            step = q_next - q
            good = reached & (np.abs(step).max(axis=1) <= max_step_rad)
            q_parts.append(q[alive & good])
            step_parts.append(step[alive & good])
            alive &= good | (rng.random(len(q)) < 0.5)  # a stream beyond reach is soon given up
            q = np.where(good[:, None], q_next, q)
            if not alive.any():
                break
    return np.concatenate(q_parts), np.concatenate(step_parts)


def follow(kinematics: Kinematics, q: Array, T_target: Array) -> tuple[Array, np.ndarray]:
    """Damped least squares (Nakamura & Hanafusa 1986) from q (B, n) to T_target (B, 4, 4), inside the limits.

    Returns:
        Joints (B, n) and whether each is within REACHED_M and REACHED_RAD.
    """
    for _ in range(ITERATIONS):
        error = _error(kinematics, q, T_target)
        J = _jacobian(kinematics, q)
        A = J @ np.swapaxes(J, 1, 2) + DAMPING**2 * np.minimum(1.0, 10 * np.linalg.norm(error, axis=1))[:, None, None] * np.eye(6)
        step = (np.swapaxes(J, 1, 2) @ np.linalg.solve(A, error[..., None]))[..., 0]
        q = np.clip(q + step, kinematics.lower, kinematics.upper)
    error = _error(kinematics, q, T_target)
    return q, (np.linalg.norm(error[:, :3], axis=1) < REACHED_M) & (np.linalg.norm(error[:, 3:], axis=1) < REACHED_RAD)


def _error(kinematics: Kinematics, q: Array, T_target: Array) -> Array:
    """Pose error in the base frame (B, 6): metres then radians."""
    T = kinematics.fk_batch(q)
    turn = se3.rotation_log(T_target[:, :3, :3] @ np.swapaxes(T[:, :3, :3], 1, 2))
    return np.concatenate([T_target[:, :3, 3] - T[:, :3, 3], turn], axis=1)


def _jacobian(kinematics: Kinematics, q: Array) -> Array:
    """Geometric Jacobian in the base frame (B, 6, n), linear rows above angular rows, from the joint table."""
    table = kinematics.table
    T = np.broadcast_to(np.eye(4), (len(q), 4, 4))
    origins, axes = [], []
    for i in range(kinematics.n):
        w = table.axes[i] * q[:, i : i + 1]
        T = T @ table.placements[i]
        origins.append(T[:, :3, 3])
        axes.append(T[:, :3, :3] @ table.axes[i])
        slide = table.prismatic[i]
        T = T @ se3.pose(np.broadcast_to(np.eye(3), (len(q), 3, 3)) if slide else se3.rotation_exp(w), w if slide else 0 * w)
    tip = (T @ table.tool)[:, :3, 3]
    columns = [
        np.concatenate([a, 0 * a] if table.prismatic[i] else [np.cross(a, tip - o), a], axis=1)
        for i, (o, a) in enumerate(zip(origins, axes, strict=True))
    ]
    return np.stack(columns, axis=2)


def _homes(kinematics: Kinematics, rng: np.random.Generator, size: int) -> Array:
    """Random configurations in the inner 80 % of the range, the better-conditioned half of those drawn."""
    centre, half = (kinematics.lower + kinematics.upper) / 2, 0.4 * (kinematics.upper - kinematics.lower)
    q = rng.uniform(centre - half, centre + half, (2 * size, kinematics.n))
    smallest = np.linalg.svd(_jacobian(kinematics, q), compute_uv=False)[:, -1]
    return q[np.argsort(-smallest)[:size]]


def _placed(kinematics: Kinematics, poses: Array, q: Array, rng: np.random.Generator) -> Array:
    """Streams (B, k, 4, 4) relative to their first pose, scaled and turned, at the tool poses of q: (B, k, 4, 4)."""
    relative = se3.inverse(poses[:, :1]) @ poses
    turn = se3.rotation_exp(rng.standard_normal((len(q), 3)))[:, None]
    scale = rng.uniform(*SCALE, (len(q), 1, 1))
    back = np.swapaxes(turn, -1, -2)
    moved = se3.pose(turn @ relative[..., :3, :3] @ back, scale * (turn @ relative[..., :3, 3:])[..., 0])
    return kinematics.fk_batch(q)[:, None] @ moved


def _resampled(path: Path, period_s: float) -> Array:
    """Poses (k, 4, 4) of a CSV stream at the period; positions linear, quaternions linear and normalised."""
    try:
        rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    except ValueError as error:
        raise StreamError(f"{path}: {error}; expected the columns t,x,y,z,qx,qy,qz,qw") from error
    if rows.shape[1] != 8 or len(rows) < 2 or not np.isfinite(rows).all():
        raise StreamError(f"{path}: expected at least two finite rows of t,x,y,z,qx,qy,qz,qw, got shape {rows.shape}")
    t = np.arange(rows[0, 0], rows[-1, 0], period_s)
    quat = rows[:, 4:].copy()
    flips = np.cumprod(np.where((quat[1:] * quat[:-1]).sum(1) < 0, -1.0, 1.0))
    quat[1:] *= flips[:, None]
    columns = [np.interp(t, rows[:, 0], c) for c in (*rows[:, 1:4].T, *quat.T)]
    return se3.pose_from_quat(np.stack(columns[:3], 1), np.stack(columns[3:], 1))


def _by_length(streams: list[Array]) -> dict[int, list[Array]]:
    """Streams cut to multiples of 100 poses (at most 300), grouped, so that equal ones are followed side by side."""
    groups: dict[int, list[Array]] = {}
    for stream in streams:
        length = min(300, len(stream) // 100 * 100) or len(stream)
        groups.setdefault(length, []).append(stream[:length])
    return groups
