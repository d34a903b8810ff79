"""The picture at the end of a live run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from mimicik_ros.core.limits import JointLimits
from mimicik_ros.evaluation.live_run import LiveRun

TARGET, COMMAND, LIMIT, MUTED = "#f28e2b", "#1f5fa8", "#c8372d", "#6b7280"
JOINT_COLOURS = ("#1f5fa8", "#f28e2b", "#3a9a5c", "#c8372d", "#7d5ba6", "#8c6d46", "#d16ba5", "#6b7280")
STYLE: dict[Any, Any] = {
    "font.size": 10, "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "grid.color": "#e5e7eb", "grid.linewidth": 0.8, "axes.axisbelow": True,
    "legend.frameon": False, "figure.facecolor": "white",
}


def plot_live(run: LiveRun, limits: JointLimits, joint_names: tuple[str, ...], path: Path) -> None:
    """Write a PNG: path in 3-D and by axis, residuals, joint velocities against limits, lateness."""
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(14, 9.5), layout="constrained")
        grid = figure.add_gridspec(3, 3, width_ratios=(1.15, 1, 1))
        _path(figure.add_subplot(grid[0:2, 0], projection="3d"), run)
        _lateness(figure.add_subplot(grid[2, 0]), run, limits.dt_s)
        for i, name in enumerate("xyz"):
            _axis(figure.add_subplot(grid[i, 1]), run, i, name)
        _residuals(figure.add_subplot(grid[0, 2]), run)
        _velocities(figure.add_subplot(grid[1:, 2]), run, limits, joint_names)
        figures = run.figures
        error = figures["position_error_mm"]
        figure.suptitle(
            f"{figures['ticks']} ticks   ·   command residual mean {error['mean']:.4f} mm, p99 {error['p99']:.4f} mm   ·   "
            f"strict {figures['strict_percent']:.1f} %   ·   missed deadlines {figures['missed_deadlines']}   ·   "
            f"limit violations {figures['limit_violations']}", fontsize=13, fontweight="bold", x=0.01, ha="left")
        figure.savefig(path, dpi=80)
        plt.close(figure)


def _path(axes: Any, run: LiveRun) -> None:
    mm = 1e3
    axes.plot(*(mm * run.targets.T), color=TARGET, linewidth=3.0, alpha=0.6, label="targets")
    axes.plot(*(mm * run.executed.T), color=COMMAND, linewidth=1.0, label="FK of the commands")
    axes.scatter(*(mm * run.executed[0]), color=COMMAND, s=30, label="start")
    axes.set(title="Tool path, base frame (mm)", xlabel="x", ylabel="y", zlabel="z")
    axes.set_aspect("equal")
    axes.locator_params(nbins=5)
    axes.legend(loc="upper left")


def _axis(axes: Any, run: LiveRun, i: int, name: str) -> None:
    axes.plot(run.target_t_s, 1e3 * run.targets[:, i], color=TARGET, linewidth=3.0, alpha=0.6, label="target")
    axes.plot(run.executed_t_s, 1e3 * run.executed[:, i], color=COMMAND, linewidth=1.0, label="command")
    axes.set(title=f"{name} (mm)", xlabel="time (s)" if name == "z" else None)
    if name == "x":
        axes.legend(loc="best", ncols=2)


def _residuals(axes: Any, run: LiveRun) -> None:
    axes.semilogy(run.t_s, 1e3 * np.maximum(run.target_error_m, 1e-7), color=TARGET, linewidth=1.0, label="to the target")
    axes.semilogy(run.t_s, 1e3 * np.maximum(run.residual_m, 1e-7), color=COMMAND, linewidth=1.0, label="to the governed target")
    axes.axhline(1.0, color=LIMIT, linewidth=1.0, linestyle="--")
    axes.text(1.0, 1.0, "strict: 1 mm ", color=LIMIT, fontsize=9, va="bottom", ha="right", transform=axes.get_yaxis_transform())
    axes.set(title="Residual of the command (mm)", ylim=(5e-5, 1e2))
    axes.legend(loc="upper left", ncols=2, fontsize=9)


def _velocities(axes: Any, run: LiveRun, limits: JointLimits, names: tuple[str, ...]) -> None:
    velocity = np.diff(run.commands, axis=0) / limits.dt_s
    for i, name in enumerate(names):
        axes.plot(run.command_t_s[1:], velocity[:, i], color=JOINT_COLOURS[i % len(JOINT_COLOURS)], linewidth=1.0, label=name)
    for bound in sorted({*limits.velocity, *(-limits.velocity)}):
        axes.axhline(bound, color=LIMIT, linewidth=1.0, linestyle="--")
    axes.set(title="Joint velocity (rad/s), limits dashed", xlabel="time (s)")
    axes.legend(loc="upper center", ncols=3, fontsize=9, bbox_to_anchor=(0.5, 0.95))


def _lateness(axes: Any, run: LiveRun, dt_s: float) -> None:
    axes.hist(run.lateness_ms, bins=40, color=COMMAND)
    axes.set(title="Lateness of the commands (ms)", ylabel="ticks", xlabel=f"after the due time; the period is {1e3 * dt_s:g} ms")
