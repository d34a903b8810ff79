"""The picture of the ablation: what each choice of training does to the model, over its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from mimicik_ros.evaluation.line_style import legend, looks
from mimicik_ros.evaluation.seeds import LEAST_SEEDS, SPREAD_OF, Spread
from mimicik_ros.evaluation.table import ALL

HEADINGS = {"position_mean_mm": "mean position error (mm)", "strict_percent": "strict (% of ticks)",
            "spike_0.05rad_percent": "spikes > 0.05 rad (% of ticks)"}


def ablation(spreads: Sequence[Spread]) -> Any:
    """Bars of the mean over seeds for each policy and suite, one row for each figure of SPREAD_OF."""
    policies = list(dict.fromkeys(s.policy for s in spreads))
    suites = list(dict.fromkeys(s.suite for s in spreads))
    figure, axes = plt.subplots(3, 1, figsize=(11, 10), sharex=True, layout="constrained")
    width = 0.8 / len(policies)
    look = dict(looks(policies))
    for a, name in zip(axes, SPREAD_OF, strict=True):
        for s in (s for s in spreads if s.figure == name):
            x = suites.index(s.suite) + (policies.index(s.policy) - (len(policies) - 1) / 2) * width
            a.bar(x, np.mean(s.values), 0.92 * width, color=look[s.policy]["color"], alpha=0.75,
                  label=s.policy if s.suite == ALL else None, yerr=s.deviation, capsize=3, ecolor="#222222")
            a.plot([x] * s.n, s.values, "o", color="#222222", markersize=3)
        a.set(title=HEADINGS[name])
        a.grid(axis="x", visible=False)
    means = [v for s in spreads if s.figure == SPREAD_OF[0] for v in s.values if 0.0 < v < np.inf] or [1.0]
    axes[0].set(yscale="log", ylim=(10.0 ** np.floor(np.log10(min(means))), 10.0 ** (np.floor(np.log10(max(means))) + 1.0)))
    axes[1].set_ylim(0.0, 105.0)
    axes[2].set_yscale("symlog", linthresh=0.01)
    axes[2].set_ylim(0.0, 100.0)
    for a in (axes[0], axes[2]):
        a.yaxis.set_major_formatter("{x:g}")
    axes[2].set_xticks(range(len(suites)), ["all suites" if s == ALL else s for s in suites])
    few = "" if all(s.n >= LEAST_SEEDS for s in spreads) else f"no error bar below {LEAST_SEEDS} seeds"
    figure.suptitle(f"Policies in closed loop, model alone: mean over seeds, one standard deviation, each seed a dot\n{few}",
                    fontsize=12, fontweight="bold", x=0.01, ha="left")
    legend(figure, axes[0])
    return figure
