"""Many configurations brought onto many poses at once: damped least squares inside the limits, in numpy."""

from __future__ import annotations

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array

DAMPING = 0.03
REACHED_M, REACHED_RAD = 1e-5, 1e-4
DONE = 1e-7  # m and rad: no further iteration


def follow(kinematics: Kinematics, q: Array, T_target: Array, iterations: int) -> tuple[Array, np.ndarray]:
    """Damped least squares (Nakamura & Hanafusa 1986; damping by error: Sugihara 2011) from q (B, n) to T_target (B, 4, 4).

    Returns:
        Joints (B, n) rad inside the limits, and whether each is within REACHED_M and REACHED_RAD of its pose.
    """
    q = q.copy()
    rows = np.arange(len(q))
    for _ in range(iterations):
        error, J = error_and_jacobian(kinematics, q[rows], T_target[rows])
        open_ = np.abs(error).max(axis=1) > DONE
        rows, error, J = rows[open_], error[open_], J[open_]
        if not len(rows):
            break
        damping = DAMPING**2 * np.minimum(1.0, 10.0 * np.linalg.norm(error, axis=1))
        A = J @ np.swapaxes(J, 1, 2) + damping[:, None, None] * np.eye(6)
        step = (np.swapaxes(J, 1, 2) @ np.linalg.solve(A, error[..., None]))[..., 0]
        q[rows] = np.clip(q[rows] + step, kinematics.lower, kinematics.upper)
    error, _ = error_and_jacobian(kinematics, q, T_target)
    return q, (np.linalg.norm(error[:, :3], axis=1) < REACHED_M) & (np.linalg.norm(error[:, 3:], axis=1) < REACHED_RAD)


def error_and_jacobian(kinematics: Kinematics, q: Array, T_target: Array) -> tuple[Array, Array]:
    """Pose error (B, 6) and geometric Jacobian (B, 6, n) in the base frame, linear (m) above angular (rad)."""
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
    T = T @ table.tool
    turn = se3.rotation_log(T_target[:, :3, :3] @ np.swapaxes(T[:, :3, :3], 1, 2))
    error = np.concatenate([T_target[:, :3, 3] - T[:, :3, 3], turn], axis=1)
    columns = [
        np.concatenate([a, 0 * a] if table.prismatic[i] else [np.cross(a, T[:, :3, 3] - o), a], axis=1)
        for i, (o, a) in enumerate(zip(origins, axes, strict=True))
    ]
    return error, np.stack(columns, axis=2)
