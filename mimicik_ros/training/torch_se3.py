"""Rotations in torch: exponential and logarithm as series without branches, smooth at zero, small as ONNX graphs."""

from __future__ import annotations

import torch
from torch import Tensor

# cross(w) = (w @ GENERATORS) as a 3x3 matrix, row by row
GENERATORS = torch.tensor([[0.0, 0, 0, 0, 0, -1, 0, 1, 0], [0, 0, 1, 0, 0, 0, -1, 0, 0], [0, -1, 0, 1, 0, 0, 0, 0, 0]])


def rotation_exp(w: Tensor) -> Tensor:
    """Rotation matrices (B, 3, 3) of rotation vectors w (B, 3) rad (Rodrigues; exact to 1e-7 below 1 rad)."""
    squared = (w * w).sum(-1)[:, None, None]
    K = (w @ GENERATORS.to(w)).reshape(-1, 3, 3)
    sine = 1.0 + squared * (-1 / 6 + squared * (1 / 120 + squared * (-1 / 5040 + squared * (1 / 362880))))
    cosine = 0.5 + squared * (-1 / 24 + squared * (1 / 720 + squared * (-1 / 40320 + squared * (1 / 3628800))))
    return torch.eye(3, dtype=w.dtype, device=w.device) + sine * K + cosine * (K @ K)


def rotation_log_small(R: Tensor) -> Tensor:
    """Rotation vectors (B, 3) rad of R (B, 3, 3): asin series of the skew part (error below 1e-5 rad up to 0.5 rad).

    Beyond a quarter turn the vector keeps its direction and loses its length, which no tick asks for: targets are governed.
    """
    v = R.reshape(-1, 9) @ (0.5 * GENERATORS.to(R)).T
    s = (v * v).sum(-1, keepdim=True)
    series = 1.0 + s * (1 / 6 + s * (3 / 40 + s * (15 / 336 + s * (105 / 3456 + s * 945 / 42240))))
    return v * series
