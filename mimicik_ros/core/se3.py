"""Rotations and poses, vectorised over leading axes. Quaternions are xyzw."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from mimicik_ros.core.types import Array


def skew(w: Array) -> Array:
    """Cross-product matrix of w: (..., 3) -> (..., 3, 3)."""
    out = np.zeros((*w.shape[:-1], 3, 3))
    out[..., 0, 1], out[..., 0, 2] = -w[..., 2], w[..., 1]
    out[..., 1, 0], out[..., 1, 2] = w[..., 2], -w[..., 0]
    out[..., 2, 0], out[..., 2, 1] = -w[..., 1], w[..., 0]
    return out


def rotation_exp(w: Array) -> Array:
    """Rotation vector (..., 3) rad -> rotation matrix (..., 3, 3) (Rodrigues; Lynch & Park, Modern Robotics, eq. 3.51)."""
    angle = np.linalg.norm(w, axis=-1)[..., None, None]
    k = skew(w)
    half = np.sinc(angle / (2 * np.pi))  # sin(a/2)/(a/2), exact at 0
    R: Array = np.eye(3) + np.sinc(angle / np.pi) * k + 0.5 * half * half * (k @ k)
    return R


def quat_from_rotation(R: Array) -> Array:
    """Rotation matrix (..., 3, 3) -> unit quaternion xyzw (..., 4) with w >= 0 (Bar-Itzhack's largest-element branch)."""
    m = R
    candidates = np.stack([
        np.stack([1 + m[..., 0, 0] - m[..., 1, 1] - m[..., 2, 2], m[..., 0, 1] + m[..., 1, 0],
                  m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] - m[..., 1, 2]], -1),
        np.stack([m[..., 0, 1] + m[..., 1, 0], 1 - m[..., 0, 0] + m[..., 1, 1] - m[..., 2, 2],
                  m[..., 1, 2] + m[..., 2, 1], m[..., 0, 2] - m[..., 2, 0]], -1),
        np.stack([m[..., 0, 2] + m[..., 2, 0], m[..., 1, 2] + m[..., 2, 1],
                  1 - m[..., 0, 0] - m[..., 1, 1] + m[..., 2, 2], m[..., 1, 0] - m[..., 0, 1]], -1),
        np.stack([m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0],
                  m[..., 1, 0] - m[..., 0, 1], 1 + m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]], -1),
    ], -2)
    best = np.argmax(np.diagonal(candidates, axis1=-2, axis2=-1), axis=-1)
    quat = np.take_along_axis(candidates, best[..., None, None], axis=-2)[..., 0, :]
    quat = quat / np.linalg.norm(quat, axis=-1, keepdims=True)
    positive: Array = np.where(quat[..., 3:] < 0, -quat, quat)
    return positive


def rotation_from_quat(quat_xyzw: Array) -> Array:
    """Quaternion xyzw (..., 4), any non-zero norm -> rotation matrix (..., 3, 3). q and -q give bit-equal results."""
    q = quat_xyzw / np.linalg.norm(quat_xyzw, axis=-1, keepdims=True)
    x, y, z, w = (q[..., i] for i in range(4))
    return np.stack([
        np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], -1),
        np.stack([2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)], -1),
        np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], -1),
    ], -2)


def rotation_log(R: Array) -> Array:
    """Rotation matrix (..., 3, 3) -> rotation vector (..., 3) rad, angle in [0, pi], through the quaternion."""
    if R.ndim == 2:  # one at a time is the tick's case: four times faster
        single: Array = np.asarray(pin.log3(R))
        return single
    quat = quat_from_rotation(R)
    v, w = quat[..., :3], quat[..., 3:]
    norm = np.linalg.norm(v, axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(norm, w)
    factor = np.where(norm > 1e-12, angle / np.where(norm > 1e-12, norm, 1.0), 2.0)
    w_log: Array = v * factor
    return w_log


def rotation_angle(R: Array) -> Array:
    """Geodesic angle (...) rad of a rotation matrix (..., 3, 3)."""
    angle: Array = np.linalg.norm(rotation_log(R), axis=-1)
    return angle


def pose(R: Array, p: Array) -> Array:
    """Homogeneous transform (..., 4, 4) from R (..., 3, 3) and p (..., 3) m."""
    T = np.zeros((*p.shape[:-1], 4, 4))
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, p, 1.0
    return T


def pose_from_quat(position_m: Array, quat_xyzw: Array) -> Array:
    """Homogeneous transform (..., 4, 4) from position (..., 3) m and quaternion xyzw (..., 4)."""
    return pose(rotation_from_quat(quat_xyzw), position_m)


def inverse(T: Array) -> Array:
    """Inverse of homogeneous transforms (..., 4, 4)."""
    Rt = np.swapaxes(T[..., :3, :3], -1, -2)
    return pose(Rt, -(Rt @ T[..., :3, 3:])[..., 0])


def difference(T_to: Array, T_from: Array) -> Array:
    """What leads from T_from to T_to (..., 4, 4): (..., 6) m, then rotation vector in rad, in the frame they are given in."""
    turn = rotation_log(T_to[..., :3, :3] @ np.swapaxes(T_from[..., :3, :3], -1, -2))
    return np.concatenate([T_to[..., :3, 3] - T_from[..., :3, 3], turn], axis=-1)


def shifted(T: Array, motion: Array) -> Array:
    """T (..., 4, 4) moved by motion (..., 6) m, rad in the frame that T is given in: shifted(T, difference(U, T)) is U."""
    return pose(rotation_exp(motion[..., 3:]) @ T[..., :3, :3], T[..., :3, 3] + motion[..., :3])
