"""Streams that score a solver in closed loop: generated from a seed, never stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.evaluation.cases.articulated import articulated
from mimicik_ros.evaluation.cases.case import Case
from mimicik_ros.evaluation.cases.ood import out_of_distribution
from mimicik_ros.evaluation.cases.singular import singular
from mimicik_ros.evaluation.cases.smooth import random_motion
from mimicik_ros.evaluation.cases.teleop import teleop

SUITES = ("teleop", "random", "singular", "ood", "articulated")
SIZES = {"tiny": 5, "small": 15, "full": 60}  # cases a suite
PERIOD_S = 0.05

__all__ = ["SIZES", "SUITES", "Case", "make_cases"]


def make_cases(kinematics: Kinematics, suites: tuple[str, ...], seed: int, size: str, data: Path | None = None,
               period_s: float = PERIOD_S) -> list[Case]:
    """The cases of some suites; the same arguments give the same cases.

    Args:
        kinematics: the robot.
        suites: of SUITES.
        seed: each suite draws from a generator of its own, seeded by this and its name's place.
        size: of SIZES.
        data: folder with vr_teleop/ and handheld/ for the suite `teleop`; None or without files: our own motion.
        period_s: of the ticks.

    Raises:
        ConfigError: a suite or size is unknown.
    """
    unknown = [s for s in suites if s not in SUITES]
    if unknown:
        raise ConfigError(f"suites: unknown '{unknown[0]}'; one of {', '.join(SUITES)}")
    if size not in SIZES:
        raise ConfigError(f"size: unknown '{size}'; one of {', '.join(SIZES)}")
    cases: list[Case] = []
    for suite in suites:
        rng = np.random.default_rng((seed, SUITES.index(suite)))
        count = SIZES[size]
        if suite == "teleop":
            cases += teleop(kinematics, rng, count, period_s, data)
        else:
            make = {"random": random_motion, "singular": singular, "ood": out_of_distribution, "articulated": articulated}[suite]
            cases += make(kinematics, rng, count, period_s)
    return cases
