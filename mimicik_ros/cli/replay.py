"""`mimicik replay`: follow a file of targets on an ideal arm and write every command."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from typing import TYPE_CHECKING

import numpy as np

from mimicik_ros.cli.outputs import check_outputs, write_json, write_text
from mimicik_ros.cli.setup import add_config, config_of, joints_of, robot_of
from mimicik_ros.core.types import Array
from mimicik_ros.evaluation.baselines import registry

if TYPE_CHECKING:
    from mimicik_ros.config import Config
    from mimicik_ros.core.servo import IKServo

SHIPPED = ("servo", "model", "dls")
PERIOD_SLACK = 0.1  # relative difference of rows and ticks that is still "about one row a tick"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("replay", help="follow a CSV of targets on an ideal arm, without ROS")
    parser.add_argument("targets", help="CSV with t,x,y,z,qx,qy,qz,qw (s, m, base frame), about one row a tick")
    parser.add_argument("--q-init", required=True, metavar='"q1 ... qn"', help="joints at t = 0 (rad)")
    parser.add_argument("--out", required=True, metavar="OUT.csv", help="t,q1..qn,latency_ms,status for each row")
    parser.add_argument("--solver", default="servo", choices=(*SHIPPED, *registry.NAMES),
                        help="servo: the whole tick; model: the network alone; dls: the fallback alone; the others are "
                             "baselines in the same tick (docs/evaluation.md)")
    parser.add_argument("--velocity-limit", type=float, metavar="R", help="rad/s for every joint, no acceleration limit")
    parser.add_argument("--json", metavar="FILE", help="also write the figures")
    add_config(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from mimicik_ros.core.freshness import OUT_OF_RANGE_RAD
    from mimicik_ros.core.limits import JointLimits
    from mimicik_ros.evaluation import metrics
    from mimicik_ros.evaluation.rollout import rollout, with_velocity_limit, without_gates
    from mimicik_ros.evaluation.streams import read_stream

    config = without_gates(config_of(args))
    if args.velocity_limit is not None:
        config = with_velocity_limit(config, args.velocity_limit)
    check_outputs({"--out": args.out, "--json": args.json}, [args.targets])
    stream = read_stream(args.targets)
    servo = _servo(config, args.solver)
    kinematics = servo.kinematics
    q_init = joints_of(args.q_init, "--q-init", kinematics, OUT_OF_RANGE_RAD)
    done = rollout(servo, stream, q_init)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["t", *(f"q{i + 1}" for i in range(kinematics.n)), "latency_ms", "status"])
    for t, q, ms, status in zip(stream.t_s, done.q, done.latency_ms, done.status, strict=True):
        writer.writerow([repr(float(t)), *(f"{v:.9f}" for v in q), f"{ms:.4f}", status])
    write_text(args.out, file.getvalue())
    errors = metrics.pose_errors(kinematics.fk_batch(done.q), stream.poses)
    limits = JointLimits.from_config(config, kinematics)
    start = np.clip(q_init, limits.lower, limits.upper)
    q = np.vstack([start, start, done.q])  # at rest before the first command, which is judged too
    _note_period(stream.t_s, config.dt_s)
    names, counts = np.unique(done.status, return_counts=True)
    figures = {
        "ticks": len(stream.t_s), **metrics.accuracy(*errors), **metrics.calm(q, config.dt_s),
        "divergences": metrics.divergences(errors[0], config.dt_s),
        "limit_violations": metrics.limit_violations(
            q, config.dt_s, limits.lower, limits.upper, limits.velocity, limits.acceleration),
        "latency_ms": metrics.p50_p99(done.latency_ms),
        "status": {str(k): int(v) for k, v in zip(names, counts, strict=True)},
    }
    write_json(args.json, figures)
    position = figures["position_error_mm"]
    assert isinstance(position, dict)
    print(f"{figures['ticks']} ticks, solver {args.solver}: position error mean {position['mean']:.3f} "
          f"p99 {position['p99']:.3f} mm, strict {figures['strict_percent']:.2f} %, spikes {figures['spike_percent']:.2f} %, "
          f"fastest joint {figures['max_velocity']:.2f} rad/s, limit violations {figures['limit_violations']} -> {args.out}")
    print("status: " + ", ".join(f"{k} {v}" for k, v in figures["status"].items()))  # type: ignore[attr-defined]
    return 0


def _servo(config: Config, solver: str) -> IKServo:
    from mimicik_ros.core.servo import IKServo
    from mimicik_ros.evaluation.contenders import classical

    return IKServo.from_config(config, solver) if solver in ("servo", "model") else classical(solver, robot_of(config), config)


def _note_period(t_s: Array, dt_s: float) -> None:
    """Say so where rows come at another pace than ticks: speeds are per tick then, not per second of the stream."""
    if len(t_s) < 2:
        return
    row_s = float(np.median(np.diff(t_s)))
    if abs(row_s / dt_s - 1.0) > PERIOD_SLACK:
        print(f"note: rows come every {1e3 * row_s:.1f} ms (median), ticks every {1e3 * dt_s:.1f} ms; limits and speeds are "
              f"judged per tick, so by the times of the file joints move {dt_s / row_s:.2f} times as fast; resample the rows to "
              f"{1.0 / dt_s:g} Hz", file=sys.stderr)
