"""Pink: differential inverse kinematics as a quadratic programme (Caron et al.), iterated to convergence within the tick."""

from __future__ import annotations

import numpy as np
import pink
import pinocchio as pin
from pink.limits import ConfigurationLimit
from pink.tasks import DampingTask, FrameTask

from mimicik_ros.core import dls
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation.baselines.baseline import Answer

SOLVER = "daqp"
ITERATIONS = 50
TOLERANCE_M = 1e-6  # weighted error at which it is done
PROGRESS = 1e-4  # relative; an iteration that gains less is the last
DT_S = 1.0  # every step is integrated whole, so the period of the programme has no meaning of its own
DAMPING = 1e-4  # of joint steps, beside costs of 1 (m) and 0.25 (rad): costs no accuracy at convergence, tames singularities
LM_DAMPING = 1e-2  # times the squared error: damps far from the target, vanishes near it


class PinkQP:
    """Frame task and damping task inside the box of this tick, which Pink takes as the model's position limits."""

    def __init__(self, kinematics: Kinematics) -> None:
        self._kin = kinematics
        self._model = kinematics.pinocchio_model()
        self._data = self._model.createData()
        self._world = self._model.frames[self._model.getFrameId(kinematics.base_frame)].placement
        self._task = FrameTask(kinematics.tool_frame, position_cost=1.0, orientation_cost=dls.ROTATION_WEIGHT_M,
                               lm_damping=LM_DAMPING)
        self._damping = DampingTask(cost=DAMPING)
        self._model.lowerPositionLimit, self._model.upperPositionLimit = kinematics.lower, kinematics.upper
        self._limit = ConfigurationLimit(self._model, config_limit_gain=1.0)

    def joints(self, q_ref: Array, T_goal: Array, low: Array, high: Array) -> Answer:
        """See PoseSolver."""
        self._model.lowerPositionLimit, self._model.upperPositionLimit = low, high
        self._task.set_target(self._world * pin.SE3(T_goal))
        q, best, steps = q_ref, dls.weighted_error(self._kin, q_ref, T_goal), 0
        while steps < ITERATIONS and best > TOLERANCE_M:
            steps += 1
            configuration = pink.Configuration(self._model, self._data, q)
            try:
                velocity = pink.solve_ik(configuration, [self._task, self._damping], DT_S, solver=SOLVER, limits=[self._limit],
                                         safety_break=False)
            except pink.NoSolutionFound:
                break
            moved = np.clip(q + velocity * DT_S, low, high)
            error = dls.weighted_error(self._kin, moved, T_goal)
            if not error < best:
                break
            slow = error > (1.0 - PROGRESS) * best
            q, best = moved, error
            if slow:
                break
        return Answer(q, steps)
