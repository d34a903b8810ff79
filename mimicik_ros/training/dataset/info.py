"""What is in a dataset: counts, rates, ranges, steps, singularity coverage and faults; one pass, a thinned sample in memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.training.dataset.checks import Rules, judge
from mimicik_ros.training.dataset.reader import Dataset
from mimicik_ros.training.dataset.recording import Recording
from mimicik_ros.training.dataset.schema import Episode

SAMPLE_ROWS = 50_000  # every so-manieth row at most, for what needs percentiles
PERCENTILES = (1, 5, 25, 50, 75, 95, 99)
SPIKE_RAD = 0.05  # a step that differs more than this from the one before (20 rad/s^2 at 20 Hz)
NEAR_SINGULAR = 300.0  # condition number


@dataclass(frozen=True)
class Sample:
    """Every so-manieth row of a dataset: q, delta_q (k, n) rad, target position (k, 3) m, sigma_min and condition number (k,)."""

    q: Array
    delta_q: Array
    position_m: Array
    sigma_min: Array
    condition: Array


@dataclass
class _Sums:
    """What is gathered over all rows."""

    low: Array
    high: Array
    episodes: int = 0
    rows: int = 0
    spikes: int = 0
    changes: int = 0
    largest_step: float = 0.0
    sources: Counter[str] = field(default_factory=Counter)
    lengths: list[int] = field(default_factory=list)
    steps_s: list[tuple[float, float, float]] = field(default_factory=list)
    offsets_m: list[float] = field(default_factory=list)
    faults: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    parts: list[tuple[Array, Array, Array]] = field(default_factory=list)


def describe(data: Dataset, kinematics: Kinematics, rules: Rules) -> tuple[dict[str, Any], Sample]:
    """Figures of a dataset as plain values, and the sample for the pictures.

    Step: max over the joints of |q_command - q|. Spike: a row where a joint's measured step differs by more than SPIKE_RAD from
    the one before. Condition number and sigma_min: of the body Jacobian (m/rad and rad/rad mixed).
    """
    n = kinematics.n
    sums = _Sums(np.full(n, np.inf), np.full(n, -np.inf))
    stride = max(1, -(-data.rows // SAMPLE_ROWS))
    for number, episode in enumerate(data.episodes()):
        _add(sums, number, episode, kinematics, rules, stride)
    sample = _sample(sums, kinematics)
    step = np.abs(sample.delta_q)
    before, after = (kinematics.fk_batch(q)[:, :3, 3] for q in (sample.q, sample.q + sample.delta_q))
    header = data.header
    median, shortest, longest = (np.array(sums.steps_s) if sums.steps_s else np.full((1, 3), np.nan)).T
    return {
        "files": [str(f) for f in data.files], "robot": header.robot, "kinematic_hash": header.kinematic_hash,
        "base_frame": header.base_frame, "tool_frame": header.tool_frame, "made": [h.made for h in data.headers],
        "episodes": sums.episodes, "rows": sums.rows, "row_groups": len(data.groups), "sources": dict(sums.sources),
        "hours": sums.rows * header.period_s / 3600.0, "period_s": header.period_s,
        "step_time_s": {"median": float(np.median(median)), "min": float(shortest.min()), "max": float(longest.max())},
        "episode_rows": {"min": min(sums.lengths, default=0), "median": float(np.median(sums.lengths)) if sums.lengths else 0.0,
                         "max": max(sums.lengths, default=0)},
        "sampled_rows": len(sample.q),
        "joints": {name: {"min": float(sums.low[i]), "max": float(sums.high[i]), "limits": [float(kinematics.lower[i]),
                          float(kinematics.upper[i])], "covered_percent": _covered(sample.q[:, i], kinematics, i),
                          "step_p50": _percentile(step[:, i], 50), "step_p95": _percentile(step[:, i], 95),
                          "step_p99": _percentile(step[:, i], 99)} for i, name in enumerate(kinematics.joint_names)},
        "step_rad": {**_percentiles(step.max(axis=1, initial=0.0)), "max": sums.largest_step},
        "tool_step_mm": _percentiles(1e3 * np.linalg.norm(after - before, axis=1)),
        "spike_percent": 100.0 * sums.spikes / max(1, sums.changes),
        "sigma_min": _percentiles(sample.sigma_min), "condition": _percentiles(sample.condition),
        "near_singular_percent": 100.0 * float((sample.condition > NEAR_SINGULAR).mean()) if len(sample.q) else 0.0,
        "fk_to_target_mm": {"median": 1e3 * float(np.median(sums.offsets_m)) if sums.offsets_m else float("nan"),
                            "max": 1e3 * max(sums.offsets_m, default=float("nan"))},
        "faults": {str(number): [{"kind": kind, "text": text} for kind, text in found] for number, found in sums.faults.items()},
    }, sample


def _add(sums: _Sums, number: int, episode: Episode, kinematics: Kinematics, rules: Rules, stride: int) -> None:
    rows = slice((-sums.rows) % stride, None, stride)
    sums.parts.append((episode.q[rows], (episode.q_command - episode.q)[rows], episode.position_m[rows]))
    sums.episodes, sums.rows = sums.episodes + 1, sums.rows + len(episode)
    sums.lengths.append(len(episode))
    sums.sources[episode.source] += 1
    sums.low, sums.high = np.fmin(sums.low, episode.q.min(axis=0)), np.fmax(sums.high, episode.q.max(axis=0))
    sums.largest_step = float(np.fmax(sums.largest_step, np.abs(episode.q_command - episode.q).max()))
    if len(episode) > 1:
        times = np.diff(episode.t_s)
        sums.steps_s.append((float(np.median(times)), float(times.min()), float(times.max())))
    change = np.abs(np.diff(episode.q, 2, axis=0)).max(axis=1) if len(episode) > 2 else np.zeros(0)
    sums.spikes, sums.changes = sums.spikes + int((change > SPIKE_RAD).sum()), sums.changes + len(change)
    position = kinematics.fk_batch(episode.q_command)[:, :3, 3]
    sums.offsets_m.append(float(np.median(np.linalg.norm(position - episode.position_m, axis=1))))
    again = Recording(str(number), episode.t_s, episode.q, episode.q_command, episode.position_m, episode.quat_xyzw)
    _, faults = judge(again, rules)
    if faults:
        sums.faults[number] = [(f.kind, f.text) for f in faults]


def _sample(sums: _Sums, kinematics: Kinematics) -> Sample:
    n = kinematics.n
    q, delta_q, position = (np.concatenate(x) for x in zip(*sums.parts, strict=True)) if sums.parts else (
        np.zeros((0, n)), np.zeros((0, n)), np.zeros((0, 3)))
    finite = np.isfinite(q).all(axis=1) & np.isfinite(delta_q).all(axis=1)
    q, delta_q, position = q[finite], delta_q[finite], position[finite]
    singular = np.array([np.linalg.svd(kinematics.jacobian(x), compute_uv=False) for x in q]).reshape(len(q), -1)
    return Sample(q, delta_q, position, singular[:, -1], singular[:, 0] / np.maximum(singular[:, -1], 1e-12))


def _covered(q: Array, kinematics: Kinematics, joint: int) -> float:
    """Share (%) of 50 equal bins of the joint's range that hold a row."""
    counts, _ = np.histogram(q, bins=50, range=(kinematics.lower[joint], kinematics.upper[joint]))
    return 100.0 * float((counts > 0).mean())


def _percentile(values: Array, p: float) -> float:
    return float(np.percentile(values, p)) if len(values) else float("nan")


def _percentiles(values: Array) -> dict[str, float]:
    return {f"p{p}": _percentile(values, p) for p in PERCENTILES}
