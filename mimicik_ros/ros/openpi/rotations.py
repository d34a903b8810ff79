"""The ways in which policies write a rotation down, to rotation matrices and back, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.types import Array


@dataclass(frozen=True)
class Notation:
    """width values per rotation; matrix (..., width) -> (..., 3, 3) and values the way back; angles: the values are radians."""

    width: int
    matrix: Callable[[Array], Array]
    values: Callable[[Array], Array]
    angles: bool = False


def _from_rpy(rpy: Array) -> Array:
    """Roll, pitch, yaw about the fixed x, y, z axes, in this order (ROS, URDF): Rz(yaw) Ry(pitch) Rx(roll)."""
    x, y, z = (se3.rotation_exp(rpy[..., i, None] * np.eye(3)[i]) for i in range(3))
    R: Array = z @ y @ x
    return R


def _to_rpy(R: Array) -> Array:
    """Pitch in [-pi/2, pi/2]; at its ends roll is not unique and yaw takes all of it."""
    pitch = np.arctan2(-R[..., 2, 0], np.hypot(R[..., 0, 0], R[..., 1, 0]))
    flat = np.hypot(R[..., 0, 0], R[..., 1, 0]) < 1e-9
    roll = np.where(flat, 0.0, np.arctan2(R[..., 2, 1], R[..., 2, 2]))
    yaw = np.where(flat, np.arctan2(-R[..., 0, 1], R[..., 1, 1]), np.arctan2(R[..., 1, 0], R[..., 0, 0]))
    return np.stack([roll, pitch, yaw], -1)


def _from_two(first: Array, second: Array) -> Array:
    """Gram-Schmidt on two vectors (..., 3): the rows of a rotation (Zhou et al. 2019, On the continuity of rotations, eq. 15)."""
    a = first / np.linalg.norm(first, axis=-1, keepdims=True)
    b = second - (a * second).sum(axis=-1, keepdims=True) * a
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    return np.stack([a, b, np.cross(a, b)], -2)


def _transposed(R: Array) -> Array:
    return np.swapaxes(R, -1, -2)


def _two_rows(R: Array) -> Array:
    return R[..., :2, :].reshape(*R.shape[:-2], 6)


NOTATIONS: dict[str, Notation] = {
    "quat_xyzw": Notation(4, se3.rotation_from_quat, se3.quat_from_rotation),
    "quat_wxyz": Notation(4, lambda v: se3.rotation_from_quat(np.roll(v, -1, axis=-1)),
                          lambda R: np.roll(se3.quat_from_rotation(R), 1, axis=-1)),
    "rotvec": Notation(3, se3.rotation_exp, se3.rotation_log, angles=True),
    "rpy": Notation(3, _from_rpy, _to_rpy, angles=True),
    # Two conventions are in use: the first two rows (PyTorch3D, diffusion policy) and the first two columns (Zhou et al.).
    "rot6d_rows": Notation(6, lambda v: _from_two(v[..., :3], v[..., 3:]), _two_rows),
    "rot6d_columns": Notation(6, lambda v: _transposed(_from_two(v[..., :3], v[..., 3:])), lambda R: _two_rows(_transposed(R))),
}
