"""`mimicik demo`: the real graph (node, fake arm, a policy stand-in, a recorder), then a table and a picture."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from mimicik_ros.cli.demo_graph import ChildDied, DemoGraph, check_domain, node_parameters, private_domain
from mimicik_ros.cli.setup import add_config, config_of, robot_of
from mimicik_ros.config import Config
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.share import share_path

STREAM = "config/demo_stream.csv"
HOMES = {"good": (0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708), "vendor": (0.0,) * 6}
ENGAGE_S = 20.0


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("demo", help="node and fake arm on a live ROS 2 graph, driven by a stream of targets")
    parser.add_argument("--seconds", type=float, default=20.0, help="length of the run")
    parser.add_argument("--targets", metavar="FILE", help="CSV of targets (t,x,y,z,qx,qy,qz,qw) instead of the shipped stream")
    parser.add_argument("--absolute", action="store_true", help="take the poses as they are, in the base frame; "
                        "else they are placed relative to their first, at the home pose")
    parser.add_argument("--scale", type=float, default=1.0, help="of the placed motion")
    parser.add_argument("--home", default="good", choices=tuple(HOMES), help="vendor: all joints zero, exactly singular")
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    parser.add_argument("--out", default="demo_out", metavar="DIR", help="folder of the picture and the logs")
    parser.add_argument("--domain", type=int, help="ROS_DOMAIN_ID (default: one of this process)")
    add_config(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from mimicik_ros.core.limits import JointLimits
    from mimicik_ros.evaluation.live_run import score_live
    from mimicik_ros.evaluation.plots import plot_live
    from mimicik_ros.evaluation.streams import read_stream

    if not 1.0 <= args.seconds <= 86400.0:
        raise ConfigError(f"--seconds: must lie in [1, 86400], got {args.seconds:g}")
    if not 0.0 < args.scale <= 10.0:
        raise ConfigError(f"--scale: must lie in (0, 10], got {args.scale:g}")
    check_domain(args.domain)
    if args.json and not os.access(Path(args.json).parent, os.W_OK):  # said now, not after the run
        raise ConfigError(f"--json: cannot write '{args.json}'; give a file in a folder that exists")
    config = config_of(args)
    kinematics = robot_of(config)
    limits = JointLimits.from_config(config, kinematics)
    if kinematics.n != len(HOMES[args.home]):
        raise ConfigError(f"the demo's fake arm has {len(HOMES['good'])} joints, the configured robot {kinematics.n}")
    stream = read_stream(args.targets or share_path(STREAM))
    if not args.absolute:
        stream = stream.placed(kinematics.fk(np.array(HOMES[args.home])), args.scale)
    folder = Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    private_domain(args.domain)
    try:
        with DemoGraph(folder, node_parameters(config, bool(args.config)), {"home_rad": list(HOMES[args.home])}) as graph:
            records = _drive(graph, stream, args.seconds, config)
    except ChildDied as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    result = score_live(records, limits)
    picture = folder / "demo.png"
    plot_live(result, limits, config.robot.joint_names, picture)
    _print_table(result.figures)
    print(f"picture: {picture}   logs: {folder}/node.log, {folder}/arm.log")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(result.figures, file, indent=2)
    return 0 if result.figures["limit_violations"] == 0 and result.figures["tracking_percent"] > 50.0 else 1


def _drive(graph: DemoGraph, stream: Any, seconds: float, config: Config) -> dict[str, dict[str, Any]]:
    """Publish the stream at its own pace, engage first, record, and show one live line. Returns the records of the run."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    from mimicik_ros.ros.recorder import Recorder
    from mimicik_ros.ros.target_source import TargetSource

    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)  # the graph has its own
    try:
        executor = rclpy.executors.SingleThreadedExecutor()
        recorder = Recorder(config.robot.joint_names, config.output.type)
        source = TargetSource(stream.t_s, stream.position_m, stream.quat_xyzw, config.robot.base_frame)
        executor.add_node(recorder)
        executor.add_node(source)
        statuses = recorder.rows("status")
        end = time.monotonic() + ENGAGE_S
        source.request_enable()
        while not statuses or statuses[-1]["values"]["mode"] != "TRACKING":
            executor.spin_once(timeout_sec=0.05)
            graph.check()
            if time.monotonic() > end:
                last = statuses[-1]["values"]["status"] if statuses else "no status received"
                raise ChildDied(f"the node did not engage within {ENGAGE_S:g} s; its last status: {last}")
        recorder.clear()
        source.start()
        begin = shown = time.monotonic()
        while time.monotonic() - begin < seconds:
            executor.spin_once(timeout_sec=0.05)
            if time.monotonic() - shown > 0.5:
                shown = time.monotonic()
                graph.check()
                _live_line(statuses, shown - begin, seconds)
        print()
        return recorder.records()
    finally:
        rclpy.try_shutdown()


def _live_line(statuses: list[dict[str, Any]], elapsed_s: float, seconds: float) -> None:
    if len(statuses) < 2:
        return
    recent = statuses[-20:]
    rate = (len(recent) - 1) / max(recent[-1]["steady_s"] - recent[0]["steady_s"], 1e-9)
    values = recent[-1]["values"]
    residual = float(values["residual_m"]) * 1e3 if values.get("residual_m", "None") not in ("None", "") else float("nan")
    line = (f"{elapsed_s:5.1f} / {seconds:g} s   {rate:5.2f} Hz   residual {residual:7.4f} mm   "
            f"late {1e3 * float(values['lateness_s']):5.2f} ms   {values['status']} ({values['source']})")
    print(f"\r{line:<100}" if sys.stdout.isatty() else line, end="" if sys.stdout.isatty() else "\n", flush=True)


def _print_table(figures: dict[str, Any]) -> None:
    print("Figures after engagement. Position and rotation error: command against the governed target (FK); target error:")
    print("against the target itself; strict: <= 1 mm and <= 0.2 deg; spike: a joint's step changes by > 0.05 rad.")
    for name, value in figures.items():
        parts = value.items() if isinstance(value, dict) else [("", value)]
        shown = [(key, f"{v:.4g}" if isinstance(v, float) else v) for key, v in parts]
        print(f"  {name:22s} " + "   ".join(f"{key} {v}".strip() for key, v in shown))
