"""Figures of a run on a live graph, from what a recorder kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from mimicik_ros.core.limits import JointLimits
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation import metrics

Records = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class LiveRun:
    """Series for plots, and the figures.

    Attributes:
        t_s: (k,) time of each tick from the first.
        residual_m, target_error_m: (k,) command against the governed target, and against the target itself.
        lateness_ms: (k,) of each command.
        commands: (c, n) rad as received, command_t_s (c,).
        targets: (m, 3) m, executed: (p, 3) m positions, with target_t_s and executed_t_s.
    """

    t_s: Array
    residual_m: Array
    target_error_m: Array
    lateness_ms: Array
    command_t_s: Array
    commands: Array
    target_t_s: Array
    targets: Array
    executed_t_s: Array
    executed: Array
    figures: dict[str, Any]


def score_live(records: Records, limits: JointLimits) -> LiveRun:
    """Score a run.

    position_error_mm, rotation_error_deg and strict_percent judge the command against the governed target; target_error_mm
    against the target itself. Spikes, velocity and limits judge the received commands at the nominal period.
    end_to_end_ms: a target's stamp (set when published) to the receipt of the first command of the tick that used it.
    """
    status = records["status"]["values"]
    command = records["joint_command"]
    start = records["status"]["ros_s"][0]
    residual_m, residual_rad = _column(status, "residual_m"), _column(status, "residual_rad")
    moving = np.isfinite(residual_m)
    target_m = _column(status, "target_residual_m")
    tick_ms, lateness_ms = _column(status, "tick_ms"), 1e3 * _column(status, "lateness_s")
    missed = _column(status, "missed_deadlines")
    q = np.asarray(command["q"])
    figures: dict[str, Any] = {
        "ticks": len(status),
        "missed_deadlines": int(missed[-1] - missed[0]),
        "tracking_percent": float(100.0 * moving.mean()),
        **metrics.accuracy(residual_m[moving], residual_rad[moving]),
        "target_error_mm": metrics.spread(1e3 * target_m[np.isfinite(target_m)]),
        **metrics.calm(q, limits.dt_s),
        "tick_ms": metrics.p50_p99(tick_ms),
        "lateness_ms": metrics.p50_p99(lateness_ms),
        "end_to_end_ms": _end_to_end(status, command["ros_s"]),
        "limit_violations": metrics.limit_violations(
            q, limits.dt_s, limits.lower, limits.upper, limits.velocity, limits.acceleration),
        "sources": dict(Counter(values["source"] for values in status)),
        "status": dict(Counter(values["status"] for values in status)),
    }
    targets, executed = records["target_pose"], records["command_pose"]
    return LiveRun(
        records["status"]["ros_s"] - start, residual_m, target_m, lateness_ms, command["ros_s"] - start, q,
        targets["ros_s"] - start, np.asarray(targets["position_m"]), executed["ros_s"] - start,
        np.asarray(executed["position_m"]), figures)


def _column(values: list[dict[str, str]], key: str) -> Array:
    """One value of each status as a number; NaN where there was none."""
    return np.array([_number(row.get(key, "")) for row in values])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:  # "None", or the key is absent in this mode
        return float("nan")


def _end_to_end(status: list[dict[str, str]], command_receipt_s: Array) -> dict[str, float]:
    stamps, published = _column(status, "target_stamp_s"), _column(status, "publish_s")
    first = np.concatenate([[True], np.diff(stamps) > 0.0]) & np.isfinite(stamps) & np.isfinite(published)
    place = np.searchsorted(command_receipt_s, published[first])
    received = place < len(command_receipt_s)
    return metrics.p50_p99(1e3 * (command_receipt_s[place[received]] - stamps[first][received]))
