"""What every baseline is for the tick: a named solver that is timed and whose answer is scaled into what the limits allow."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mimicik_ros.core.solve_tick import Solution
from mimicik_ros.core.types import Array, Proposal


@dataclass(frozen=True)
class Answer:
    """Joints (n,) rad, or None where the solver found nothing; and the iterations that it took, where it counts them."""

    q: Array | None
    iterations: int = 0


class PoseSolver(Protocol):
    """Inverse kinematics of one pose, begun at the last command."""

    def joints(self, q_ref: Array, T_goal: Array, low: Array, high: Array) -> Answer:
        """Joints for a pose.

        Args:
            q_ref: (n,) rad, the last command, inside the box.
            T_goal: (4, 4) of the tool in the base frame.
            low, high: (n,) rad, the box of commands that this tick's limits allow. A solver that can keep it does.
        """
        ...


class Baseline:
    """A PoseSolver behind the tick's interface (core.solve_tick.Solver); its name is the source of its proposals."""

    def __init__(self, name: str, pose_solver: PoseSolver) -> None:
        self.name, self.pose_solver = name, pose_solver

    def solve(self, q_ref: Array, T_ref: Array, T_governed: Array, low: Array, high: Array) -> Solution:
        """The step from q_ref (n,) rad towards the solver's answer, as far as the box low..high (n,) rad lets it go."""
        start = time.perf_counter()
        inside = np.clip(q_ref, low, high)  # an arm that moves may be unable to stay where it is
        answer = self.pose_solver.joints(inside, T_governed, low, high)
        elapsed_ms = 1e3 * (time.perf_counter() - start)
        if answer.q is None:
            proposal = Proposal(np.zeros_like(q_ref), "none")
        else:
            proposal = Proposal(inside + shortened(answer.q - inside, inside, low, high) - q_ref, self.name)
        return Solution(proposal, refine_steps=answer.iterations, refine_ms=elapsed_ms)


def shortened(step: Array, q: Array, low: Array, high: Array) -> Array:
    """The longest multiple <= 1 of a step (n,) rad that stays in the box from q (n,) inside it: one factor for all joints."""
    room = np.where(step > 0.0, high - q, q - low)
    moving = np.abs(step) > 1e-15
    share = min(1.0, float((room[moving] / np.abs(step[moving])).min(initial=1.0)))
    shorter: Array = np.clip(q + share * step, low, high) - q
    return shorter
