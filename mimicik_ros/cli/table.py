"""`mimicik evaluate --table` and `--bars`: every solver and policy on generated streams, as markdown, CSV, JSON and pictures."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mimicik_ros
from mimicik_ros.cli.outputs import STDOUT, check_folder, check_outputs, write_text
from mimicik_ros.cli.setup import config_of, robot_of
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.share import share_path

if TYPE_CHECKING:
    from mimicik_ros.evaluation.bars import Bar
    from mimicik_ros.evaluation.contenders import Contender
    from mimicik_ros.evaluation.table import Table

SIZE = "small"
ONLY_TABLE = ("out", "models", "solvers", "suites", "size", "seed", "velocity_limit", "data")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of --table and --bars."""
    group = parser.add_argument_group("the table (--table) and the bars (--bars)")
    group.add_argument("--table", action="store_true", help="run every solver on every suite, in closed and in open loop")
    group.add_argument("--bars", action="store_true", help="judge the model alone by its bars; exit code 1 if one is missed")
    group.add_argument("--out", metavar="DIR", help="folder for table.md, table.csv, table.json and pictures (needed by --table)")
    group.add_argument("--models", nargs="+", metavar="FILE", help="exported policies to compare, each alone (--table)")
    group.add_argument("--solvers", metavar="A,B", help="default: all (--table)")
    group.add_argument("--suites", metavar="A,B", help="default: teleop,random,singular,ood,articulated (--table)")
    group.add_argument("--size", choices=("tiny", "small", "full"), help="trials a suite: 5, 15 or 60 (default: small)")
    group.add_argument("--seed", type=int, help="of the streams (default: 0)")
    group.add_argument("--velocity-limit", type=float, metavar="R",
                       help="rad/s for every joint, no acceleration limit (default: 100, which clamps nothing) (--table)")
    group.add_argument("--data", metavar="DIR", help="recorded human motion for the suite teleop, or 'none' for our own "
                                                     "(default: ../shared/data beside the checkout, where it is there)")


def run(args: argparse.Namespace) -> int:
    """Measure, write and print. Exit code 1 where --bars misses one."""
    from mimicik_ros.evaluation import bars, contenders, render, table
    from mimicik_ros.evaluation.cases import SUITES, make_cases
    from mimicik_ros.evaluation.cases.teleop import recorded
    from mimicik_ros.evaluation.rollout import UNCLAMPED_RAD_S, with_velocity_limit, without_gates
    from mimicik_ros.evaluation.seeds import spreads

    _check(args)
    folder = Path(args.out) if args.out else None
    limit = UNCLAMPED_RAD_S if args.velocity_limit is None else args.velocity_limit
    config = with_velocity_limit(without_gates(config_of(args)), limit)
    kinematics = robot_of(config)
    solvers = _names(args.solvers, "--solvers", contenders.known()) if args.table else ("model",)
    suites = _names(args.suites, "--suites", SUITES) if args.table else bars.SUITES
    models = _models(args.models)
    check_outputs({"--json": args.json}, (*models, share_path(config.policy.model)))
    rivals = contenders.contenders(kinematics, config, solvers, models)
    if args.bars and not any(r.name == "model" for r in rivals):
        raise ConfigError("--bars: judges the solver 'model'; add it to --solvers")
    if folder is not None:
        check_folder("--out", folder)
        folder.mkdir(parents=True, exist_ok=True)
    data, size, seed = _data(args.data), args.size or SIZE, args.seed or 0
    cases = make_cases(kinematics, suites, seed, size, data, config.dt_s)
    human = sum(recorded(c) for c in cases)
    if args.data and data and "teleop" in suites and not human:
        raise ConfigError(f"--data: no held-out motion in '{args.data}' (vr_teleop/g1_NNN_side.csv with NNN from 56 on, "
                          "handheld/*.csv, each 2 s or longer); give another folder, or 'none' for our own motion")
    loops = table.LOOPS if args.table else (table.CLOSED,)
    done = _measured(rivals, cases, loops)
    judged = bars.judge(done.episodes["model"], config.dt_s) if args.bars else []
    found = spreads(done.rows)
    about = _about(args, f"recorded motion, {human} trials" if human else "our own motion", done)
    report = render.as_json(about, done.rows, found, judged)
    if folder is not None:
        write_text(folder / "table.md", render.markdown(about, done.rows, found, judged))
        write_text(folder / "table.json", report + "\n")
        render.write_csv(done.rows, folder / "table.csv")
        if args.table:
            from mimicik_ros.evaluation.table_plots import plot_table

            plot_table(done, found, kinematics, config.dt_s, folder)
    if args.json and args.json != STDOUT:
        write_text(args.json, report + "\n")
    print(report if args.json == STDOUT else _summary(args, done, judged, folder))
    return 1 if any(b.met is False for b in judged) else 0


def _check(args: argparse.Namespace) -> None:
    if args.table and not args.out:
        raise ConfigError("--table: needs --out DIR, the folder that it writes to")
    for name in ("samples", "step_rad"):
        if getattr(args, name) is not None:
            raise ConfigError(f"--{name.replace('_', '-')}: of the model alone; not with --table or --bars")
    if args.table:
        import matplotlib  # noqa: F401 (one that is missing is named now, not after all is measured)
    if args.bars and args.velocity_limit is not None:
        raise ConfigError("--velocity-limit: the bars are judged unclamped; leave it away")
    if args.seed is not None and args.seed < 0:
        raise ConfigError(f"--seed: must not be negative, got {args.seed}")
    for name in ("models", "solvers", "suites"):
        if getattr(args, name) and not args.table:
            raise ConfigError(f"--{name}: only with --table")


def refuse_without_table(args: argparse.Namespace) -> None:
    """Raises ConfigError where an option of the table stands without --table or --bars."""
    given = [name for name in ONLY_TABLE if getattr(args, name) is not None]
    if given:
        raise ConfigError(f"--{given[0].replace('_', '-')}: only with --table or --bars")


def _names(text: str | None, option: str, default: tuple[str, ...]) -> tuple[str, ...]:
    if text is None:
        return default
    names = tuple(dict.fromkeys(n.strip() for n in text.split(",") if n.strip()))
    if not names:
        raise ConfigError(f"{option}: names nothing; some of {','.join(default)}")
    return names


def _models(paths: list[str] | None) -> tuple[Path, ...]:
    """Files; a folder stands for the ONNX files in it."""
    found: list[Path] = []
    for text in paths or []:
        path = Path(text)
        inside = sorted(path.glob("*.onnx")) if path.is_dir() else [path]
        if not inside:
            raise ConfigError(f"--models: no .onnx file in '{path}'; make some with `mimicik ablate` or `mimicik export`")
        found += inside
    return tuple(found)


def _data(text: str | None) -> Path | None:
    if text == "none":
        return None
    if text is None:
        beside = Path(mimicik_ros.__file__).resolve().parent.parent.parent / "shared" / "data"
        return beside if beside.is_dir() else None
    if not Path(text).is_dir():
        raise ConfigError(f"--data: no folder '{text}'; give one with vr_teleop/ or handheld/, or 'none'")
    return Path(text)


def _measured(rivals: list[Contender], cases: list[Any], loops: tuple[str, ...]) -> Table:
    """The table, with a progress bar for each contender on a terminal."""
    from tqdm import tqdm

    from mimicik_ros.evaluation.table import run_table

    total = len(loops) * sum(len(c.stream.t_s) for c in cases)
    bars: dict[str, Any] = {}

    def watch(contender: Contender, ticks: int) -> None:
        if contender.name not in bars:
            bars[contender.name] = tqdm(total=total, desc=f"{contender.name:20s}", unit="tick", disable=None, file=sys.stderr)
        bar = bars[contender.name]
        bar.update(ticks)
        if bar.n >= total:
            bar.close()

    return run_table(rivals, cases, loops, watch)


def _about(args: argparse.Namespace, teleop: str, done: Table) -> dict[str, Any]:
    """How the table came about, for its head."""
    import onnxruntime

    energy = dict.fromkeys(r.energy_source for r in done.rows if r.energy_source)
    words = ["mimicik evaluate", *(f"--{name}" for name in ("table", "bars") if getattr(args, name))]
    for name in ("config", "model", *ONLY_TABLE):
        value = getattr(args, name)
        if value is not None:
            given = "DIR" if name == "out" else " ".join(value) if isinstance(value, list) else value
            words.append(f"--{name.replace('_', '-')} {given}")
    return {
        "command": " ".join(words), "trials": f"size {args.size or SIZE}, seed {args.seed or 0}; suite teleop: {teleop}",
        "version": mimicik_ros.__version__,
        "created": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
                   f"ONNX Runtime {onnxruntime.__version__}",
        "energy": "; ".join(energy),
    }


def _summary(args: argparse.Namespace, done: Table, judged: list[Bar], folder: Path | None) -> str:
    from mimicik_ros.evaluation import render
    from mimicik_ros.evaluation.table import ALL, CLOSED, OPEN

    lines = []
    if args.table:
        shown = (("position_mean_mm", 12), ("position_p99_mm", 12), ("strict_percent", 10), ("spike_0.05rad_percent", 9),
                 ("max_velocity_rad_s", 9), ("divergences", 9), ("tick_p50_ms", 9))
        heads = ("mean mm", "p99 mm", "strict %", "spikes %", "max rad/s", "diverged", "p50 ms")
        lines += ["closed loop, all suites together:", f"  {'':34s}" + "".join(f"{h:>{w + 1}s}" for h, (_, w) in
                                                                          zip(heads, shown, strict=True))]
        for row in done.rows:
            if row.suite == ALL and row.loop != OPEN and row.kind != "published":
                cells = "".join(f"{render.number(row.figures.get(k)):>{w + 1}s}" for k, w in shown)
                lines.append(f"  {row.solver:34s}" + (cells if row.loop == CLOSED else f" {row.note}"))
    if args.bars:
        lines += ["bars of the model alone, closed loop, unclamped:"]
        for b in judged:
            note = f"  ({b.note})" if b.note else ""
            lines.append(f"  {b.verdict:10s} {b.name:62s} {b.wanted:12s} measured {render.number(b.value)}{note}")
        counts = [sum(b.met is m for b in judged) for m in (True, False, None)]
        lines += [f"{counts[0]} met, {counts[1]} missed, {counts[2]} not judged"]
    return "\n".join([*lines, *([f"-> {folder}"] if folder else [])])
