"""The bars that the model alone must meet, in closed loop and unclamped, and what it measures against them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from mimicik_ros.evaluation.cases.singular import HOMES
from mimicik_ros.evaluation.cases.teleop import recorded
from mimicik_ros.evaluation.score import BACK_M, Figures, score
from mimicik_ros.evaluation.trial import Episode

SUITES = ("teleop", "singular", "ood")
RELATIONS = {"<=": operator.le, ">=": operator.ge}
RECORDED = "recorded VR and hand-held motion"
# group, figure, relation, limit, unit
BARS = (
    (RECORDED, "position_mean_mm", "<=", 0.10, "mm"),
    (RECORDED, "position_p99_mm", "<=", 1.0, "mm"),
    (RECORDED, "strict_percent", ">=", 99.5, "%"),
    (RECORDED, "spike_0.05rad_percent", "<=", 0.02, "%"),
    ("singular", "divergences", "<=", 0, ""),
    ("singular", "position_mean_mm", "<=", 2.0, "mm"),
    ("singular", "strict_percent", ">=", 85.0, "%"),
    ("singular", "spike_0.05rad_percent", "<=", 0.2, "%"),
    ("singular", "max_velocity_rad_s", "<=", 4.0, "rad/s"),
    *((home, "episode_success_10mm_percent", ">=", 100.0, "%") for home in HOMES),
    ("0.25 mm tremor", "spike_0.05rad_percent", "<=", 0.5, "%"),
    ("out of distribution", "divergences", "<=", 0, ""),
    ("out of distribution", "not_finite", "<=", 0, ""),
    ("out of distribution", "not_back", "<=", 0, ""),
    ("all ticks", "solver_p50_ms", "<=", 0.3, "ms"),
)


@dataclass(frozen=True)
class Bar:
    """One bar: what is wanted, what was measured (None: there were no trials to judge it by), and whether it is met."""

    name: str
    wanted: str
    value: float | None
    met: bool | None
    note: str = ""

    @property
    def verdict(self) -> str:
        """met, MISSED or not judged."""
        return {True: "met", False: "MISSED", None: "not judged"}[self.met]


def groups(episodes: Sequence[Episode]) -> dict[str, list[Episode]]:
    """The closed-loop episodes that each group of bars is judged by."""
    of = {suite: [e for e in episodes if e.case.suite == suite] for suite in SUITES}
    return {
        RECORDED: [e for e in of["teleop"] if recorded(e.case)],
        "singular": of["singular"],
        **{home: [e for e in of["singular"] if e.case.name.startswith(home)] for home in HOMES},
        "0.25 mm tremor": [e for e in of["ood"] if e.case.name.startswith("tremor")],
        "out of distribution": of["ood"],
        "all ticks": list(episodes),
    }


def judge(episodes: Sequence[Episode], dt_s: float) -> list[Bar]:
    """Every bar, by the model's closed-loop episodes on SUITES, unclamped."""
    figures: dict[str, Figures] = {name: score(part, dt_s) for name, part in groups(episodes).items() if part}
    return [_bar(figures.get(group), group, figure, relation, limit, unit) for group, figure, relation, limit, unit in BARS]


def _bar(figures: Figures | None, group: str, figure: str, relation: str, limit: float, unit: str) -> Bar:
    name, wanted = f"{group}: {figure}", f"{relation} {limit:g} {unit}".strip()
    if group in HOMES:
        name = f"{group} is left: final error below {1e3 * BACK_M:g} mm, share of trials"
    if figures is None:
        return Bar(name, wanted, None, None, "no recorded motion here; give --data" if group == RECORDED else "no such trial")
    value = figures[figure]
    assert isinstance(value, (int, float))
    return Bar(name, wanted, float(value), bool(RELATIONS[relation](value, limit)))
