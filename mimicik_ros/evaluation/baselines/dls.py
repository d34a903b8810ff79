"""Bounded damped least squares: the tick's own refinement (core.dls), begun at the last command, as a solver."""

from __future__ import annotations

from mimicik_ros.config import ServoConfig
from mimicik_ros.core import dls
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation.baselines.baseline import Answer

EXACT_STEPS, EXACT_TOLERANCE_M = 50, 1e-6


class DampedSteps:
    """At most so many steps a tick, with the damping of the configuration, down to a weighted error."""

    def __init__(self, kinematics: Kinematics, config: ServoConfig, max_steps: int, tolerance_m: float) -> None:
        self._kin, self._damping, self._max_steps, self._tolerance = kinematics, config.refine_damping, max_steps, tolerance_m

    @classmethod
    def named(cls, name: str, kinematics: Kinematics, config: ServoConfig) -> DampedSteps:
        """dls-one: a single step with the tolerance of the tick's fallback; dls-exact: to convergence."""
        if name == "dls-exact":
            return cls(kinematics, config, EXACT_STEPS, EXACT_TOLERANCE_M)
        tolerance_m = min(config.position_tolerance_m, dls.ROTATION_WEIGHT_M * config.rotation_tolerance_rad)
        return cls(kinematics, config, 1, tolerance_m)

    def joints(self, q_ref: Array, T_goal: Array, low: Array, high: Array) -> Answer:
        """See PoseSolver."""
        done = dls.refine(self._kin, q_ref, T_goal, low, high, self._max_steps, self._damping, self._tolerance)
        return Answer(done.q, done.steps)
