"""The policy network f(a, t, c): a residual MLP that sees where the action so far leads, with a head bilinear in what is left.

`PlainNetwork` is the same without that sight, for the policies that it is compared with.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mimicik_ros.core.kinematics import JointTable
from mimicik_ros.training.torch_fk import TorchFK
from mimicik_ros.training.torch_se3 import rotation_exp, rotation_log_small

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


class Trunk(nn.Module):
    """What both networks have: normalised inputs (a, t, c) and a residual MLP that makes features of them.

    Normalisation of the observation is part of the network: outside, observations are metres and radians.

    Args:
        lower, upper: (n,) rad, joint limits, for normalisation.
        width, blocks: of the MLP.
    """

    def __init__(self, lower: Tensor, upper: Tensor, width: int, blocks: int) -> None:
        super().__init__()
        self.n = len(lower)
        self.low_precision = False  # bfloat16 in the blocks: several times faster where the processor has it
        self.register_buffer("centre", (upper + lower) / 2)
        self.register_buffer("half_range", (upper - lower) / 2)
        self.register_buffer("pose_scale", torch.tensor([POSITION_SCALE_M] * 3 + [ROTATION_SCALE_RAD] * 3))
        self.inlet = nn.Linear(3 * self.n + 6 + self.n + 1, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.norm = nn.LayerNorm(width)

    def features(self, q: Tensor, x: Tensor, action: Tensor, t: float | Tensor) -> Tensor:
        """Features (B, width) of joints (B, n) rad, a scaled pose (B, 6), an action (B, n) and a time, or one a sample (B, 1)."""
        time = t if isinstance(t, Tensor) else torch.full_like(q[:, :1], t)
        inputs = torch.cat([(q - self.centre) / self.half_range, torch.sin(q), torch.cos(q), x, action, time], dim=1)
        h = self.inlet(inputs)
        with torch.autocast(h.device.type, torch.bfloat16, enabled=self.low_precision):
            for block in self.blocks:
                h = block(h)
        return self.norm(h.float())


class FlowNetwork(Trunk):
    """f(a, t, c) -> action, for a normalised action a (B, n), a time t and an observation c (B, n + 6).

    f = a + M(h) x, where x is the scaled target pose relative to the tool at q + a (forward kinematics is a layer of the
    network) and h are the features of a trunk that sees q + a, x, a and t. So the second step of the flow corrects what the
    first one leaves, as a Newton step does, and nothing moves where nothing is left.

    Args:
        table: the robot's joints and tool.
        action_scale: (n,) rad a unit of action.
        lower, upper, width, blocks: see Trunk.
    """

    def __init__(self, table: JointTable, lower: Tensor, upper: Tensor, action_scale: Tensor, width: int, blocks: int) -> None:
        super().__init__(lower, upper, width, blocks)
        self.fk = TorchFK(table)
        self.register_buffer("action_scale", action_scale.clone())  # where an action leads
        self.head = nn.Linear(width, self.n * 6)
        _begin_small(self.head)

    def first(self, observation: Tensor) -> Tensor:
        """f(0, 0, c), where the tool is at q and all of the target pose is left."""
        q, pose = observation[:, : self.n], observation[:, self.n :]
        return self._correction(torch.zeros_like(q), 0.0, q, pose)

    def forward(self, action: Tensor, t: float, observation: Tensor) -> Tensor:
        """f(a, t, c)."""
        q, pose = observation[:, : self.n], observation[:, self.n :]
        q_led = q + action * self.action_scale
        rotation, position = self.fk(torch.cat([q, q_led]))
        (R, R_led), (p, p_led) = rotation.chunk(2), position.chunk(2)
        back = R_led.transpose(1, 2)
        turned = R @ rotation_exp(pose[:, 3:])
        offset = p + (R @ pose[:, :3, None])[..., 0] - p_led
        left = torch.cat([(back @ offset[..., None])[..., 0], rotation_log_small(back @ turned)], dim=1)
        return action + self._correction(action, t, q_led, left)

    def _correction(self, action: Tensor, t: float, q: Tensor, pose: Tensor) -> Tensor:
        x = pose / self.pose_scale
        matrix = self.head(self.features(q, x, action, t)).reshape(-1, self.n, 6)
        return (matrix @ x[..., None])[..., 0]


class PlainNetwork(Trunk):
    """f(a, t, c) -> action, as FlowNetwork, but blind to where the action leads.

    The action is M(h) x + b(h), with h the features of the trunk and x the scaled relative target: inverse kinematics is
    nearly linear in a small relative pose, so the trunk only has to learn a matrix that varies slowly.
    """

    def __init__(self, lower: Tensor, upper: Tensor, width: int, blocks: int) -> None:
        super().__init__(lower, upper, width, blocks)
        self.bias_head, self.matrix_head = nn.Linear(width, self.n), nn.Linear(width, self.n * 6)
        _begin_small(self.bias_head, self.matrix_head)

    def first(self, observation: Tensor) -> Tensor:
        """f(0, 0, c)."""
        return self(torch.zeros_like(observation[:, : self.n]), 0.0, observation)

    def forward(self, action: Tensor, t: float | Tensor, observation: Tensor) -> Tensor:
        """One evaluation; t is one time, or one for each sample (B, 1)."""
        q, x = observation[:, : self.n], observation[:, self.n :] / self.pose_scale
        h = self.features(q, x, action, t)
        matrix = self.matrix_head(h).reshape(-1, self.n, 6)
        return self.bias_head(h) + (matrix @ x[..., None])[..., 0]


def _begin_small(*heads: nn.Linear) -> None:
    for head in heads:
        nn.init.normal_(head.weight, std=1e-2)
        nn.init.zeros_(head.bias)
