"""Steps 3 to 5 of a tick: the model's proposal, its FK check, and damped refinement or fallback where the check asks for it."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mimicik_ros.config import ServoConfig
from mimicik_ros.core import dls, features
from mimicik_ros.core.kinematics import Kinematics, residual
from mimicik_ros.core.policy import Policy
from mimicik_ros.core.status import Status
from mimicik_ros.core.types import Array, Proposal, Residual

BOX_SLACK_RAD = 1e-9
ROUNDING_RAD = 1e-12


@dataclass(frozen=True)
class Solution:
    """What was proposed and how: the step, the model's own residual, range score, refinement steps, a note, times in ms."""

    proposal: Proposal
    model_residual: Residual | None = None
    observation_score: float | None = None
    refine_steps: int = 0
    refused: Status | None = None  # why the proposal was not used
    policy_ms: float = 0.0
    refine_ms: float = 0.0


class Solver(Protocol):
    """What proposes the step of a tick: TickSolver, or any other (mimicik_ros/evaluation/baselines)."""

    def solve(self, q_ref: Array, T_ref: Array, T_governed: Array, low: Array, high: Array) -> Solution:
        """Propose a step from q_ref (n,) rad with pose T_ref (4, 4) to T_governed (4, 4), both in the base frame.

        low, high (n,) rad are the commands that the limits of this tick allow; what lies beyond is scaled back, by one
        factor for all joints.
        """
        ...


class Guarded:
    """A solver that is not ours: what it says is judged as the model's proposal is, before the tick uses it."""

    def __init__(self, solver: Solver, config: ServoConfig) -> None:
        self._solver, self._config = solver, config

    def solve(self, q_ref: Array, T_ref: Array, T_governed: Array, low: Array, high: Array) -> Solution:
        """The solver's solution; no proposal at all stands still, and one that may not be used is refused with its status."""
        still = Proposal(np.zeros_like(q_ref), "none")
        # Copies: the state that a tick was given must not change under it.
        found: Solution | None = self._solver.solve(q_ref.copy(), T_ref.copy(), T_governed.copy(), low.copy(), high.copy())
        if found is None:
            return Solution(still)
        delta_q = np.asarray(found.proposal.delta_q, dtype=np.float64)
        refused = found.refused or (refusal(delta_q, self._config) if delta_q.shape == q_ref.shape else Status.NON_FINITE)
        proposal = still if refused else Proposal(delta_q, found.proposal.source)
        return dataclasses.replace(found, proposal=proposal, refused=refused)


def refusal(delta_q: Array, config: ServoConfig) -> Status | None:
    """Why a proposed step (n,) rad may not be used: not finite, or a jump to another branch; None where it may."""
    if not np.isfinite(delta_q).all():
        return Status.NON_FINITE
    return Status.BRANCH_JUMP if np.abs(delta_q).max() > config.max_joint_step_rad + ROUNDING_RAD else None


class TickSolver:
    """Solves one tick for a robot: solver is servo (model, then refinement), model (alone) or dls (alone)."""

    def __init__(self, kinematics: Kinematics, policy: Policy | None, config: ServoConfig, solver: str) -> None:
        self._kin, self._policy, self._config, self._solver = kinematics, policy, config, solver
        self._tolerance = min(config.position_tolerance_m, dls.ROTATION_WEIGHT_M * config.rotation_tolerance_rad)
        if policy is not None:
            self._low = np.array(policy.card.observation_low)
            self._high = np.array(policy.card.observation_high)

    def solve(self, q_ref: Array, T_ref: Array, T_governed: Array, low: Array, high: Array) -> Solution:
        """Propose a step from q_ref (n,) with pose T_ref (4, 4) to T_governed (4, 4), inside the box low..high (n,) rad."""
        if self._policy is None:
            return self._refine(q_ref, T_governed, low, high, "fallback", Solution(Proposal(np.zeros_like(q_ref), "none")), q_ref)
        start = time.perf_counter()
        observation = features.encode(q_ref, T_ref, T_governed)
        delta_q = self._policy.predict(observation)
        score = features.range_score(observation, self._low, self._high)
        policy_ms = 1e3 * (time.perf_counter() - start)
        refused = refusal(delta_q, self._config)
        if refused is not None:
            found = Solution(Proposal(np.zeros_like(q_ref), "none"), None, score, 0, refused, policy_ms)
            return found if self._solver == "model" else self._refine(q_ref, T_governed, low, high, "fallback", found, q_ref)
        q_model = q_ref + delta_q
        error = residual(self._kin.fk(q_model), T_governed)
        found = Solution(Proposal(delta_q, "model"), error, score, 0, None, policy_ms)
        if self._solver == "model" or (self._good(error) and self._inside(q_model, low, high)):
            return found
        begin = np.clip(q_model, low, high)
        rest = np.clip(q_ref, low, high)
        if dls.weighted_error(self._kin, begin, T_governed) > dls.weighted_error(self._kin, rest, T_governed):
            return self._refine(rest, T_governed, low, high, "fallback", found, q_ref)
        return self._refine(begin, T_governed, low, high, "refined", found, q_ref)

    def _good(self, error: Residual) -> bool:
        config = self._config
        return error.position_m <= config.position_tolerance_m and error.rotation_rad <= config.rotation_tolerance_rad

    @staticmethod
    def _inside(q: Array, low: Array, high: Array) -> bool:
        return bool((q >= low - BOX_SLACK_RAD).all() and (q <= high + BOX_SLACK_RAD).all())

    def _refine(self, q_start: Array, T_goal: Array, low: Array, high: Array, source: str, found: Solution,
                q_ref: Array) -> Solution:
        start = time.perf_counter()
        config = self._config
        refined = dls.refine(self._kin, np.clip(q_start, low, high), T_goal, low, high, config.refine_max_steps,
                             config.refine_damping, self._tolerance)
        refine_ms = 1e3 * (time.perf_counter() - start)
        if not np.isfinite(refined.q).all():
            return dataclasses.replace(found, proposal=Proposal(np.zeros_like(q_ref), "none"), refine_ms=refine_ms,
                                       refused=Status.NON_FINITE)
        return Solution(Proposal(refined.q - q_ref, source), found.model_residual, found.observation_score, refined.steps,
                        found.refused, found.policy_ms, refine_ms)
