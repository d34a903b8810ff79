"""What a run says while it goes on: a bar, a CSV beside the checkpoint and, where asked for, TensorBoard event files."""

from __future__ import annotations

import csv
import dataclasses
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tqdm import tqdm


@dataclass(frozen=True)
class Row:
    """One line of the log.

    Attributes:
        step: optimiser steps done.
        minutes: wall time so far, earlier parts of a resumed run included.
        lr: Muon's learning rate.
        loss, flow, fk: of this step's batch: the total, and its parts before their weights.
        mm, deg: mean position and rotation error of the averaged policy, as deployed, on rows of this step's batch.
    """

    step: int
    minutes: float
    lr: float
    loss: float
    flow: float
    fk: float
    mm: float
    deg: float


class RunLog:
    """The bar, the CSV and the event files of a run; use it as a context.

    Args:
        path: CSV file.
        folder: of the TensorBoard event files; None writes none.
        first: steps that are done; later rows of an interrupted run are dropped, and come again.
        steps: of the whole run.
        title: before the bar.
    """

    def __init__(self, path: Path, folder: Path | None, first: int, steps: int, title: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = _rows_until(path, first) if first else []
        self._board: Any = None
        if folder is not None:
            from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 (takes a second to import)

            self._board = SummaryWriter(str(folder), purge_step=first + 1 if first else None)
        self._file = path.open("w", newline="", encoding="utf-8")
        self._csv = csv.writer(self._file, lineterminator="\n")
        self._csv.writerow([f.name for f in dataclasses.fields(Row)])
        self._csv.writerows(kept)
        self._bar = tqdm(total=steps, initial=first, desc=title, unit="step", dynamic_ncols=True, mininterval=1.0)

    def __enter__(self) -> RunLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.close()
        self._file.close()
        if self._board is not None:
            self._board.close()

    def advance(self) -> None:
        """One more step is done."""
        self._bar.update()

    def add(self, row: Row) -> None:
        """Write a line everywhere."""
        values = dataclasses.asdict(row)
        del values["step"]
        self._csv.writerow([row.step, *(f"{v:.6g}" for v in values.values())])
        self._file.flush()
        self._bar.set_postfix(refresh=False, loss=f"{row.loss:.3f}", mm=f"{row.mm:.3f}", deg=f"{row.deg:.3f}")
        if self._board is not None:
            for name, value in values.items():
                self._board.add_scalar(f"train/{name}", value, row.step)


class NoLog:
    """Stands for the log in all processes but the first."""

    def __enter__(self) -> NoLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        pass

    def advance(self) -> None:
        """Nothing to show."""

    def add(self, row: Row) -> None:
        """Nothing to write."""


def _rows_until(path: Path, step: int) -> list[list[str]]:
    """Rows of an earlier part of the run up to a step; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [row for row in list(csv.reader(file))[1:] if row and row[0].isdigit() and int(row[0]) <= step]
