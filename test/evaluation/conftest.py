"""What tests of the table share: the robot, short trials, and episodes made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from mimicik_ros.config import Config
from mimicik_ros.core import se3
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.evaluation.cases import Case
from mimicik_ros.evaluation.rollout import Rollout
from mimicik_ros.evaluation.streams import Stream
from mimicik_ros.evaluation.trial import Episode
from mimicik_ros.share import share_path


@pytest.fixture(scope="session")
def arm():
    robot = Config().robot
    return Kinematics(share_path(robot.urdf), robot.base_frame, robot.tool_frame, robot.joint_names)


@pytest.fixture
def trial(arm):
    """A trial whose targets are the poses of a joint path (k, n) rad."""

    def make(path, suite="random", name="by_hand"):
        T = arm.fk_batch(path)
        stream = Stream(0.05 * np.arange(len(path)), T[:, :3, 3], se3.quat_from_rotation(T[:, :3, :3]))
        return Case(suite, name, stream, path[0], path, np.ones(len(path), dtype=bool))

    return make


@pytest.fixture
def episode():
    """An episode with errors given by hand: position_mm, and optionally commands, reachable, rotation, suite, name, statuses."""

    def make(position_mm, *, q=None, reachable=None, rotation_deg=None, suite="random", name="by_hand", status=None,
             energy_j=None, latency_ms=1.0, cpu_s=0.0):
        k = len(position_mm)
        q = np.zeros((k, 6)) if q is None else np.asarray(q, dtype=float)
        stream = Stream(0.05 * np.arange(k), np.zeros((k, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (k, 1)))
        reach = np.ones(k, dtype=bool) if reachable is None else np.asarray(reachable, dtype=bool)
        done = Rollout(q, np.full(k, latency_ms), status or ["ok"] * k, np.full(k, 0.5 * latency_ms), cpu_s)
        rotation = np.zeros(k) if rotation_deg is None else np.radians(rotation_deg)
        return Episode(Case(suite, name, stream, np.zeros(6), q, reach), done, 1e-3 * np.asarray(position_mm, dtype=float),
                       rotation, energy_j)

    return make
