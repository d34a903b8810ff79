"""TRAC-IK (Beeson & Ames 2015) through pytracik: Newton and SQP solvers in two threads, with random restarts."""

from __future__ import annotations

from pathlib import Path

import pytracik

from mimicik_ros.core import se3
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.limits import JointLimits
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation.baselines.baseline import Answer
from mimicik_ros.evaluation.baselines.plain_urdf import plain_urdf

TIMEOUT_S = 0.005  # the library's default; Distance uses all of it
EPSILON = 1e-6  # m and rad; at 1e-10 it fails at times, or answers from another branch


class TracIK:
    """The solution nearest to the last command (Distance), inside the box where there is one, else inside the limits.

    Not deterministic: threads race and restarts are random.
    """

    def __init__(self, kinematics: Kinematics, limits: JointLimits, urdf: Path) -> None:
        self._limits = limits
        xml = plain_urdf(urdf, kinematics.joint_names, mass=False)
        self._solver = pytracik.TRAC_IK(kinematics.base_frame, kinematics.tool_frame, xml, TIMEOUT_S, EPSILON,
                                        pytracik.SolveType.Distance)

    def joints(self, q_ref: Array, T_goal: Array, low: Array, high: Array) -> Answer:
        """See PoseSolver."""
        quat = se3.quat_from_rotation(T_goal[:3, :3])
        for lower, upper in ((low, high), (self._limits.lower, self._limits.upper)):
            pytracik.set_joint_limits(self._solver, lower.tolist(), upper.tolist())
            found = pytracik.ik(self._solver, q_ref, *T_goal[:3, 3], *quat)
            if found[0] >= 0:
                return Answer(found[1:])
        return Answer(None)
