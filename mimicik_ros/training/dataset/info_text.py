"""The figures of a dataset as a page of text."""

from __future__ import annotations

from typing import Any

from mimicik_ros.training.dataset.info import NEAR_SINGULAR, SPIKE_RAD

LISTED = 20  # episodes with faults on the page; the JSON has them all


def page(figures: dict[str, Any]) -> str:
    """Text of what `info.describe` found."""
    time, rows, offset = figures["step_time_s"], figures["episode_rows"], figures["fk_to_target_mm"]
    lines = [
        f"{', '.join(figures['files'])}",
        f"robot {figures['robot']} ({figures['kinematic_hash']}), {figures['base_frame']} -> {figures['tool_frame']}",
        f"{figures['episodes']} episodes, {figures['rows']} rows, {figures['hours']:.2f} h; "
        f"from {', '.join(f'{k} ({v})' for k, v in figures['sources'].items()) or 'nowhere'}",
        f"rows of an episode: {rows['min']} to {rows['max']}, median {rows['median']:g}; time between rows: nominal "
        f"{figures['period_s']:g} s, median {time['median']:.4g} s, {time['min']:.4g} to {time['max']:.4g} s",
        f"figures below from {figures['sampled_rows']} evenly taken rows; smallest, largest, spikes and faults from all",
        "",
        f"{'joint':12s}{'min':>9s}{'max':>9s}  {'limits (rad)':20s}{'covered':>8s}{'|step| p50':>12s}{'p95':>9s}{'p99':>9s}",
    ]
    for name, joint in figures["joints"].items():
        limits = f"[{joint['limits'][0]:.4f}, {joint['limits'][1]:.4f}]"
        lines.append(f"{name:12s}{joint['min']:9.4f}{joint['max']:9.4f}  {limits:20s}{joint['covered_percent']:7.0f}%"
                     f"{joint['step_p50']:12.5f}{joint['step_p95']:9.5f}{joint['step_p99']:9.5f}")
    lines += ["", f"{'percentile':24s}" + "".join(f"{p:>10s}" for p in figures["tool_step_mm"])]
    for key, text in (("step_rad", "busiest joint's step rad"), ("tool_step_mm", "tool step mm"), ("sigma_min", "sigma_min"),
                      ("condition", "condition number")):
        lines.append(f"{text:24s}" + "".join(f"{figures[key][p]:10.4g}" for p in figures["tool_step_mm"]))
    lines += [
        f"largest step {figures['step_rad']['max']:.4g} rad; spikes (a step differs by > {SPIKE_RAD:g} rad from the one before) "
        f"{figures['spike_percent']:.3g} %",
        f"condition number > {NEAR_SINGULAR:g} in {figures['near_singular_percent']:.3g} % of the rows",
        f"FK(q_command) to target: median {offset['median']:.3g} mm, largest median of an episode {offset['max']:.3g} mm",
    ]
    faults = figures["faults"]
    for number, found in list(faults.items())[:LISTED]:
        lines.append(f"episode {number}: " + "; ".join(f"{fault['kind']}: {fault['text']}" for fault in found))
    lines.append(f"faults: {len(faults)} of {figures['episodes']} episodes" if faults else "faults: none")
    return "\n".join(lines)
