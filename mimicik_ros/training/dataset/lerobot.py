"""LeRobot datasets (parquet layout v2 and v3) as recordings: joints, commands, and tool poses where they are there."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mimicik_ros.core.errors import DataError
from mimicik_ros.core.types import Array
from mimicik_ros.training.dataset.recording import Fault, Recording, length_faults, stacked

NEXT = "next"  # as the name of the action: the joints of the next row are the command
POSE = 7  # x y z qx qy qz qw
BATCH_ROWS = 4096


@dataclass(frozen=True)
class Columns:
    """Names of the columns, and which values of state and action are joints: values a to b - 1; None takes all."""

    state: str = "observation.state"
    action: str = "action"
    state_pose: str = "observation.state_quat"
    action_pose: str = "action_quat"
    joints: tuple[int, int] | None = None


def recordings(folder: Path, columns: Columns, n: int, degrees: bool) -> Iterator[Recording]:
    """The episodes of a LeRobot folder, one at a time, in the order of its files.

    Args:
        folder: holds meta/info.json and data/chunk-*/*.parquet.
        columns: names; pose columns that are not there are left out, the others are needed.
        n: joints of the robot.
        degrees: take joints for degrees.

    Raises:
        DataError: the folder is no LeRobot dataset.
    """
    info = _info(folder)
    files = sorted((folder / "data").glob("chunk-*/*.parquet"))
    if not files:
        raise DataError(f"{folder}: no data/chunk-*/*.parquet; give the folder of a LeRobot dataset, v2 or v3")
    lengths = _lengths(folder)
    period_s = 1.0 / info["fps"] if info.get("fps") else None
    for file in files:
        name = str(file.relative_to(folder / "data"))
        try:
            for number, table in _tables(file, columns):
                label = f"episode {number} ({name})" if number is not None else name
                yield _recording(label, table, columns, n, degrees, period_s, lengths.get(number))
        except (pa.ArrowException, OSError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0].split(". ")[0][:80]
            yield Recording.unusable(name, "truncated", f"ends early, or is no parquet file ({reason})")


def _info(folder: Path) -> dict[str, Any]:
    path = folder / "meta" / "info.json"
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot read ({error.strerror}); give the folder of a LeRobot dataset, v2 or v3") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: no JSON ({error}); repair the file") from error
    if not isinstance(info, dict) or not isinstance(info.get("fps", 0), (int, float)) or not 0 <= info.get("fps", 0) < math.inf:
        raise DataError(f"{path}: expected an object with a positive number 'fps'; repair the file")
    return info


def _lengths(folder: Path) -> dict[int | None, int]:
    """Rows that each episode should have, where meta says so (v2: episodes.jsonl; v3: episodes/chunk-*/*.parquet)."""
    lengths: dict[int | None, int] = {}
    try:
        for line in (folder / "meta" / "episodes.jsonl").read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            lengths[entry["episode_index"]] = entry["length"]
    except (OSError, ValueError, KeyError, TypeError):  # only used to find short episodes; without it none is called short
        lengths.clear()
    for file in sorted((folder / "meta" / "episodes").glob("chunk-*/*.parquet")):
        try:
            table = pq.read_table(file, columns=["episode_index", "length"])
        except (pa.ArrowException, OSError):  # likewise
            continue
        lengths.update(zip(table["episode_index"].to_pylist(), table["length"].to_pylist(), strict=True))
    return {number: length for number, length in lengths.items() if isinstance(length, int)}


def _tables(file: Path, columns: Columns) -> Iterator[tuple[int | None, pa.Table]]:
    """Episodes of one file as tables, read in batches: (episode_index or None, rows)."""
    with pq.ParquetFile(file) as parquet:
        known = parquet.schema_arrow.names
        wanted = (columns.state, columns.action, columns.state_pose, columns.action_pose, "timestamp", "frame_index",
                  "episode_index")
        take = [name for name in dict.fromkeys(wanted) if name in known]
        for column, option in ((columns.state, "--state"), (columns.action, "--action")):
            if column not in known and (column, option) != (NEXT, "--action"):
                rest = f", or `{option} {NEXT}` to take the next row's joints" if option == "--action" else ""
                raise DataError(f"{file}: no column '{column}'; columns: {', '.join(known)}; name it with {option}{rest}")
        _check_types(parquet.schema_arrow, file, columns)
        open_rows: list[pa.RecordBatch] = []
        number: int | None = None
        for batch in parquet.iter_batches(BATCH_ROWS, columns=take):
            if "episode_index" in take and batch["episode_index"].null_count:
                raise DataError(f"{file}: column 'episode_index' has rows without a value; repair the file")
            ids = batch["episode_index"].to_numpy() if "episode_index" in take else np.zeros(len(batch), dtype=int)
            cuts = [0, *(np.flatnonzero(np.diff(ids)) + 1), len(ids)]
            for a, b in pairwise(cuts):
                if open_rows and ids[a] != number:
                    yield number if "episode_index" in take else None, pa.Table.from_batches(open_rows)
                    open_rows = []
                number = int(ids[a])
                open_rows.append(batch.slice(a, b - a))
        if open_rows:
            yield number if "episode_index" in take else None, pa.Table.from_batches(open_rows)


def _check_types(schema: pa.Schema, file: Path, columns: Columns) -> None:
    """Raises DataError where a column is there, but does not hold what it should."""
    vectors = {columns.state: "--state", columns.action: "--action", columns.state_pose: "--state-quat",
               columns.action_pose: "--action-quat"}
    for name, option in vectors.items():
        kind = schema.field(name).type if name in schema.names else None
        if kind is not None and not (_is_list(kind) and _is_number(kind.value_type)):
            raise DataError(f"{file}: column '{name}' is {kind}, expected a list of numbers; name another with {option}")
    for name, fits, expected in (("episode_index", pa.types.is_integer, "an integer"), ("timestamp", _is_number, "a number"),
                                 ("frame_index", pa.types.is_integer, "an integer")):
        kind = schema.field(name).type if name in schema.names else None
        if kind is not None and not fits(kind):
            raise DataError(f"{file}: column '{name}' is {kind}, expected {expected}; repair the file")


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind) or pa.types.is_large_list(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _recording(name: str, table: pa.Table, columns: Columns, n: int, degrees: bool, period_s: float | None,
               length: int | None) -> Recording:
    def vectors(column: str, size: int, part: tuple[int, int] | None, hint: str = "") -> tuple[Array | None, list[Fault]]:
        if column not in table.column_names:
            return None, []
        values = [v if v is None or part is None else v[part[0]:part[1]] for v in table[column].to_pylist()]
        array, wrong = stacked(values, size)
        return array, length_faults(wrong, values, size, column, hint)

    hint = f" joints; choose them with --joints 0:{n}"
    (q, f1), (command, f2) = (vectors(c, n, columns.joints, hint) for c in (columns.state, columns.action))
    (measured, f3), (target, f4) = (vectors(c, POSE, None) for c in (columns.state_pose, columns.action_pose))
    assert q is not None  # _tables refuses a file without it
    if degrees:
        q, command = np.deg2rad(q), None if command is None else np.deg2rad(command)
    faults = f1 + f2 + f3 + f4
    if length is not None and len(table) < length:
        faults.append(Fault("truncated", f"{len(table)} of {length} rows that meta/episodes gives", np.zeros(len(table), bool)))
    position, quat = (None, None) if target is None else (target[:, :3], target[:, 3:])
    measured_position = None if measured is None else measured[:, :3]
    return Recording(name, _times(table, period_s), q, command, position, quat, measured_position, faults)


def _times(table: pa.Table, period_s: float | None) -> Array:
    """Seconds of each row: timestamp, or frame_index (or the row's place) times the period of meta/info.json."""
    if "timestamp" in table.column_names:
        return np.asarray(table["timestamp"].to_numpy(), dtype=float)
    if period_s is None:
        raise DataError("no column 'timestamp' and no fps in meta/info.json; the rows have no time")
    frames = table["frame_index"].to_numpy() if "frame_index" in table.column_names else np.arange(len(table))
    return np.asarray(frames, dtype=float) * period_s
