"""Differentiable batched forward kinematics in torch, from the same joint table as the core."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from mimicik_ros.core.kinematics import JointTable


class TorchFK(nn.Module):
    """Tool poses of a serial chain: q (B, n) rad -> rotation (B, 3, 3) and position (B, 3) m in the base frame.

    The pose of joint i in its parent is P_i exp(w a_i) = A_i + sin(w) B_i + cos(w) C_i + w D_i (Rodrigues' formula; D_i of a
    slide), with four constant 4x4 matrices. The poses are multiplied in pairs, which keeps graph and gradient small.
    """

    def __init__(self, table: JointTable) -> None:
        super().__init__()
        self.n = n = len(table.axes)  # a plain number: len() of a tensor would be part of an exported graph
        parts = np.zeros((4, n, 4, 4))
        for i, (P, axis, slides) in enumerate(zip(table.placements, table.axes, table.prismatic, strict=True)):
            x, y, z = axis
            K, identity, slide = np.zeros((4, 4)), np.eye(4), np.zeros((4, 4))
            K[:3, :3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
            slide[:3, 3] = axis
            moves = (identity, 0 * K, 0 * K, slide) if slides else (identity + K @ K, K, -K @ K, 0 * K)
            for k, move in enumerate(moves):
                parts[k, i] = P @ move @ (table.tool if i == n - 1 else identity)
        for name, part in zip(("constant", "sine", "cosine", "linear"), parts, strict=True):
            self.register_buffer(name, torch.tensor(part, dtype=torch.float32), persistent=False)
        # In the frames of `_joints`: a joint's axis, and a point on it (off the origin only behind the tool).
        axis, behind = table.axes.copy(), np.zeros((n, 3))
        back = np.linalg.inv(table.tool)
        axis[-1], behind[-1] = back[:3, :3] @ table.axes[-1], back[:3, 3]
        self.register_buffer("axis", torch.tensor(axis, dtype=torch.float32), persistent=False)
        self.register_buffer("behind", torch.tensor(behind, dtype=torch.float32), persistent=False)
        self.slides = bool(np.any(table.prismatic))

    def forward(self, q: Tensor) -> tuple[Tensor, Tensor]:
        T = self._joints(q)
        left = self.n
        while left > 1:
            pairs = left // 2
            product = T[:, 0 : 2 * pairs : 2] @ T[:, 1 : 2 * pairs : 2]
            T = torch.cat([product, T[:, 2 * pairs :]], dim=1) if left % 2 else product
            left -= pairs
        return T[:, 0, :3, :3], T[:, 0, :3, 3]

    def jacobian(self, q: Tensor) -> Tensor:
        """Geometric Jacobian (B, 6, n) in the base frame, linear rows above angular rows; hinges only."""
        T = self._joints(q)
        origins, axes = [], []
        so_far = T[:, 0]
        for i in range(self.n):
            if i:
                so_far = so_far @ T[:, i]
            axes.append((so_far[:, :3, :3] @ self.axis[i, :, None])[..., 0])
            origins.append((so_far[:, :3, :3] @ self.behind[i, :, None])[..., 0] + so_far[:, :3, 3])
        tip = so_far[:, :3, 3]
        columns = [torch.cat([torch.linalg.cross(a, tip - o), a], dim=1) for a, o in zip(axes, origins, strict=True)]
        return torch.stack(columns, dim=2)

    def _joints(self, q: Tensor) -> Tensor:
        """Pose of each joint in its parent (B, n, 4, 4); the tool is part of the last one."""
        w = q[..., None, None]
        T = self.constant + torch.sin(w) * self.sine + torch.cos(w) * self.cosine
        return T + w * self.linear if self.slides else T
