"""Streams of target poses from CSV files, checked row by row."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.errors import StreamError
from mimicik_ros.core.types import Array

HEADER = ("t", "x", "y", "z", "qx", "qy", "qz", "qw")
SMALLEST_NORM, LARGEST_NORM = 1e-3, 1e3  # beyond these a quaternion is none
REMEDY = f"expected the columns {','.join(HEADER)} (s, m, unit quaternion)"


@dataclass(frozen=True)
class Stream:
    """k poses: t_s (k,), position_m (k, 3), quat_xyzw (k, 4) unit, in the base frame unless said otherwise."""

    t_s: Array
    position_m: Array
    quat_xyzw: Array

    @classmethod
    def of_poses(cls, T: Array, period_s: float) -> Stream:
        """Poses (k, 4, 4), one a period from t = 0."""
        return cls(period_s * np.arange(len(T), dtype=float), T[:, :3, 3], se3.quat_from_rotation(T[:, :3, :3]))

    @property
    def poses(self) -> Array:
        """Homogeneous transforms (k, 4, 4)."""
        return se3.pose_from_quat(self.position_m, self.quat_xyzw)

    def placed(self, T_home: Array, scale: float) -> Stream:
        """The motion relative to its first pose, positions scaled, begun at T_home (4, 4) in the base frame's axes."""
        T = self.poses
        rotation = T[:, :3, :3] @ T[0, :3, :3].T @ T_home[:3, :3]
        position = T_home[:3, 3] + scale * (self.position_m - self.position_m[0])
        return Stream(self.t_s, position, se3.quat_from_rotation(rotation))


def read_stream(path: str | Path) -> Stream:
    """A CSV file with the columns t,x,y,z,qx,qy,qz,qw; other columns are ignored, gaps in time allowed.

    Raises:
        StreamError: names file, line, column and remedy.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise StreamError(f"cannot read '{path}': {error.strerror}; give a CSV file of targets") from error
    except UnicodeDecodeError as error:
        raise StreamError(f"{path}: not a text file; {REMEDY}") from error
    try:
        lines = [(number, row) for number, row in enumerate(csv.reader(text.splitlines()), 1) if any(row)]
    except csv.Error as error:
        raise StreamError(f"{path}: not a CSV file: {error}; {REMEDY}") from error
    if not lines:
        raise StreamError(f"{path}: empty; {REMEDY}")
    names = [name.strip() for name in lines[0][1]]
    twice = [name for name in HEADER if names.count(name) > 1]
    if twice:
        raise StreamError(f"{path}: line 1: column {', '.join(twice)} stands more than once; {REMEDY}")
    missing = [name for name in HEADER if name not in names]
    if missing:
        raise StreamError(f"{path}: line 1: no column {', '.join(missing)}; {REMEDY}")
    places = [names.index(name) for name in HEADER]
    values = np.array([_row(path, number, row, places) for number, row in lines[1:]]).reshape(-1, len(HEADER))
    if not len(values):
        raise StreamError(f"{path}: no rows below the header; {REMEDY}")
    backwards = np.flatnonzero(np.diff(values[:, 0]) <= 0.0)
    if len(backwards):
        number = lines[backwards[0] + 2][0]
        raise StreamError(f"{path}: line {number}: t does not increase ({values[backwards[0] + 1, 0]:g}); sort the rows by t")
    quat = values[:, 4:]
    return Stream(values[:, 0], values[:, 1:4], quat / np.linalg.norm(quat, axis=1, keepdims=True))


def _row(path: str | Path, number: int, row: list[str], places: list[int]) -> list[float]:
    values = []
    for name, place in zip(HEADER, places, strict=True):
        cell = row[place].strip() if place < len(row) else ""
        try:
            value = float(cell)
        except ValueError as error:
            raise StreamError(f"{path}: line {number}: column {name} is no number: '{cell[:30]}'; {REMEDY}") from error
        if not math.isfinite(value):
            raise StreamError(f"{path}: line {number}: column {name} is {value:g}; drop the row")
        values.append(value)
    norm = math.hypot(*values[4:])
    if not SMALLEST_NORM <= norm <= LARGEST_NORM:
        raise StreamError(f"{path}: line {number}: columns qx,qy,qz,qw have norm {norm:.3g}, which is no rotation; {REMEDY}")
    return values
