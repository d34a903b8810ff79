"""The baselines by name: which there are, whether they can run here, and how to make one."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from mimicik_ros.core.errors import ConfigError
from mimicik_ros.share import share_path

if TYPE_CHECKING:  # the names must be there for `mimicik --help` where Pinocchio is not
    from mimicik_ros.config import Config
    from mimicik_ros.core.kinematics import Kinematics
    from mimicik_ros.evaluation.baselines.baseline import Baseline, PoseSolver

DLS = ("dls-one", "dls-exact")
NAMES = (*DLS, "pink", "trac-ik", "pybullet", "closed-form", "curobo")
PACKAGES = {"pink": ("pink", "qpsolvers", "daqp"), "trac-ik": ("pytracik",), "pybullet": ("pybullet",)}
PIP = "pip install 'mimicik_ros[baselines]'"
CUROBO = "needs an NVIDIA GPU and cuRobo 0.7 from source (it is on no index): pip install torch; " \
    "pip install --no-build-isolation git+https://github.com/NVlabs/curobo@v0.7.7"


def unavailable(name: str) -> str | None:
    """Why a baseline cannot run here, with the command that helps; None where it can. Raises ConfigError for another name."""
    _require(name)
    for package in PACKAGES.get(name, ()):
        try:
            importlib.import_module(package)
        except ImportError as error:
            return f"{name} needs '{package}' ({(str(error).splitlines() or ['no reason given'])[0]}); {PIP}"
    if name == "curobo":
        from mimicik_ros.evaluation.baselines import curobo_gpu

        reason = curobo_gpu.missing()
        return f"{name}: {reason}; it {CUROBO}" if reason else None
    return None


def make(name: str, kinematics: Kinematics, config: Config) -> Baseline:
    """A baseline for a robot, to be given to IKServo as its solver.

    Raises:
        ConfigError: there is no such baseline, it cannot run here, or this arm is none for it.
        RobotError: its library cannot read the URDF.
    """
    reason = unavailable(name)
    if reason:
        raise ConfigError(reason)
    from mimicik_ros.evaluation.baselines.baseline import Baseline

    return Baseline(name, _pose_solver(name, kinematics, config))


def _pose_solver(name: str, kinematics: Kinematics, config: Config) -> PoseSolver:
    from mimicik_ros.core.limits import JointLimits

    limits = JointLimits.from_config(config, kinematics)
    urdf: Path = share_path(config.robot.urdf)
    if name in DLS:
        from mimicik_ros.evaluation.baselines.dls import DampedSteps

        return DampedSteps.named(name, kinematics, config.servo)
    if name == "pink":
        from mimicik_ros.evaluation.baselines.pink_qp import PinkQP

        return PinkQP(kinematics)
    if name == "trac-ik":
        from mimicik_ros.evaluation.baselines.trac_ik import TracIK

        return TracIK(kinematics, limits, urdf)
    if name == "pybullet":
        from mimicik_ros.evaluation.baselines.bullet import Bullet

        return Bullet(kinematics, urdf)
    if name == "closed-form":
        from mimicik_ros.evaluation.baselines.closed_form import ClosedForm

        return ClosedForm(kinematics, limits)
    from mimicik_ros.evaluation.baselines.curobo_gpu import Curobo

    return Curobo(kinematics, limits, urdf)


def _require(name: str) -> None:
    if name not in NAMES:
        raise ConfigError(f"baseline: unknown '{name}'; one of {', '.join(NAMES)}")
