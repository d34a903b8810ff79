"""The figures of one solver over the ticks of some episodes. Their definitions stand in columns.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mimicik_ros.core.types import Array, Flags
from mimicik_ros.evaluation import metrics
from mimicik_ros.evaluation.energy import NOT_MEASURED
from mimicik_ros.evaluation.trial import Episode

BACK_M, BACK_S = 0.01, 1.0  # the error that counts as back, and the time allowed once the target is reachable again
Figures = dict[str, float | int | str | None]  # text: not measured


def score(episodes: Sequence[Episode], dt_s: float, open_loop: bool = False) -> Figures:
    """All figures, pooled over ticks.

    Errors, success and divergences judge the ticks whose target is within reach; calm, times and energy judge all ticks. In an
    open loop one tick does not follow another, so there calm, divergences and figures per episode are None.
    """
    reach = [e.case.reachable for e in episodes]
    position = np.concatenate([e.position_m[r] for e, r in zip(episodes, reach, strict=True)])
    rotation = np.concatenate([e.rotation_rad[r] for e, r in zip(episodes, reach, strict=True)])
    ticks = sum(len(r) for r in reach)
    figures: Figures = {"episodes": len(episodes), "ticks": ticks, "reachable_ticks": len(position)}
    figures |= _accuracy(position, rotation)
    figures |= dict.fromkeys(SEQUENCE) if open_loop else _sequence(episodes, dt_s)
    figures["not_finite"] = sum(not_finite(e) for e in episodes)
    figures["solver_errors"] = sum(e.done.status.count("internal_error") for e in episodes)
    return figures | _cost(episodes, ticks)


def _accuracy(position: Array, rotation: Array) -> Figures:
    nested: dict[str, Any] = metrics.accuracy(position, rotation)
    figures: Figures = {f"position_{k}_mm": v for k, v in nested.pop("position_error_mm").items()}
    figures |= {f"rotation_{k}_deg": v for k, v in nested.pop("rotation_error_deg").items()}
    return figures | nested


SEQUENCE = (
    *(f"episode_success_{d}mm_percent" for d in metrics.SUCCESS_MM), "episode_strict_percent",
    *(f"spike_{r:g}rad_percent" for r in metrics.SPIKES_RAD), "jerk_rms_rad_s3", "jerk_max_rad_s3", "max_velocity_rad_s",
    "branch_switches", "divergences", "returns", "not_back")


def _sequence(episodes: Sequence[Episode], dt_s: float) -> Figures:
    """Figures that need one tick to follow another, by the names in SEQUENCE."""
    last = [(e.position_m[-1], e.rotation_rad[-1]) for e in episodes if e.case.reachable[-1]]
    ends = np.array(last).reshape(-1, 2)
    final: dict[str, Any] = metrics.accuracy(ends[:, 0], ends[:, 1])
    calm = metrics.calm_of([e.commands for e in episodes], dt_s)
    back = np.array([returns(e.position_m, e.case.reachable, dt_s) for e in episodes])
    return {
        **{f"episode_success_{d}mm_percent": final[f"success_{d}mm_percent"] for d in metrics.SUCCESS_MM},
        "episode_strict_percent": final["strict_percent"],
        **{f"spike_{r:g}rad_percent": calm[f"spike_{r:g}rad_percent"] for r in metrics.SPIKES_RAD},
        "jerk_rms_rad_s3": calm["jerk_rms"], "jerk_max_rad_s3": calm["jerk_max"], "max_velocity_rad_s": calm["max_velocity"],
        "branch_switches": calm["branch_switches"],
        "divergences": sum(metrics.divergences(e.position_m, dt_s, e.case.reachable) for e in episodes),
        "returns": int(back[:, 0].sum()), "not_back": int(back[:, 1].sum()),
    }


def returns(position_m: Array, reachable: Flags, dt_s: float) -> tuple[int, int]:
    """How often a target came back within reach for BACK_S or longer, and how often the error was not below BACK_M by then.

    Args:
        position_m: (k,) errors.
        reachable: (k,) whether the target is within reach.
        dt_s: the period.
    """
    allowed = round(BACK_S / dt_s)
    starts, ends = metrics.runs_of(reachable)
    long = [s for s, e in zip(starts, ends, strict=True) if s > 0 and e - s > allowed]
    return len(long), sum(bool((position_m[s : s + allowed + 1] >= BACK_M).all()) for s in long)


def not_finite(episode: Episode) -> int:
    """Ticks whose command is not finite, or whose proposal was not and was refused."""
    finite = np.isfinite(episode.done.q.sum(axis=1))
    return sum(not f or status == "non_finite" for f, status in zip(finite, episode.done.status, strict=True))


def _cost(episodes: Sequence[Episode], ticks: int) -> Figures:
    figures: Figures = {}
    for name, values in (("tick", [e.done.latency_ms for e in episodes]), ("solver", [e.done.solver_ms for e in episodes])):
        figures |= {f"{name}_{p}_ms": value for p, value in metrics.p50_p99(np.concatenate(values)).items()}
    figures["cpu_ms"] = 1e3 * sum(e.done.cpu_s for e in episodes) / ticks
    energy = [e.energy_j for e in episodes if e.energy_j is not None]
    figures["energy_mj"] = 1e3 * sum(energy) / ticks if len(energy) == len(episodes) else NOT_MEASURED
    return figures
