"""cuRobo (Sundaralingam et al. 2023): batched optimisation on an NVIDIA GPU; its interface of 0.7.

torch is reached by name, for a check and through cuRobo alone: the training ring is the only one that builds on it.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.errors import RobotError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.limits import JointLimits
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation.baselines.baseline import Answer
from mimicik_ros.evaluation.baselines.plain_urdf import plain_urdf_file

NEEDED = ("curobo.wrap.reacher.ik_solver", "curobo.types.robot", "curobo.types.math", "curobo.types.base")
SEEDS = 32
POSITION_M, ROTATION_RAD = 1e-4, 1e-3  # success; below 1 mm cuRobo switches to its high precision by itself


def missing() -> str | None:
    """Why cuRobo cannot run here, or None. Imports nothing but what it asks about."""
    try:
        torch = import_module("torch")
    except ImportError:
        return "torch is not installed"
    if not torch.cuda.is_available():
        return "torch finds no CUDA GPU"
    for name in NEEDED:
        try:
            import_module(name)
        except ImportError as error:
            return f"cannot import {name} ({(str(error).splitlines() or ['no reason given'])[0]})"
    return None


class Curobo:
    """Seeded with the last command, which is also the posture that it is drawn to; of what succeeds, the nearest to it."""

    def __init__(self, kinematics: Kinematics, limits: JointLimits, urdf: Path) -> None:
        solver, robot, self._math, base = (import_module(name) for name in NEEDED)
        self._limits, self._tensor_args = limits, base.TensorDeviceType()
        with plain_urdf_file(urdf, kinematics.joint_names) as file:
            arm = robot.RobotConfig.from_basic(str(file), kinematics.base_frame, kinematics.tool_frame, self._tensor_args)
        self._solver = solver.IKSolver(solver.IKSolverConfig.load_from_robot_config(
            arm, None, tensor_args=self._tensor_args, num_seeds=SEEDS, position_threshold=POSITION_M,
            rotation_threshold=ROTATION_RAD, self_collision_check=False, self_collision_opt=False, use_cuda_graph=True))
        if tuple(self._solver.joint_names) != kinematics.joint_names:
            raise RobotError(f"{urdf}: cuRobo has the joints {', '.join(self._solver.joint_names)}; list them so in the URDF")

    def joints(self, q_ref: Array, T_goal: Array, low: Array, high: Array) -> Answer:
        """See PoseSolver. The box does not bind the choice: the way there is shortened."""
        x, y, z, w = se3.quat_from_rotation(T_goal[:3, :3])
        device = self._tensor_args.to_device
        goal = self._math.Pose(device(T_goal[None, :3, 3].copy()), device([[w, x, y, z]]))
        seed = device(q_ref[None, None])
        result = self._solver.solve_single(goal, retract_config=seed[0], seed_config=seed, return_seeds=SEEDS, num_seeds=SEEDS)
        q = result.solution.cpu().numpy().reshape(-1, len(q_ref)).astype(np.float64)
        q = q[result.success.cpu().numpy().reshape(-1)]
        q = q[((q >= self._limits.lower) & (q <= self._limits.upper)).all(axis=1)]
        return Answer(q[np.abs(q - q_ref).max(axis=1).argmin()] if len(q) else None)
