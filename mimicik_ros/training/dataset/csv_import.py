"""CSV tables of joints as recordings: t,q1..qn, where there are some with commands qc1..qcn and target poses x..qw."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mimicik_ros.core.errors import DataError
from mimicik_ros.core.types import Array
from mimicik_ros.training.dataset.recording import Fault, Recording


@dataclass(frozen=True)
class Names:
    """Names of the columns. Those of joints and commands hold {i} for the joint's number from 1, or {name} for its name."""

    time: str = "t"
    joints: str = "q{i}"
    commands: str = "qc{i}"
    pose: tuple[str, ...] = ("x", "y", "z", "qx", "qy", "qz", "qw")


def recordings(paths: list[Path], names: Names, joint_names: tuple[str, ...], degrees: bool) -> Iterator[Recording]:
    """Each file as one recording; a file that cannot be read is one too, of which nothing can be kept.

    Raises:
        DataError: a path does not exist.
    """
    for path in paths:
        if not path.is_file():
            raise DataError(f"{path}: no such file; give CSV files, not folders")
        yield _recording(path, names, joint_names, degrees)


def _recording(path: Path, names: Names, joint_names: tuple[str, ...], degrees: bool) -> Recording:
    groups = {"t": [names.time], "q": _numbered(names.joints, joint_names), "qc": _numbered(names.commands, joint_names),
              "pose": list(names.pose)}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file)
            header = [cell.strip() for cell in next(rows, [])]
            missing = [name for group in ("t", "q") for name in groups[group] if name not in header]
            if missing:
                found = ", ".join(header) or "none"
                return Recording.unusable(str(path), "columns", f"no column {', '.join(missing)}; found {found}")
            twice = [name for g in groups for name in groups[g] if header.count(name) > 1]
            if twice:
                return Recording.unusable(str(path), "columns", f"column {', '.join(twice)} stands more than once")
            present = [g for g in groups if all(name in header for name in groups[g])]
            halves = [g for g in ("qc", "pose") if g not in present and any(name in header for name in groups[g])]
            if halves:
                partly = ", ".join(name for g in halves for name in groups[g] if name not in header)
                return Recording.unusable(str(path), "columns", f"no column {partly}, but others of its kind")
            places = [header.index(name) for g in present for name in groups[g]]
            numbers, short = _numbers(rows, places, len(header))
    except (UnicodeDecodeError, csv.Error) as error:
        return Recording.unusable(str(path), "truncated", f"no CSV file ({error})")
    faults = []
    if short.any():
        first = int(np.flatnonzero(short)[0])
        last = " (the last: truncated)" if first == len(short) - 1 else ""
        faults.append(Fault("length", f"{int(short.sum())} rows of other length than the header, first row {first}{last}", short))
    parts: dict[str, Array] = {}
    start = 0
    for g in present:
        parts[g] = numbers[:, start:start + len(groups[g])]
        start += len(groups[g])
    q, command, pose = parts["q"], parts.get("qc"), parts.get("pose")
    if degrees:
        q, command = np.deg2rad(q), None if command is None else np.deg2rad(command)
    return Recording(str(path), parts["t"][:, 0], q, command, None if pose is None else pose[:, :3],
                     None if pose is None else pose[:, 3:], None, faults)


def _numbered(pattern: str, joint_names: tuple[str, ...]) -> list[str]:
    try:
        columns = [pattern.format(i=i, name=name) for i, name in enumerate(joint_names, 1)]
    except (KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
        raise DataError(f"'{pattern}': use {{i}} for the joint's number or {{name}} for its name") from error
    if len(set(columns)) != len(columns):
        raise DataError(f"'{pattern}' names one column for every joint; use {{i}} for its number or {{name}} for its name")
    return columns


def _numbers(rows: Iterator[list[str]], places: list[int], width: int) -> tuple[Array, np.ndarray]:
    """Cells as numbers (k, m), NaN where one is none, and which rows have another length than the header (k,) bool."""
    values, short = [], []
    for row in rows:
        if any(row):
            values.append([_number(row[place]) if place < len(row) else np.nan for place in places])
            short.append(len(row) != width)
    return np.array(values, dtype=float).reshape(-1, len(places)), np.array(short, dtype=bool)


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")  # judged with the other NaN of the row
