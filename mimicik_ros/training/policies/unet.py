"""`unet`: diffusion with a 1-D UNet and its own iterative sampler, as in Diffusion Policy (Chi et al. 2023).

There the UNet convolves along the horizon, the future steps of a trajectory. The horizon is one step here, so it convolves
along the joints, n of them, with an embedding that tells it which joint is which. Observation and time enter each block as a
scale and an offset of its channels (FiLM, Perez et al. 2018). The network predicts the clean action, with the head of the
other policies: a row of a matrix for each joint, which multiplies the relative target, and an offset.

It is trained without the FK loss, whatever --fk-weight says, as the published baseline is: at low noise the network can
satisfy that loss by handing its input on, and with it the action was learned more slowly.
"""

from __future__ import annotations

import bisect
import math

import torch
from torch import Tensor, nn

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.training.network import POSITION_SCALE_M, ROTATION_SCALE_RAD
from mimicik_ros.training.objective import Losses, Sample, fk_loss, normal, uniform
from mimicik_ros.training.policies.interface import joint_limits, plain_network
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.torch_fk import TorchFK

STEPS = 10
FREQUENCIES = 8  # of the time embedding


class JointConv(nn.Module):
    """Convolution over three neighbouring joints, (B, n, in) -> (B, n, out); one matrix, so that Muon takes it as it is."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(3 * inputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        padded = nn.functional.pad(x, (0, 0, 1, 1))
        return self.linear(torch.cat([padded[:, :-2], x, padded[:, 2:]], dim=2))


class FilmBlock(nn.Module):
    """Two convolutions with a way around them; the condition scales and shifts the channels in between."""

    def __init__(self, inputs: int, outputs: int, condition: int) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(inputs), nn.LayerNorm(outputs)
        self.first, self.second = JointConv(inputs, outputs), JointConv(outputs, outputs)
        self.film = nn.Linear(condition, 2 * outputs)
        self.around = nn.Identity() if inputs == outputs else nn.Linear(inputs, outputs)

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        scale, shift = self.film(condition)[:, None].chunk(2, dim=2)
        h = self.first(nn.functional.silu(self.before(x)))
        h = self.between(h) * (1.0 + scale) + shift
        return self.around(x) + self.second(nn.functional.silu(h))


class UNet(nn.Module):
    """Clean action (B, n) from a noised one (B, n), the diffusion time (B, 1) in [0, 1] and the observation (B, n + 6)."""

    def __init__(self, lower: Tensor, upper: Tensor, channels: int, blocks: int) -> None:
        super().__init__()
        n, c = len(lower), channels
        self.n, self.depth = n, blocks
        self.low_precision = False
        self.register_buffer("centre", (upper + lower) / 2)
        self.register_buffer("half_range", (upper - lower) / 2)
        self.register_buffer("pose_scale", torch.tensor([POSITION_SCALE_M] * 3 + [ROTATION_SCALE_RAD] * 3))
        self.register_buffer("frequencies", math.pi * torch.arange(1, FREQUENCIES + 1))
        self.condition = nn.Linear(3 * n + 6 + 2 * FREQUENCIES, 2 * c)
        self.inlet = nn.Linear(1, c)
        self.joint = nn.Parameter(0.5 * torch.randn(n, c))
        down = [FilmBlock(c, c, 2 * c) for _ in range(blocks)]
        low = [FilmBlock(c if i == 0 else 2 * c, 2 * c, 2 * c) for i in range(blocks)]
        up = [FilmBlock(3 * c if i == 0 else c, c, 2 * c) for i in range(blocks)]
        self.blocks = nn.ModuleList([*down, *low, *up])
        self.norm = nn.LayerNorm(c)
        self.outlet = nn.Linear(c, 7)

    def forward(self, action: Tensor, t: Tensor, observation: Tensor) -> Tensor:
        q, x = observation[:, : self.n], observation[:, self.n :] / self.pose_scale
        angles = t * self.frequencies
        seen = [(q - self.centre) / self.half_range, torch.sin(q), torch.cos(q), x, torch.sin(angles), torch.cos(angles)]
        condition = nn.functional.silu(self.condition(torch.cat(seen, dim=1)))
        h = self.inlet(action[..., None]) + self.joint
        with torch.autocast(h.device.type, torch.bfloat16, enabled=self.low_precision):
            h = self._blocks(h, condition)
        out = self.outlet(self.norm(h.float()))
        return (out[..., :6] @ x[..., None])[..., 0] + out[..., 6]

    def _blocks(self, h: Tensor, condition: Tensor) -> Tensor:
        for block in self.blocks[: self.depth]:
            h = block(h, condition)
        skipped = h
        if self.n % 2:  # an odd chain: the last joint stands twice
            h = torch.cat([h, h[:, -1:]], dim=1)
        h = h.unflatten(1, (h.shape[1] // 2, 2)).mean(dim=2)  # pairs of joints
        for block in self.blocks[self.depth : 2 * self.depth]:
            h = block(h, condition)
        h = torch.stack([h, h], dim=2).flatten(1, 2)[:, : self.n]
        h = torch.cat([h, skipped], dim=2)
        for block in self.blocks[2 * self.depth :]:
            h = block(h, condition)
        return h


class UNetPolicy(nn.Module):
    """DDIM (Song et al. 2021) with k steps, deterministic, from zero, the mean of the noise: delta_q (rad)."""

    def __init__(self, network: UNet, action_scale: Tensor, steps: int) -> None:
        super().__init__()
        self.network, self.steps, self.t_star = network, steps, 1.0 / steps
        self.register_buffer("action_scale", action_scale)

    @classmethod
    def build(cls, kinematics: Kinematics, spec: TrainSpec, action_scale: Tensor) -> UNetPolicy:
        """As many channels as bring it nearest to the parameters of the other policies' network."""
        lower, upper = joint_limits(kinematics)
        with torch.device("meta"):  # counted only: no memory, no random numbers
            wanted = _parameters(plain_network(kinematics, spec))
            above = bisect.bisect_left(range(spec.width), wanted, key=lambda c: _parameters(UNet(lower, upper, c, spec.blocks)))
            channels = min((max(1, above - 1), above),
                           key=lambda c: abs(_parameters(UNet(lower, upper, c, spec.blocks)) - wanted))
        return cls(UNet(lower, upper, channels, spec.blocks), action_scale, spec.sampler_steps or STEPS)

    def forward(self, observation: Tensor) -> Tensor:
        action = torch.zeros_like(observation[:, : self.network.n])
        for i in range(self.steps, 0, -1):
            kept, noise = _levels(i / self.steps)
            clean = self.network(action, torch.full_like(action[:, :1], i / self.steps), observation)
            kept_next, noise_next = _levels((i - 1) / self.steps)
            action = kept_next * clean + noise_next * (action - kept * clean) / noise
        return action * self.action_scale

    def loss(self, sample: Sample, fk: TorchFK, spec: TrainSpec, generator: torch.Generator) -> Losses:
        """|f(noised action, t, c) - a|^2 at a random t of the cosine schedule (Nichol & Dhariwal 2021); FK is only looked at."""
        t, noise = uniform(sample, generator), normal(sample, generator)
        noised = torch.cos(0.5 * math.pi * t) * sample.action + torch.sin(0.5 * math.pi * t) * noise
        clean = self.network(noised, t, sample.observation)
        flow = ((clean - sample.action) ** 2).mean()
        with torch.no_grad():
            consistency, _, _ = fk_loss(fk, sample, clean * self.action_scale, spec)
        return Losses(spec.flow_weight * flow, flow, consistency)


def _levels(t: float) -> tuple[float, float]:
    """Shares of the clean action and of the noise at a diffusion time; their squares add up to 1."""
    return math.cos(0.5 * math.pi * t), math.sin(0.5 * math.pi * t)


def _parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())
