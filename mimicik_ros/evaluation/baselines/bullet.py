"""PyBullet: calculateInverseKinematics (damped least squares, Buss 2004) in a client of its own, without a window."""

from __future__ import annotations

import weakref
from pathlib import Path

import numpy as np
import pybullet

from mimicik_ros.core import dls, se3
from mimicik_ros.core.errors import RobotError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation.baselines.baseline import Answer, shortened
from mimicik_ros.evaluation.baselines.plain_urdf import plain_urdf_file

ITERATIONS, ROUNDS = 20, 20  # of a call, and calls, each begun at the answer of the last, put into the box
THRESHOLD_M = 1e-7  # its own, which looks at the position alone; ours, below, at both
TOLERANCE_M = 1e-6
PROGRESS = 1e-4  # relative; a call that gains less is the last
JOINT_DAMPING = 1e-3  # at 1e-4 up to three times as fast at singularities for some um, at 1e-2 no longer exact


class Bullet:
    """Damped steps with the box kept between calls. The solver's own limits are not used, for accuracy and speed.

    Given limits and rest poses, PyBullet 3.2 solves in the null space, ignores the damping that it is told and leaves about 1 mm
    after 20 iterations and 0.1 mm after 500; the limits pull but do not bound. Its other method (SDLS) crashes the process.
    """

    def __init__(self, kinematics: Kinematics, urdf: Path) -> None:
        self._kin = kinematics
        model = kinematics.pinocchio_model()
        self._T_root_base = model.frames[model.getFrameId(kinematics.base_frame)].placement.homogeneous
        self._client = pybullet.connect(pybullet.DIRECT)
        self.close = weakref.finalize(self, pybullet.disconnect, self._client)
        with plain_urdf_file(urdf, kinematics.joint_names) as file:
            self._arm = pybullet.loadURDF(str(file), useFixedBase=True, physicsClientId=self._client)
        described = [pybullet.getJointInfo(self._arm, i, physicsClientId=self._client)
                     for i in range(pybullet.getNumJoints(self._arm, physicsClientId=self._client))]
        places = {info[1].decode(): info[0] for info in described}
        links = {info[12].decode(): info[0] for info in described}
        moving = [info[1].decode() for info in described if info[2] != pybullet.JOINT_FIXED]
        if tuple(moving) != kinematics.joint_names or kinematics.tool_frame not in links:
            raise RobotError(f"{urdf}: PyBullet orders the joints as {', '.join(moving)}; list them so in the URDF")
        self._joints = [places[name] for name in kinematics.joint_names]
        self._tool = links[kinematics.tool_frame]

    def joints(self, q_ref: Array, T_goal: Array, low: Array, high: Array) -> Answer:
        """See PoseSolver."""
        q, error, taken = q_ref, dls.weighted_error(self._kin, q_ref, T_goal), 0
        for _ in range(ROUNDS):
            if error <= TOLERANCE_M:
                break
            before = error
            for iterations in (ITERATIONS, 1):  # where the answer lies far beyond the box, its direction may help
                taken += iterations
                far = self._call(q, T_goal, iterations)
                for found in (np.clip(far, low, high), q + shortened(far - q, q, low, high)):
                    after = dls.weighted_error(self._kin, found, T_goal)
                    if after < error:
                        best, error = found, after
                if error < before:
                    q = best
                    break
            if error > (1.0 - PROGRESS) * before:
                break
        return Answer(q, taken)

    def _call(self, q: Array, T_goal: Array, iterations: int) -> Array:
        """Joints (n,) rad after so many iterations of PyBullet's from q (n,)."""
        T = self._T_root_base @ T_goal
        for place, value in zip(self._joints, q, strict=True):
            pybullet.resetJointState(self._arm, place, value, physicsClientId=self._client)
        return np.array(pybullet.calculateInverseKinematics(
            self._arm, self._tool, T[:3, 3].tolist(), se3.quat_from_rotation(T[:3, :3]).tolist(), maxNumIterations=iterations,
            residualThreshold=THRESHOLD_M, jointDamping=[JOINT_DAMPING] * len(q), physicsClientId=self._client))
