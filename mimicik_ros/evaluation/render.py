"""The table as markdown, CSV and JSON: the same rows, the same figures."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mimicik_ros.evaluation.bars import Bar
from mimicik_ros.evaluation.columns import ACCURACY, CALM, COLUMNS, COST, DEFINITIONS, EPISODES, Column
from mimicik_ros.evaluation.seeds import LEAST_SEEDS, Spread
from mimicik_ros.evaluation.table import ALL, CLOSED, NOTE, OPEN, Row

KEYS = ("solver", "kind", "policy", "seed", "loop", "suite", "note", "energy_source")
About = dict[str, Any]


def record(row: Row) -> dict[str, Any]:
    """A row as plain values: KEYS, then every figure of COLUMNS; None where a figure is not defined."""
    return {key: getattr(row, key) for key in KEYS} | {c.key: _plain(row.figures.get(c.key)) for c in COLUMNS}


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """One line a row; empty where a figure is not defined."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*KEYS, *(c.key for c in COLUMNS)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(record(row) for row in rows)


def as_json(about: About, rows: Sequence[Row], spreads: Sequence[Spread], bars: Sequence[Bar]) -> str:
    """Everything, with the definitions. Numbers that JSON does not have are the texts inf and nan."""
    report = {
        "about": about, "definitions": dict(DEFINITIONS), "rows": [record(row) for row in rows],
        "seeds": [{"policy": s.policy, "suite": s.suite, "figure": s.figure, "n": s.n, "values": [_plain(v) for v in s.values],
                   "mean": _plain(s.mean), "deviation": _plain(s.deviation), "ratio": _plain(s.ratio)} for s in spreads],
        "bars": [{"name": b.name, "wanted": b.wanted, "value": _plain(b.value), "met": b.met, "note": b.note} for b in bars],
    }
    return json.dumps(report, indent=2, allow_nan=False)


def markdown(about: About, rows: Sequence[Row], spreads: Sequence[Spread], bars: Sequence[Bar]) -> str:
    """The table by suite, the pooled figures first; seeds, bars and definitions below."""
    lines = ["# Closed-loop and open-loop figures", "", *(f"- {key}: {value}" for key, value in about.items()), ""]
    shown = [r for r in rows if r.figures]
    skipped = [r for r in rows if r.note and not r.figures]
    for suite in dict.fromkeys(r.suite for r in shown):
        lines += _suite(suite, [r for r in shown if r.suite == suite], skipped)
    if spreads:
        lines += ["## Spread over training seeds, closed loop", "", *spread_table(spreads), ""]
    if bars:
        lines += ["## Bars of the model alone", "", *bar_table(bars), ""]
    lines += ["## Definitions", "", *(f"- {name}: {text}." for name, text in DEFINITIONS)]
    return "\n".join(lines) + "\n"


def _suite(suite: str, rows: list[Row], skipped: list[Row]) -> list[str]:
    sizes = ("{episodes} trials, {ticks} ticks, {reachable_ticks} within reach".format_map(r.figures)
             for r in rows if r.kind != "published")
    heading = "All suites" if suite == ALL else f"Suite `{suite}`"
    lines = [f"## {heading}: {next(sizes, 'nothing measured')}", ""]
    closed, opened = ([r for r in rows if r.loop == loop] for loop in (CLOSED, OPEN))
    if closed:
        lines += ["### Closed loop: accuracy", "", *_table((*ACCURACY, *EPISODES), closed, skipped), ""]
        lines += ["### Closed loop: calm", "", *_table(CALM, closed), ""]
        lines += ["### Closed loop: time and energy", "", *_table(COST, closed), ""]
    if opened:
        lines += ["### Open loop: accuracy", "", *_table(ACCURACY, opened), ""]
    return lines


def _table(columns: Sequence[Column], rows: Sequence[Row], skipped: Sequence[Row] = ()) -> list[str]:
    shown = [r for r in rows if r.kind != "published" or any(r.figures.get(c.key) is not None for c in columns)]
    lines = [_line(["solver", *(c.heading for c in columns)]), _line(["---", *("---:" for _ in columns)])]
    lines += [_line([title(r), *(cell(r, c) for c in columns)]) for r in shown]
    return lines + [_line([r.solver, r.note, *("" for _ in columns[1:])]) for r in skipped]


def title(row: Row) -> str:
    """Name of a row as it is read: published rows say what they are."""
    return f"{row.solver}, {NOTE}" if row.kind == "published" else row.solver


def cell(row: Row, column: Column) -> str:
    """One figure as text; - where it is not defined."""
    return number(row.figures.get(column.key), column.digits)


def number(value: float | int | str | None, digits: int | None = None) -> str:
    """A figure with `digits` after the point, or four significant digits (None)."""
    if value is None or isinstance(value, str):
        return value or "-"
    if not math.isfinite(value):
        return str(value)
    if digits is not None:
        return f"{value:.{digits}f}"
    return f"{value:.0f}" if abs(value) >= 1e3 else f"{value:.4g}"


def spread_table(spreads: Sequence[Spread]) -> list[str]:
    """Markdown lines: one a policy, suite and figure."""
    lines = [_line(["policy", "suite", "figure", "seeds", "mean", "standard deviation", "max/min", "values"]),
             _line(["---"] * 3 + ["---:"] * 4 + ["---"])]
    for s in spreads:
        few = f"n < {LEAST_SEEDS}"
        stats = [few] * 3 if s.n < LEAST_SEEDS else [number(v) for v in (s.mean, s.deviation, s.ratio)]
        lines.append(_line([s.policy, s.suite, s.figure, str(s.n), *stats, ", ".join(number(v) for v in s.values)]))
    return [*lines, "", "The publication gives a relative variance across seeds: 1 with its FK loss, 7.5 without."]


def bar_table(bars: Sequence[Bar]) -> list[str]:
    """Markdown lines: one a bar."""
    lines = [_line(["bar", "wanted", "measured", "verdict"]), _line(["---", "---", "---:", "---"])]
    return lines + [_line([b.name, b.wanted, number(b.value), b.verdict + (f" ({b.note})" if b.note else "")]) for b in bars]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"


def _plain(value: Any) -> Any:
    """Numbers that are not finite as text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
