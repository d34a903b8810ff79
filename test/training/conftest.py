"""What the training tests share: the robot, its data and one tiny run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mimicik_ros.config import Config
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.share import share_path

pytest.importorskip("torch", reason="the training extra is not installed")

HOMES = np.array([[0, 0, 0, 0, 0, 0], [0, 0, 0, np.pi / 2, 0, -np.pi / 2]])


@pytest.fixture(scope="session")
def kinematics() -> Kinematics:
    robot = Config().robot
    return Kinematics(share_path(robot.urdf), robot.base_frame, robot.tool_frame, robot.joint_names)


@pytest.fixture(scope="session")
def synthesis(kinematics):
    from mimicik_ros.training.synthesis import Synthesis

    return Synthesis(kinematics, 0.05, 0.06, (0.6, 0.15, 0.15, 0.1), HOMES, None, seed=3)


@pytest.fixture(scope="session")
def tiny_run(kinematics, synthesis, tmp_path_factory):
    """A real run of the tiny preset: (Trained, checkpoint path)."""
    from mimicik_ros.training.spec import preset
    from mimicik_ros.training.train import train

    path: Path = tmp_path_factory.mktemp("run") / "tiny.pt"
    trained = train(kinematics, synthesis, preset("tiny"), path, {"homes": HOMES.tolist()})
    return trained, path


@pytest.fixture(scope="session")
def policy_runs(kinematics, synthesis, tmp_path_factory):
    """A real run of every policy, some seconds each: name -> Trained."""
    from mimicik_ros.training.policies import POLICIES
    from mimicik_ros.training.spec import preset
    from mimicik_ros.training.train import train

    runs = {}
    for name in POLICIES:
        path: Path = tmp_path_factory.mktemp(name) / "run.pt"
        spec = preset("tiny", policy=name, steps=100, batch=256)
        runs[name] = train(kinematics, synthesis, spec, path, {"homes": HOMES.tolist()})
    return runs
