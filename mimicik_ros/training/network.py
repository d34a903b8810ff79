"""The policy network f(a, t, c): a residual MLP with a head that is bilinear in the relative target pose."""

from __future__ import annotations

import torch
from torch import Tensor, nn

POSITION_SCALE_M = 0.02
ROTATION_SCALE_RAD = 0.08


class Block(nn.Module):
    """x + W2 silu(W1 norm(x))."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        nn.init.normal_(self.down.weight, std=1e-3)
        nn.init.zeros_(self.down.bias)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(nn.functional.silu(self.up(self.norm(x))))


class FlowNetwork(nn.Module):
    """f(a, t, c) -> action, for a normalised action a (B, n), a time t and an observation c (B, n + 6).

    The action is M(h) x + b(h), with h the features of the trunk and x the scaled relative target: inverse kinematics is
    nearly linear in a small relative pose, so the trunk only has to learn a matrix that varies slowly.
    Normalisation of the observation is part of the network: outside, observations are metres and radians.
    """

    def __init__(self, lower: Tensor, upper: Tensor, width: int, blocks: int) -> None:
        super().__init__()
        n = len(lower)
        self.n = n
        self.low_precision = False  # bfloat16 in the blocks: several times faster where the processor has it
        self.register_buffer("centre", (upper + lower) / 2)
        self.register_buffer("half_range", (upper - lower) / 2)
        scale = torch.tensor([POSITION_SCALE_M] * 3 + [ROTATION_SCALE_RAD] * 3)
        self.register_buffer("pose_scale", scale)
        self.inlet = nn.Linear(3 * n + 6 + n + 1, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.norm = nn.LayerNorm(width)
        self.bias_head = nn.Linear(width, n)
        self.matrix_head = nn.Linear(width, n * 6)
        for head in (self.bias_head, self.matrix_head):
            nn.init.normal_(head.weight, std=1e-2)
            nn.init.zeros_(head.bias)

    def forward(self, action: Tensor, t: float | Tensor, observation: Tensor) -> Tensor:
        """One evaluation; t is one time, or one for each sample (B, 1)."""
        q, x = observation[:, : self.n], observation[:, self.n :] / self.pose_scale
        time = t if isinstance(t, Tensor) else torch.full_like(q[:, :1], t)
        inputs = torch.cat([(q - self.centre) / self.half_range, torch.sin(q), torch.cos(q), x, action, time], dim=1)
        h = self.inlet(inputs)
        with torch.autocast(h.device.type, torch.bfloat16, enabled=self.low_precision):
            for block in self.blocks:
                h = block(h)
        h = self.norm(h.float())
        matrix = self.matrix_head(h).reshape(-1, self.n, 6)
        return self.bias_head(h) + (matrix @ x[..., None])[..., 0]


class TwoStepPolicy(nn.Module):
    """The deployed policy: a0 = f(0, 0, c); a1 = f(a0, t*, c); delta_q = action_scale * a1 (rad)."""

    def __init__(self, network: FlowNetwork, action_scale: Tensor, t_star: float) -> None:
        super().__init__()
        self.network, self.t_star = network, t_star
        self.register_buffer("action_scale", action_scale)

    def forward(self, observation: Tensor) -> Tensor:
        _, a1 = self.steps(observation)
        return a1 * self.action_scale

    def steps(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Both deployed actions (B, n), normalised."""
        a0 = self.network(torch.zeros_like(observation[:, : self.network.n]), 0.0, observation)
        return a0, self.network(a0, self.t_star, observation)
