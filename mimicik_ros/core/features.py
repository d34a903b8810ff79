"""The one encoder of the policy's observation, for training and run time alike.

observation (n + 6 floats) = [q (n, rad), p (3, m), w (3, rad)] where (p, w) is the target relative to the current
tool frame: p = R_tool^T (p_target - p_tool), w = log(R_tool^T R_target). The sign of a quaternion never enters.
"""

from __future__ import annotations

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.types import Array, Float32Array


def relative_pose(T_base_tool: Array, T_base_target: Array) -> Array:
    """Target in the tool frame as (..., 6): translation (m) then rotation vector (rad); poses are (..., 4, 4)."""
    Rt = np.swapaxes(T_base_tool[..., :3, :3], -1, -2)
    offset = T_base_target[..., :3, 3] - T_base_tool[..., :3, 3]
    p = (Rt @ offset[..., None])[..., 0]
    return np.concatenate([p, se3.rotation_log(Rt @ T_base_target[..., :3, :3])], axis=-1)


def encode(q: Array, T_base_tool: Array, T_base_target: Array) -> Float32Array:
    """Observation (..., n + 6) float32 from q (..., n) rad and two poses (..., 4, 4) in the base frame."""
    return np.concatenate([q, relative_pose(T_base_tool, T_base_target)], axis=-1).astype(np.float32)


def range_score(observation: Float32Array, low: Array, high: Array) -> float:
    """How far an observation (m,) lies in its training range: 0 centre, 1 edge, above 1 outside."""
    centre, half = 0.5 * (high + low), 0.5 * (high - low)
    return float(np.max(np.abs(observation - centre) / half))
