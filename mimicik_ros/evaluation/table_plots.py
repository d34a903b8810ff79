"""The pictures beside the table: what singularities do to each solver, and what each choice of training does to the model.

Pictures over the condition number leave out the suite `ood`: the errors and speeds of jumps are no matter of the condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from mimicik_ros.core import dls
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation.cases import Case
from mimicik_ros.evaluation.metrics import STRICT_M
from mimicik_ros.evaluation.plots import COMMAND, LIMIT, MUTED, STYLE, TARGET
from mimicik_ros.evaluation.seeds import LEAST_SEEDS, SPREAD_OF, Spread
from mimicik_ros.evaluation.table import ALL, Table
from mimicik_ros.evaluation.trial import Episode

COLOURS = ("#3a9a5c", "#7d5ba6", "#d16ba5", "#8c6d46", "#2aa7a1", "#b8a200", "#444b54", "#e15759", "#76b7e8", "#a6761d")
DASHES = ("-", "--", "-.", ":")
EDGES = np.geomspace(5.0, 5e3, 13)  # of the condition numbers; the last bin holds all above
LEAST_IN_BIN = 20
SLOWEST_M_S = 0.005  # slower targets say nothing of amplification
FLOOR_MM = 1e-4
CONDITION = f"condition number of the Jacobian at the reference joints (1 rad = {dls.ROTATION_WEIGHT_M:g} m)"
HEADINGS = {"position_mean_mm": "mean position error (mm)", "strict_percent": "strict (% of ticks)",
            "spike_0.05rad_percent": "spikes > 0.05 rad (% of ticks)"}


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
            written.append(_save(_ablation(spreads), folder / "ablation.png"))
    return written


def condition_number(kinematics: Kinematics, q: Array) -> float:
    """Largest over smallest singular value of the Jacobian at q (n,) rad, rotation weighted as in dls.py."""
    values = np.linalg.svd(dls.WEIGHTS[:, None] * kinematics.jacobian(q), compute_uv=False)
    return float(values[0] / max(values[-1], 1e-9))


def demanded_speed(case: Case, dt_s: float) -> Array:
    """Speed (k,) m/s at which the target moves from row to row, a radian counted as in dls.py; 0 at the first row."""
    T = case.stream.poses
    turn = np.swapaxes(T[:-1, :3, :3], 1, 2) @ T[1:, :3, :3]
    angle = np.arccos(np.clip((np.trace(turn, axis1=1, axis2=2) - 1.0) / 2.0, -1.0, 1.0))
    way = np.hypot(np.linalg.norm(np.diff(T[:, :3, 3], axis=0), axis=1), dls.ROTATION_WEIGHT_M * angle)
    return np.concatenate([[0.0], way / dt_s])


def joint_speed(episode: Episode, dt_s: float) -> Array:
    """Speed (k,) rad/s of the fastest joint at each tick."""
    speed: Array = np.abs(np.diff(episode.commands[1:], axis=0)).max(axis=1) / dt_s
    return speed


def representative(cases: Sequence[Case], condition: dict[str, Array]) -> Case | None:
    """The case whose reference path peaks at the median of the speeds, of those that meet their singularity on the way."""
    on_the_way = [c for c in cases if 0.2 < float(np.argmax(condition[c.name])) / len(c.reference) < 0.9]
    chosen = on_the_way or list(cases)
    if not chosen:
        return None
    peaks = [float(np.abs(np.diff(c.reference, axis=0)).max()) for c in chosen]
    return chosen[int(np.argsort(peaks)[len(peaks) // 2])]


def binned(x: Array, y: Array, edges: Array, percentile: float | None = None, least: int = LEAST_IN_BIN) -> tuple[Array, Array]:
    """Geometric centre of each bin of x that holds `least` values or more, and the mean (or percentile) of y in it.

    Values of x beyond the edges count to the first or last bin.
    """
    place = np.clip(np.digitize(x, edges), 1, len(edges) - 1)
    centres, values = [], []
    for i in range(1, len(edges)):
        inside = y[place == i]
        if len(inside) >= least:
            centres.append(np.sqrt(edges[i - 1] * edges[i]))
            values.append(inside.mean() if percentile is None else np.percentile(inside, percentile))
    return np.array(centres), np.array(values)


def _by_label(table: Table) -> dict[str, list[Episode]]:
    """Closed-loop episodes of each line: those of all seeds of a policy together."""
    lines: dict[str, list[Episode]] = {}
    for contender in table.contenders:
        if contender.name in table.episodes:
            lines.setdefault(contender.label, []).extend(table.episodes[contender.name])
    return lines


def _looks(labels: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Colour, dash and weight of each line: the whole tick and the shipped model stand out."""
    fixed = {"servo": dict(color=COMMAND, linewidth=2.4, zorder=4), "model": dict(color=TARGET, linewidth=2.4, zorder=3)}
    others = [label for label in labels if label not in fixed]
    for label in labels:
        i = others.index(label) if label in others else 0
        yield label, fixed.get(label) or dict(color=COLOURS[i % len(COLOURS)], linewidth=1.4, zorder=5,
                                              linestyle=DASHES[1 + i % 3] if i < len(COLOURS) else DASHES[0])


def _least(lines: dict[str, list[Episode]], condition: dict[str, Array], label: str) -> int:
    """LEAST_IN_BIN for each seed, so that a policy of many seeds shows no bin that another line lacks."""
    return LEAST_IN_BIN * (len(lines[label]) // len(condition))


def _by_condition(lines: dict[str, list[Episode]], condition: dict[str, Array]) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(14, 5.2), layout="constrained")
    for label, look in _looks(list(lines)):
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
    _legend(figure, axes[0])
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

    for label, look in _looks(list(lines)):
        x, y = points(lines[label])
        for a, percentile in zip(axes, (50.0, 99.0), strict=True):
            a.loglog(*binned(x, np.maximum(y, 1e-3), EDGES, percentile, _least(lines, condition, label)), label=label, **look)
    for a, name in zip(axes, ("median", "99th percentile"), strict=True):
        a.set(title=f"Velocity amplification, {name} of the ticks in a bin", xlabel=CONDITION,
              ylabel="fastest joint / target speed (rad per m)")
    _decades(axes)
    _legend(figure, axes[0])
    return figure


def _at_singularity(lines: dict[str, list[Episode]], case: Case, condition: Array, dt_s: float) -> Any:
    figure, axes = plt.subplots(3, 1, figsize=(11, 9), sharex=True, layout="constrained", height_ratios=(3, 3, 1.4))
    t = dt_s * np.arange(len(case.stream.t_s))
    for label, look in _looks(list(lines)):
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
    _legend(figure, axes[0])
    return figure


def _ablation(spreads: Sequence[Spread]) -> Any:
    policies = list(dict.fromkeys(s.policy for s in spreads))
    suites = list(dict.fromkeys(s.suite for s in spreads))
    figure, axes = plt.subplots(3, 1, figsize=(11, 10), sharex=True, layout="constrained")
    width = 0.8 / len(policies)
    looks = dict(_looks(policies))
    for a, name in zip(axes, SPREAD_OF, strict=True):
        for s in (s for s in spreads if s.figure == name):
            x = suites.index(s.suite) + (policies.index(s.policy) - (len(policies) - 1) / 2) * width
            a.bar(x, np.mean(s.values), 0.92 * width, color=looks[s.policy]["color"], alpha=0.75,
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
    figure.suptitle("Policies in closed loop, model alone: mean over seeds, one standard deviation, each seed a dot\n"
                    f"{few}",
                    fontsize=12, fontweight="bold", x=0.01, ha="left")
    _legend(figure, axes[0])
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


def _legend(figure: Any, axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(8, len(labels)))


def _save(figure: Any, path: Path) -> Path:
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return path
