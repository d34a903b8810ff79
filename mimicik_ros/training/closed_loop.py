"""Closed-loop training: the policy follows courses on its own last command, and learns to be exact, slow enough and smooth.

A supervised step never sees where the policy itself leads: near a singularity, small errors add up, then a joint must hurry.
Here arms follow courses (`courses.py`) tick by tick; the gradient goes back through a few ticks. No labels are needed: forward
kinematics says what a step is worth, and hinges say which steps are too fast or too sudden.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from mimicik_ros.core.dls import ROTATION_WEIGHT_M
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array, Flags
from mimicik_ros.training.courses import REST, draw
from mimicik_ros.training.policies import TrainablePolicy
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.synthesis import singular_configurations
from mimicik_ros.training.torch_fk import TorchFK
from mimicik_ros.training.torch_se3 import rotation_exp, rotation_log_small

LINEAR_M, ANGULAR_RAD = 0.04, 0.15  # of one tick: the governor's defaults, 0.8 m/s and 3 rad/s at 20 Hz
FAST_RAD, SUDDEN_RAD = 0.15, 0.03  # a step, and a change of step from tick to tick, from which the hinges count
HINGE_RAD = 0.02
FAST_WEIGHT, SUDDEN_WEIGHT, IDLE_WEIGHT, FLIP_WEIGHT = 1.0, 8.0, 2.0, 0.1
IDLE_RATIO, IDLE_FLOOR_M = 0.9, 5e-4  # the node stops a step that does not bring the goal nearer
OUT_OF_REACH_M = 1e-3  # a tick that misses by more may be beyond reach: the arm must stay on its branch there
BRANCH_DET, BRANCH_MARGIN = 1e-3, 0.2
LOST_M = 0.4
MARGIN_RAD = 0.01  # inside the joint limits, as in the node


class ClosedLoop:
    """Arms that follow courses under a policy, across optimiser steps.

    Args:
        kinematics: the robot.
        homes: (h, n) rad, singular start poses.
        period_s: of a tick.
        arms: how many follow courses side by side.
        ticks: of each call of `loss`, through which the gradient goes back.
        seed: of the courses.
    """

    def __init__(self, kinematics: Kinematics, homes: Array, period_s: float, arms: int, ticks: int, seed: int) -> None:
        self._kin, self._homes, self._dt, self._ticks = kinematics, homes, period_s, ticks
        self._rng = np.random.default_rng(seed)
        self._singular = singular_configurations(kinematics, self._rng)
        self._course = draw(kinematics, self._rng, arms, self._singular, homes, period_s)
        self._tick = np.zeros(arms)
        self._q = torch.tensor(self._course.q, dtype=torch.float32)
        self._step = torch.zeros_like(self._q)  # of the tick before
        low, high = kinematics.lower + MARGIN_RAD, kinematics.upper - MARGIN_RAD
        self._low, self._high = torch.tensor(low, dtype=torch.float32), torch.tensor(high, dtype=torch.float32)
        self._fk = TorchFK(kinematics.table)

    def loss(self, policy: TrainablePolicy, spec: TrainSpec) -> Tensor:
        """Mean loss of the next ticks of every arm; an arm that is lost, or done, begins another course."""
        device = policy.action_scale.device
        fk, low, high = self._fk.to(device), self._low.to(device), self._high.to(device)
        q, step = self._q.to(device), self._step.to(device)
        side = torch.sign(_determinant(fk, q)).detach()
        total = torch.zeros((), device=device)
        for _ in range(self._ticks):
            self._tick += 1.0
            target_R, target_p = (torch.tensor(x, dtype=torch.float32, device=device)
                                  for x in self._course.targets(self._tick, self._rng))
            observation, goal_R, goal_p = _governed(fk, q, target_R, target_p)
            stay = _weighted(observation[:, -6:-3].detach(), observation[:, -3:].detach())
            q_next = torch.minimum(torch.maximum(q + policy(observation), low), high)
            R, p = fk(q_next)
            squared_p = ((p - goal_p) ** 2).sum(-1)
            squared_chord = ((R - goal_R) ** 2).sum((-1, -2))
            error = torch.log1p(squared_p / spec.fk_position_m**2 + 0.5 * squared_chord / spec.fk_rotation_rad**2)
            step_before, step = step, q_next - q
            fast = _hinge(step, FAST_RAD)
            sudden = _hinge(step - step_before, SUDDEN_RAD)
            go = torch.sqrt(squared_p + 0.5 * ROTATION_WEIGHT_M**2 * squared_chord + 1e-12)
            idle = torch.relu(go / (stay + IDLE_FLOOR_M) - IDLE_RATIO).clamp(max=2.0) ** 2
            determinant = _determinant(fk, q_next)
            missed = (squared_p.detach() > OUT_OF_REACH_M**2).float()
            flip = missed * torch.relu(BRANCH_MARGIN - side * determinant / BRANCH_DET).clamp(max=3.0)
            hinges = FAST_WEIGHT * fast + SUDDEN_WEIGHT * sudden + IDLE_WEIGHT * idle + FLIP_WEIGHT * flip
            total = total + (error + hinges).mean() / self._ticks
            q, side = q_next, torch.sign(determinant).detach()
        self._q, self._step = q.detach().cpu().clone(), step.detach().cpu().clone()
        lost = (p.detach() - target_p).norm(dim=1).cpu().numpy() > LOST_M
        self._renew((self._tick >= REST * self._course.ticks) | lost | ~np.isfinite(self._q.sum(1).numpy()))
        return total

    def _renew(self, done: Flags) -> None:
        if not done.any():
            return
        fresh = draw(self._kin, self._rng, int(done.sum()), self._singular, self._homes, self._dt)
        self._course = self._course.replaced(done, fresh)
        self._tick[done] = 0.0
        mask = torch.from_numpy(done)
        self._q[mask] = torch.tensor(fresh.q, dtype=torch.float32)
        self._step[mask] = 0.0


def _hinge(values: Tensor, beyond: float) -> Tensor:
    """Sum over joints of the squared excess (B,), in units of HINGE_RAD."""
    return (torch.relu(values.abs() - beyond) ** 2).sum(1) / HINGE_RAD**2


def _weighted(offset: Tensor, turn: Tensor) -> Tensor:
    """Weighted error (B,) m of a relative pose, as core/dls.py weighs it."""
    return torch.sqrt((offset**2).sum(1) + ROTATION_WEIGHT_M**2 * (turn**2).sum(1))


def _governed(fk: TorchFK, q: Tensor, target_R: Tensor, target_p: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Observation (B, n + 6) of the pose one tick ahead on the way to the target, and that pose, as core/governor.py has it."""
    R, p = fk(q)
    back = R.transpose(1, 2)
    offset = (back @ (target_p - p)[..., None])[..., 0]
    turn = rotation_log_small(back @ target_R)
    fraction = torch.minimum(LINEAR_M / (offset.norm(dim=1) + 1e-9), ANGULAR_RAD / (turn.norm(dim=1) + 1e-9))
    fraction = fraction.clamp(max=1.0).detach()[:, None]
    offset, turn = fraction * offset, fraction * turn
    goal_R, goal_p = R @ rotation_exp(turn), p + (R @ offset[..., None])[..., 0]
    return torch.cat([q, offset, turn], dim=1), goal_R.detach(), goal_p.detach()


def _determinant(fk: TorchFK, q: Tensor) -> Tensor:
    """Determinant (B,) of the Jacobian of a chain of six hinges; its sign tells the branch. Zero for other chains."""
    if q.shape[1] != 6 or fk.slides:
        return torch.zeros_like(q[:, 0])
    return torch.linalg.det(fk.jacobian(q))
