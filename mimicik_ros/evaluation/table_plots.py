"""The pictures beside the table: what singularities do to each solver, and the ablation.

Pictures over the condition number leave out the suite `ood`: the errors and speeds of jumps are no matter of the condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from mimicik_ros.core import dls
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation.ablation_plot import ablation
from mimicik_ros.evaluation.cases import Case
from mimicik_ros.evaluation.conditioning import (
    LEAST_IN_BIN,
    binned,
    condition_number,
    demanded_speed,
    joint_speed,
    representative,
)
from mimicik_ros.evaluation.line_style import legend, looks
from mimicik_ros.evaluation.metrics import STRICT_M
from mimicik_ros.evaluation.plots import LIMIT, MUTED, STYLE
from mimicik_ros.evaluation.seeds import Spread
from mimicik_ros.evaluation.table import Table
from mimicik_ros.evaluation.trial import Episode

EDGES = np.geomspace(5.0, 5e3, 13)  # of the condition numbers; the last bin holds all above
SLOWEST_M_S = 0.005  # slower targets say nothing of amplification
FLOOR_MM = 1e-4
CONDITION = f"condition number of the Jacobian at the reference joints (1 rad = {dls.ROTATION_WEIGHT_M:g} m)"


def plot_table(table: Table, spreads: Sequence[Spread], kinematics: Kinematics, dt_s: float, folder: Path) -> list[Path]:
    """Write the PNGs that the table has figures for; returns their paths."""
    lines = _by_label(table)
    cases = [e.case for e in next(iter(table.episodes.values()))] if table.episodes else []
    written = []
    with plt.rc_context(STYLE):
        if lines:
            condition = {c.name: np.array([condition_number(kinematics, q) for q in c.reference]) for c in cases}
            written.append(_save(_by_condition(lines, condition), folder / "error_by_condition.png"))
            written.append(_save(_amplification(lines, cases, condition, dt_s), folder / "velocity_amplification.png"))
            case = representative([c for c in cases if c.suite == "singular"], condition)
            if case is not None:
                written.append(_save(_at_singularity(lines, case, condition[case.name], dt_s), folder / "singularity.png"))
        if spreads:
            written.append(_save(ablation(spreads), folder / "ablation.png"))
    return written


def _by_label(table: Table) -> dict[str, list[Episode]]:
    """Closed-loop episodes of each line: those of all seeds of a policy together."""
    lines: dict[str, list[Episode]] = {}
    for contender in table.contenders:
        if contender.name in table.episodes:
            lines.setdefault(contender.label, []).extend(table.episodes[contender.name])
    return lines


def _least(lines: dict[str, list[Episode]], condition: dict[str, Array], label: str) -> int:
    """LEAST_IN_BIN for each seed, so that a policy of many seeds shows no bin that another line lacks."""
    return LEAST_IN_BIN * (len(lines[label]) // len(condition))


def _by_condition(lines: dict[str, list[Episode]], condition: dict[str, Array]) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(14, 5.2), layout="constrained")
    for label, look in looks(list(lines)):
        used = [e for e in lines[label] if e.case.suite != "ood"]
        if not used:
            continue
        x = np.concatenate([condition[e.case.name][e.case.reachable] for e in used])
        y = 1e3 * np.concatenate([e.position_m[e.case.reachable] for e in used])
        for a, percentile in zip(axes, (None, 99.0), strict=True):
            a.loglog(*binned(x, np.maximum(y, FLOOR_MM), EDGES, percentile, _least(lines, condition, label)), label=label, **look)
    for a, name in zip(axes, ("mean", "99th percentile"), strict=True):
        _strict(a)
        a.set(title=f"Position error in closed loop, {name} of the ticks in a bin", xlabel=CONDITION,
              ylabel="position error (mm)")
    _decades(axes)
    legend(figure, axes[0])
    return figure


def _amplification(lines: dict[str, list[Episode]], cases: Sequence[Case], condition: dict[str, Array], dt_s: float) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(14, 5.2), layout="constrained")
    demand = {c.name: demanded_speed(c, dt_s) for c in cases}

    def points(part: Sequence[Episode]) -> tuple[Array, Array]:
        used = [e for e in part if e.case.suite != "ood"]
        keep = [(demand[e.case.name] > SLOWEST_M_S) & e.case.reachable for e in used]
        if not used:
            return np.zeros(0), np.zeros(0)
        x = np.concatenate([condition[e.case.name][k] for e, k in zip(used, keep, strict=True)])
        y = np.concatenate([(joint_speed(e, dt_s) / np.maximum(demand[e.case.name], SLOWEST_M_S))[k]
                            for e, k in zip(used, keep, strict=True)])
        return x, y

    for label, look in looks(list(lines)):
        x, y = points(lines[label])
        for a, percentile in zip(axes, (50.0, 99.0), strict=True):
            a.loglog(*binned(x, np.maximum(y, 1e-3), EDGES, percentile, _least(lines, condition, label)), label=label, **look)
    for a, name in zip(axes, ("median", "99th percentile"), strict=True):
        a.set(title=f"Velocity amplification, {name} of the ticks in a bin", xlabel=CONDITION,
              ylabel="fastest joint / target speed (rad per m)")
    _decades(axes)
    legend(figure, axes[0])
    return figure


def _at_singularity(lines: dict[str, list[Episode]], case: Case, condition: Array, dt_s: float) -> Any:
    figure, axes = plt.subplots(3, 1, figsize=(11, 9), sharex=True, layout="constrained", height_ratios=(3, 3, 1.4))
    t = dt_s * np.arange(len(case.stream.t_s))
    for label, look in looks(list(lines)):
        episode = next(e for e in lines[label] if e.case.name == case.name)
        axes[0].semilogy(t, np.maximum(1e3 * episode.position_m, FLOOR_MM), label=label, **look)
        axes[1].semilogy(t, np.maximum(joint_speed(episode, dt_s), 1e-2), **look)
    _strict(axes[0])
    axes[2].semilogy(t, condition, color=MUTED, linewidth=1.6)
    for a in axes:
        a.axvline(t[int(np.argmax(condition))], color=MUTED, linewidth=1.0, linestyle=":")
    kind = case.name.rsplit("_", 1)[0].replace("_", " ")
    axes[0].set(title=f"Through a singularity (trial: {kind}): position error in closed loop", ylabel="position error (mm)")
    axes[1].set(title="Speed of the fastest joint", ylabel="joint speed (rad/s)")
    axes[2].set(title="Condition number at the reference joints", xlabel="time (s)", ylabel="condition")
    legend(figure, axes[0])
    return figure


def _strict(axes: Any) -> None:
    axes.axhline(1e3 * STRICT_M, color=LIMIT, linewidth=1.0, linestyle=":")
    axes.text(0.0, 1e3 * STRICT_M, " strict: 1 mm", color=LIMIT, fontsize=9, va="bottom", ha="left",
              transform=axes.get_yaxis_transform())


def _decades(axes: Sequence[Any]) -> None:
    """Plain numbers on logarithmic axes, the same whole decades on all of them."""
    low, high = min(a.get_ylim()[0] for a in axes), max(a.get_ylim()[1] for a in axes)
    for a in axes:
        a.set_ylim(10.0 ** np.floor(np.log10(low)), 10.0 ** np.ceil(np.log10(high)))
        a.set_xlim(EDGES[0], EDGES[-1])
        for axis in (a.xaxis, a.yaxis):
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter("")


def _save(figure: Any, path: Path) -> Path:
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return path
