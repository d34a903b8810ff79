"""Episodes written one after another: bounded memory, whole episodes in every row group, no half file left behind."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq

from mimicik_ros.core.errors import DataError
from mimicik_ros.training.dataset.schema import Episode, Header, to_batch

GROUP_ROWS = 16_384  # a row group is closed at the end of the episode that reaches this


class DatasetWriter:
    """Writes a dataset file; to be used with `with`. The file appears under its name only when all went well and it
    has episodes; until then what was there before stays.

    Args:
        path: file to write (.parquet).
        header: robot, period and how it is made.

    Raises:
        DataError: the path does not end in .parquet, or is a folder.
    """

    def __init__(self, path: Path, header: Header) -> None:
        if path.suffix != ".parquet" or path.is_dir():
            raise DataError(f"{path}: give a file name that ends in .parquet")
        self.path, self.header = path, header
        self.rows = self.episodes = 0
        self._schema = header.schema()
        self._waiting: list[pa.RecordBatch] = []
        self._partial = path.with_name(path.name + ".partial")

    def __enter__(self) -> DatasetWriter:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = pq.ParquetWriter(self._partial, self._schema, compression="zstd", use_dictionary=["source"])
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self._flush()
            self._file.close()
            if kind is None and self.episodes:
                self._partial.replace(self.path)
        finally:
            self._partial.unlink(missing_ok=True)  # of a failed run, a full disk included

    def write(self, episode: Episode, number: int | None = None) -> None:
        """Append an episode; it is numbered in the order of writing unless a number is given."""
        self._waiting.append(to_batch(episode, self.episodes if number is None else number, self._schema))
        self.rows += len(episode)
        self.episodes += 1
        if sum(len(b) for b in self._waiting) >= GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            table = pa.Table.from_batches(self._waiting, schema=self._schema)
            self._file.write_table(table, row_group_size=len(table))
            self._waiting = []
