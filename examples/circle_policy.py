"""The smallest policy: 32 poses, 50 ms apart, on a slow circle of 40 mm radius through the pose in which it found the tool."""

import time

import numpy as np

from mimicik_ros.config import Config
from mimicik_ros.core import se3
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.share import share_path

PERIOD_S, POSES, RADIUS_M, TURN_S = 0.05, 32, 0.04, 8.0


class Circle:
    """observation -> (32, 7) poses in the base frame. A policy may have a memory: this one keeps its start."""

    def __init__(self):
        robot = Config().robot
        self.kinematics = Kinematics(share_path(robot.urdf), robot.base_frame, robot.tool_frame, robot.joint_names)
        self.start = None  # T_base_tool (4, 4) and the time of the first observation

    def __call__(self, observation):
        """Poses from now on; joints is a dict of name -> position (rad)."""
        now_s = time.monotonic()
        if self.start is None:
            q = np.array([observation["joints"][name] for name in self.kinematics.joint_names])
            self.start = self.kinematics.fk(q), now_s
        T, start_s = self.start
        angle = (now_s - start_s + PERIOD_S * np.arange(POSES)) * 2.0 * np.pi / TURN_S
        circle = RADIUS_M * np.stack([0.0 * angle, np.sin(angle), 1.0 - np.cos(angle)], axis=1)
        return np.hstack([T[:3, 3] + circle, np.tile(se3.quat_from_rotation(T[:3, :3]), (POSES, 1))])


circle = Circle()  # the callable that policy_chunks.py takes by name
