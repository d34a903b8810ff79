"""Datasets read as a stream: files and folders of files, one row group in memory at a time, another robot's refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from mimicik_ros.core.errors import DataError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.training.dataset.schema import Episode, Header, to_episodes


@dataclass(frozen=True)
class Group:
    """One row group: its file, its index there, and its number of rows."""

    path: Path
    index: int
    rows: int


class Dataset:
    """One or more dataset files of one robot, in the order given; a folder stands for its *.parquet files by name.

    Args:
        paths: files and folders.
        kinematics: the robot that the data is wanted for; None takes any.
        any_robot: take another robot's file all the same.

    Raises:
        DataError: a file is missing, truncated, none of ours, named twice, or of another robot; or the files differ in robot or
            period.
    """

    def __init__(self, paths: Sequence[str | Path], kinematics: Kinematics | None = None, any_robot: bool = False) -> None:
        self.files = [file for path in paths for file in _files(Path(path))]
        if not self.files:
            raise DataError("no dataset named; give one or more .parquet files")
        twice = [f for i, f in enumerate(self.files) if f.resolve() in {g.resolve() for g in self.files[:i]}]
        if twice:  # a split would put the same episode into two parts
            raise DataError(f"{twice[0]}: named more than once; name it once")
        self.headers: list[Header] = []
        self.groups: list[Group] = []
        for file in self.files:
            with _open(file) as parquet:
                header = Header.from_schema(parquet.schema_arrow, str(file))
                self.groups += [Group(file, i, parquet.metadata.row_group(i).num_rows) for i in range(parquet.num_row_groups)]
            if kinematics is not None and not any_robot and not header.same_robot(kinematics):
                raise DataError(f"{file}: made for robot '{header.robot}' ({header.base_frame} -> {header.tool_frame}, "
                                f"{header.kinematic_hash}), this one is {kinematics.base_frame} -> {kinematics.tool_frame}, "
                                f"{kinematics.kinematic_hash()}; give its --config, or --any-robot to read it all the same")
            first = self.headers[0] if self.headers else header
            if (header.kinematic_hash, header.period_s) != (first.kinematic_hash, first.period_s):
                raise DataError(f"{file}: another robot or period than {self.files[0]}; read them apart")
            self.headers.append(header)
        self.header = self.headers[0]
        self.rows = sum(g.rows for g in self.groups)

    def read(self, group: Group, columns: list[str] | None = None) -> pa.Table:
        """One row group. Raises DataError where the file is damaged."""
        try:
            with _open(group.path) as parquet:
                return parquet.read_row_group(group.index, columns=columns)
        except (pa.ArrowException, OSError) as error:
            reason = f"row group {group.index} is damaged ({_reason(error)})"
            raise DataError(f"{group.path}: {reason}; make the file again") from error

    def episodes(self) -> Iterator[Episode]:
        """All episodes in order. The writer keeps an episode within one row group."""
        for group in self.groups:
            yield from to_episodes(self.read(group))


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.parquet"))
    if not found:
        raise DataError(f"{path}: a folder without .parquet files; give a dataset file")
    return found


def _open(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file; give a dataset written by `mimicik dataset`") from error
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: truncated, or no parquet file ({_reason(error)}); make the file again") from error


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].split(". ")[0][:120]
