"""One trial as one solver did it, in closed loop or open loop, with its errors and the energy it took."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.servo import IKServo
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation import metrics
from mimicik_ros.evaluation.cases import Case
from mimicik_ros.evaluation.energy import EnergyMeter
from mimicik_ros.evaluation.rollout import Rollout, rollout


@dataclass(frozen=True)
class Episode:
    """One trial, done.

    Attributes:
        case: the trial.
        done: commands, times and statuses.
        position_m, rotation_rad: (k,) error of each command against the target itself; infinite where the command is not finite.
        energy_j: of the machine during the trial; None where there is no counter.
    """

    case: Case
    done: Rollout
    position_m: Array
    rotation_rad: Array
    energy_j: float | None

    @property
    def commands(self) -> Array:
        """(k + 2, n) rad: at rest before the first command, which is judged too; one that is not finite leaves the last."""
        q = np.vstack([self.case.q_init, self.case.q_init, self.done.q])
        for i in np.flatnonzero(~np.isfinite(q).all(axis=1)):
            q[i] = q[i - 1]
        return q


def run_trial(servo: IKServo, case: Case, meter: EnergyMeter, open_loop: bool = False) -> Episode:
    """Follow a case in closed loop; or in open loop, each tick from the reference of the row before."""
    meter.start()
    done = rollout(servo, case.stream, case.q_init, case.reference if open_loop else None)
    return episode_of(servo.kinematics, case, done, meter.stop())


def episode_of(kinematics: Kinematics, case: Case, done: Rollout, energy_j: float | None) -> Episode:
    """The episode of a finished rollout."""
    finite = np.isfinite(done.q.sum(axis=1))
    position, rotation = np.full(len(finite), np.inf), np.full(len(finite), np.inf)
    position[finite], rotation[finite] = metrics.pose_errors(kinematics.fk_batch(done.q[finite]), case.stream.poses[finite])
    return Episode(case, done, position, rotation, energy_j)
