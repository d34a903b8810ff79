"""Steps drawn from datasets for training: the same for the same optimiser step, in bounded memory, in any order of calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from mimicik_ros.core.errors import DataError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.training.dataset.reader import Dataset
from mimicik_ros.training.dataset.schema import vectors

WINDOW_STEPS = 100  # optimiser steps that draw from the same row groups
WINDOW_GROUPS = 8  # row groups in memory at a time


class StepSampler:
    """Draws (q, delta_q) pairs from dataset files.

    The row groups in use follow from (seed, step // WINDOW_STEPS) and the rows in them from the generator that is handed in, so
    a run that is resumed, or split over processes, sees the same data. No more than WINDOW_GROUPS row groups are in memory.

    Args:
        paths: dataset files or folders.
        kinematics: the robot they must be for.
        max_step_rad: rows whose command lies further from the joints in any joint are left out.
        seed: of the choice of row groups.
        period_s: that the data must have; None takes any.

    Raises:
        DataError: a file cannot be used, or no row is left.
    """

    def __init__(self, paths: Sequence[str | Path], kinematics: Kinematics, max_step_rad: float, seed: int,
                 period_s: float | None = None) -> None:
        self._data = Dataset(paths, kinematics)
        found_s = self._data.header.period_s
        if period_s is not None and abs(found_s - period_s) > 1e-6:
            raise DataError(f"{self._data.files[0]}: has a row every {found_s:g} s, the control period is {period_s:g} s; "
                            "make the data again with this --config")
        self._lower, self._upper = kinematics.lower, kinematics.upper
        self.max_step_rad, self._seed = max_step_rad, seed
        counts = np.array([len(self._steps(i)[0]) for i in range(len(self._data.groups))], dtype=float)
        if not counts.sum():
            raise DataError(f"{self._data.files[0]}: no row of {self._data.rows} has a step within {max_step_rad:g} rad in each "
                            "joint; see `mimicik dataset info`")
        self.rows, self.usable_rows = self._data.rows, int(counts.sum())
        self.files = tuple(self._data.files)
        self._shares = counts / counts.sum()
        self._window: tuple[int, Array, Array] | None = None

    def draw(self, step: int, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Joints q and steps delta_q, (size, n) rad each, for an optimiser step."""
        window = step // WINDOW_STEPS
        if self._window is None or self._window[0] != window:
            self._window = (window, *self._load(window))
        _, q, delta_q = self._window
        rows = rng.integers(0, len(q), size)
        return q[rows], delta_q[rows]

    def _load(self, window: int) -> tuple[Array, Array]:
        possible = np.flatnonzero(self._shares)
        count = min(WINDOW_GROUPS, len(possible))
        chosen = np.random.default_rng([self._seed, window]).choice(len(self._shares), count, replace=False, p=self._shares)
        q, delta_q = zip(*(self._steps(i) for i in np.sort(chosen)), strict=True)
        return np.concatenate(q), np.concatenate(delta_q)

    def _steps(self, group: int) -> tuple[Array, Array]:
        """Usable rows of a row group: (q, delta_q)."""
        table: pa.Table = self._data.read(self._data.groups[group], ["q", "q_command"])
        q, command = vectors(table, "q"), vectors(table, "q_command")
        q = np.clip(q, self._lower, self._upper)  # measured slightly outside at times
        delta_q = np.clip(command, self._lower, self._upper) - q
        good = np.abs(delta_q).max(axis=1) <= self.max_step_rad  # NaN is not
        return q[good], delta_q[good]
