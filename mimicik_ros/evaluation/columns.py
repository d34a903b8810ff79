"""The columns of the table: their names, their digits and the definitions that are printed with them."""

from __future__ import annotations

from dataclasses import dataclass

from mimicik_ros.evaluation.metrics import SPIKES_RAD, SUCCESS_MM


@dataclass(frozen=True)
class Column:
    """One figure: its key in Figures, CSV and JSON; its heading; digits after the point, None = four significant ones."""

    key: str
    heading: str
    digits: int | None = None


def _errors(name: str, unit: str, heading: str) -> tuple[Column, ...]:
    return tuple(Column(f"{name}_{k}_{unit}", f"{heading} {k} {unit}") for k in ("mean", "p95", "p99"))


ACCURACY = (
    *_errors("position", "mm", "pos"), *_errors("rotation", "deg", "rot"),
    *(Column(f"success_{d}mm_percent", f"SR@{d} %", 2) for d in SUCCESS_MM), Column("strict_percent", "strict %", 2),
)
EPISODES = (
    *(Column(f"episode_success_{d}mm_percent", f"episode SR@{d} %", 1) for d in SUCCESS_MM),
    Column("episode_strict_percent", "episode strict %", 1),
)
CALM = (
    *(Column(f"spike_{r:g}rad_percent", f"spikes {r:g} %", 3) for r in SPIKES_RAD),
    Column("jerk_rms_rad_s3", "jerk rms rad/s³"), Column("jerk_max_rad_s3", "jerk max rad/s³"),
    Column("max_velocity_rad_s", "max velocity rad/s", 2), Column("branch_switches", "branch switches", 0),
    Column("divergences", "diverged", 0), Column("returns", "returns", 0), Column("not_back", "not back", 0),
    Column("not_finite", "not finite", 0), Column("solver_errors", "errors", 0),
)
COST = (
    Column("tick_p50_ms", "tick p50 ms", 3), Column("tick_p99_ms", "tick p99 ms", 3),
    Column("solver_p50_ms", "solver p50 ms", 3), Column("solver_p99_ms", "solver p99 ms", 3),
    Column("cpu_ms", "CPU ms/step", 3), Column("energy_mj", "energy mJ/step", 1),
)
SIZE = (Column("episodes", "trials", 0), Column("ticks", "ticks", 0), Column("reachable_ticks", "ticks within reach", 0))
COLUMNS = (*SIZE, *ACCURACY, *EPISODES, *CALM, *COST)

DEFINITIONS = (
    ("closed loop", "the solver's own last command is the measured joints of the next tick (ideal arm, 20 Hz); no look-ahead"),
    ("open loop", "teacher-forced: each tick starts from a joint path that follows the stream (damped least squares) and takes "
                  "one step; what needs one tick to follow another is not defined there"),
    ("pos, rot", "position error |p(FK(command)) - p*|, mm, and geodesic rotation error, deg, against the target itself; mean "
                 "and percentiles over the ticks whose target is within reach of the reference path"),
    ("SR@d", "share of those ticks with a position error below d mm; episode: of trials, at their final tick"),
    ("strict", "<= 1 mm and <= 0.2 deg"),
    ("spikes", "share of ticks where any joint's step changes by more than 0.02, 0.05 or 0.1 rad from the tick before (0.05 rad "
               "at 20 Hz = 20 rad/s²); all ticks, the first from rest"),
    ("jerk", "third difference of the commands over dt³, of every joint and tick: root mean square, and largest"),
    ("max velocity", "of any joint, step over period"),
    ("branch switches", "ticks where any joint moves more than 0.5 rad"),
    ("diverged", "times that the position error stays above 100 mm for 1 s or longer while the target is within reach"),
    ("returns, not back", "times that a target comes back within reach for more than 1 s, and those where no error of that "
                          "first second is below 10 mm"),
    ("not finite, errors", "ticks whose command or proposal is NaN or infinite; ticks where the solver raised an exception"),
    ("tick, solver", "wall time of the whole tick, and of the solver's call in it, one after the other in one process"),
    ("CPU", "CPU time of the process, all threads, over the ticks"),
    ("energy", "of the whole machine by its counter (RAPL packages, NVML), over the ticks; without a counter: not measured"),
    ("governed", "every solver is asked for the pose one tick ahead, no further than the configured speeds lead (by default 0.8 "
                 "m/s and 3 rad/s); the error is against the target all the same"),
    ("unclamped", "without --velocity-limit: 100 rad/s and no acceleration limit; the tick refuses a joint step above "
                  "servo.max_joint_step_rad (0.5 rad), which is lifted for the classical solvers, as it would hide their branch "
                  "switches"),
    ("all", "the ticks of every suite together, not the mean of the suites"),
    ("published", "figures of the MimicIK publication, on its own data and arm, by definitions that it does not give (its "
                  "success and spike rates add up to 100 %, so its spikes may be misses of 10 mm); - where it gives none"),
)
