"""How much a policy's figures depend on the seed of its training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mimicik_ros.evaluation.table import CLOSED, Row

LEAST_SEEDS = 3
SPREAD_OF = ("position_mean_mm", "strict_percent", "spike_0.05rad_percent")


@dataclass(frozen=True)
class Spread:
    """One figure of one policy on one suite (closed loop) over n seeds.

    mean, deviation (sample standard deviation, n - 1) and ratio (largest over smallest) are None below LEAST_SEEDS seeds; ratio
    also where the smallest is 0. values are the seeds' own.
    """

    policy: str
    suite: str
    figure: str
    values: tuple[float, ...]
    mean: float | None = None
    deviation: float | None = None
    ratio: float | None = None

    @property
    def n(self) -> int:
        """Number of seeds."""
        return len(self.values)


def spread_of(policy: str, suite: str, figure: str, values: Sequence[float]) -> Spread:
    """The spread of some values."""
    if len(values) < LEAST_SEEDS:
        return Spread(policy, suite, figure, tuple(values))
    ratio = max(values) / min(values) if min(values) > 0.0 else None
    return Spread(policy, suite, figure, tuple(values), float(np.mean(values)), float(np.std(values, ddof=1)), ratio)


def spreads(rows: Sequence[Row]) -> list[Spread]:
    """Every policy on every suite, in the order of the rows."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.kind == "policy" and row.loop == CLOSED:
            found.setdefault((row.policy, row.suite), []).append(row)
    return [spread_of(policy, suite, figure, [_number(r.figures[figure]) for r in group])
            for (policy, suite), group in found.items() for figure in SPREAD_OF]


def _number(value: object) -> float:
    assert isinstance(value, (int, float))
    return float(value)
