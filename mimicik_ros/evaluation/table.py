"""The rows of the table: every contender on every suite, in closed and in open loop, and the published figures beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mimicik_ros.evaluation.cases import Case
from mimicik_ros.evaluation.contenders import Contender
from mimicik_ros.evaluation.energy import EnergyMeter
from mimicik_ros.evaluation.score import Figures, score
from mimicik_ros.evaluation.trial import Episode, run_trial

ALL = "all"
CLOSED, OPEN = "closed", "open"
LOOPS = (CLOSED, OPEN)
NOTE = "published (other data, other arm)"
PUBLISHED: dict[str, Figures] = {
    "MimicIK": {"position_mean_mm": 4.65, "success_10mm_percent": 92.01, "spike_0.05rad_percent": 7.99, "tick_p50_ms": 6.74,
                "energy_mj": 398.0},
    "MimicIK, no FK loss": {"spike_0.05rad_percent": 21.89},
    "UNet diffusion": {"position_mean_mm": 5.89, "success_10mm_percent": 85.59, "spike_0.05rad_percent": 14.41,
                       "tick_p50_ms": 21.66, "energy_mj": 3424.0},
}


@dataclass(frozen=True)
class Row:
    """Figures of one contender on one suite in one loop; or why there are none.

    Attributes:
        solver, kind, policy, seed: see Contender; kind is `published` for the reference rows.
        loop, suite: where it ran; suite `all` pools them.
        note: `skipped: reason`, or where the figures come from; empty for measured rows.
        energy_source: what the energy counts, or why it is not measured.
        figures: by the keys of columns.py; None where a figure is not defined.
    """

    solver: str
    kind: str
    policy: str
    seed: int | None
    loop: str
    suite: str
    note: str
    energy_source: str
    figures: Figures


@dataclass(frozen=True)
class Table:
    """Rows, and the closed-loop episodes behind them by solver."""

    rows: tuple[Row, ...]
    contenders: tuple[Contender, ...]
    episodes: dict[str, list[Episode]]


def run_table(contenders: Sequence[Contender], cases: Sequence[Case], loops: Sequence[str] = LOOPS,
              watch: Callable[[Contender, int], None] | None = None) -> Table:
    """Measure all contenders, one after the other.

    Args:
        contenders: who.
        cases: what they follow.
        loops: of LOOPS.
        watch: called after each trial with the contender and the ticks done.
    """
    rows: list[Row] = []
    kept: dict[str, list[Episode]] = {}
    suites = list(dict.fromkeys(c.suite for c in cases))
    for contender in contenders:
        if contender.servo is None:
            rows.append(_row(contender, "", ALL, "", {}))
            continue
        meter = EnergyMeter.of_machine(contender.on_gpu)
        for loop in loops:
            episodes = []
            for case in cases:
                episodes.append(run_trial(contender.servo, case, meter, loop == OPEN))
                if watch is not None:
                    watch(contender, len(case.stream.t_s))
            if loop == CLOSED:
                kept[contender.name] = episodes
            for suite in (ALL, *suites):
                part = [e for e in episodes if suite in (ALL, e.case.suite)]
                figures = score(part, contender.servo.config.dt_s, loop == OPEN)
                rows.append(_row(contender, loop, suite, meter.source, figures))
    published = [Row(name, "published", "", None, CLOSED, ALL, NOTE, "", figures) for name, figures in PUBLISHED.items()]
    return Table((*rows, *published), tuple(contenders), kept)


def _row(contender: Contender, loop: str, suite: str, source: str, figures: Figures) -> Row:
    note = f"skipped: {contender.skipped}" if contender.skipped else ""
    return Row(contender.name, contender.kind, contender.policy, contender.seed, loop, suite, note, source, figures)
