"""Differentiable batched forward kinematics in torch, from the same joint table as the core."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mimicik_ros.core.kinematics import JointTable


class TorchFK(nn.Module):
    """Tool poses of a serial chain: q (B, n) rad -> rotation (B, 3, 3) and position (B, 3) m in the base frame."""

    def __init__(self, table: JointTable) -> None:
        super().__init__()
        placements = torch.tensor(table.placements, dtype=torch.float32)
        axes = torch.tensor(table.axes, dtype=torch.float32)
        K = torch.zeros(len(axes), 3, 3)
        for i, (x, y, z) in enumerate(axes.tolist()):
            K[i] = torch.tensor([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        self.register_buffer("R", placements[:, :3, :3])
        self.register_buffer("p", placements[:, :3, 3])
        # R_i exp(w a) = R_i + sin(a) R_i K + (1 - cos(a)) R_i K K (Rodrigues): three constants a joint
        self.register_buffer("RK", placements[:, :3, :3] @ K)
        self.register_buffer("RKK", placements[:, :3, :3] @ K @ K)
        self.register_buffer("Ra", (placements[:, :3, :3] @ axes[..., None])[..., 0])
        self.register_buffer("tool_R", torch.tensor(table.tool[:3, :3], dtype=torch.float32))
        self.register_buffer("tool_p", torch.tensor(table.tool[:3, 3], dtype=torch.float32))
        self.prismatic = [bool(x) for x in table.prismatic]

    def forward(self, q: Tensor) -> tuple[Tensor, Tensor]:
        sin, cos = torch.sin(q)[..., None, None], torch.cos(q)[..., None, None]
        turns = self.R + sin * self.RK + (1.0 - cos) * self.RKK
        rotation = torch.eye(3, device=q.device).expand(q.shape[0], 3, 3)
        position = torch.zeros(q.shape[0], 3, 1, device=q.device)
        for i, slides in enumerate(self.prismatic):
            offset = self.p[i] + q[:, i : i + 1] * self.Ra[i] if slides else self.p[i].expand(q.shape[0], 3)
            position = position + rotation @ offset[..., None]
            rotation = rotation @ (self.R[i] if slides else turns[:, i])
        position = position + rotation @ self.tool_p[:, None]
        return rotation @ self.tool_R, position[..., 0]
