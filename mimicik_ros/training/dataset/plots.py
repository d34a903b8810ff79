"""Pictures of a dataset: joints against their limits, steps, and how near to singularities it comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.training.dataset.info import NEAR_SINGULAR, Sample

BAR, OTHER, LIMIT = "#1f5fa8", "#f28e2b", "#c8372d"
STYLE = {
    "font.size": 10, "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "grid.color": "#e5e7eb", "axes.axisbelow": True, "figure.facecolor": "white",
}


def write_plots(sample: Sample, kinematics: Kinematics, folder: Path) -> list[Path]:
    """Write joints.png, steps.png and coverage.png into a folder and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    with plt.rc_context(STYLE):
        for name, draw in (("joints", _joints), ("steps", _steps), ("coverage", _coverage)):
            figure = draw(sample, kinematics)
            paths.append(folder / f"{name}.png")
            figure.savefig(paths[-1], dpi=80)
            plt.close(figure)
    return paths


def _grid(n: int) -> tuple[Any, list[Any]]:
    columns = min(3, n)
    rows = -(-n // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4.2 * columns, 2.8 * rows), layout="constrained", squeeze=False)
    for spare in axes.ravel()[n:]:
        spare.set_visible(False)
    return figure, list(axes.ravel()[:n])


def _joints(sample: Sample, kinematics: Kinematics) -> Any:
    figure, axes = _grid(kinematics.n)
    for i, (ax, name) in enumerate(zip(axes, kinematics.joint_names, strict=True)):
        low, high = kinematics.lower[i], kinematics.upper[i]
        margin = 0.03 * (high - low)
        ax.hist(sample.q[:, i], bins=60, range=(low - margin, high + margin), color=BAR)
        for bound in (low, high):
            ax.axvline(bound, color=LIMIT, linewidth=1.0, linestyle="--")
        ax.set(title=name, xlabel="q (rad), limits dashed", ylabel="rows")
    return figure


def _steps(sample: Sample, kinematics: Kinematics) -> Any:
    figure, axes = _grid(kinematics.n)
    step = np.maximum(np.abs(sample.delta_q), 1e-6)
    bins = np.geomspace(1e-6, max(1e-2, float(step.max(initial=0.0))), 60)
    for i, (ax, name) in enumerate(zip(axes, kinematics.joint_names, strict=True)):
        ax.hist(step[:, i], bins=bins, color=BAR)
        if len(step):
            p95 = float(np.percentile(step[:, i], 95))
            ax.axvline(p95, color=OTHER, linewidth=1.5, label=f"95 %: {p95:.3g} rad")
            ax.legend(loc="upper center", frameon=False)
        ax.set(title=name, xlabel="|q_command - q| (rad); 1e-6 stands for none", ylabel="rows", xscale="log")
    return figure


def _coverage(sample: Sample, kinematics: Kinematics) -> Any:
    figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    condition = np.minimum(sample.condition, 1e6)
    axes[0, 0].hist(condition, bins=np.geomspace(1.0, 1e6, 60), color=BAR)
    axes[0, 0].axvline(NEAR_SINGULAR, color=LIMIT, linewidth=1.0, linestyle="--")
    axes[0, 0].set(title="Condition number of the Jacobian", xscale="log", ylabel="rows",
                   xlabel=f"dashed: {NEAR_SINGULAR:g}; 1e6 stands for all above")
    axes[0, 1].hist(sample.sigma_min, bins=60, color=BAR)
    axes[0, 1].set(title="Smallest singular value", xlabel="m/rad and rad/rad mixed", ylabel="rows")
    shown = sample.position_m[:: max(1, len(sample.position_m) // 8000)]
    for ax, (a, b) in zip(axes[1], ((0, 1), (0, 2)), strict=True):
        ax.scatter(shown[:, a], shown[:, b], s=2, color=BAR, alpha=0.4, linewidths=0)
        ax.plot(0.0, 0.0, "+", color=LIMIT, markersize=10)
        ax.set(title=f"Targets, {kinematics.base_frame}", xlabel=f"{'xyz'[a]} (m)", ylabel=f"{'xyz'[b]} (m)")
        ax.set_aspect("equal", adjustable="datalim")
    return figure
