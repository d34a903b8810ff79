"""The on-disk format: columns with units, what the file says of its robot, and one episode as arrays."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from mimicik_ros.core.errors import DataError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array

FORMAT_VERSION = 1
METADATA_KEY = b"mimicik_dataset"
SOURCES = ("synth", "lerobot", "bag", "csv", "retarget")


@dataclass(frozen=True)
class Episode:
    """k rows of one motion. Row i: the arm is at q, is told q_command, and that answers the target pose.

    Attributes:
        t_s: (k,) seconds, strictly increasing.
        q: (k, n) measured joints, rad.
        q_command: (k, n) commanded joints, rad; delta_q is q_command - q.
        position_m, quat_xyzw: (k, 3) and (k, 4), the target of the tool in the base frame; unit quaternions.
        source: one of SOURCES.
        number: of the episode in its file.
    """

    t_s: Array
    q: Array
    q_command: Array
    position_m: Array
    quat_xyzw: Array
    source: str
    number: int = -1

    def __len__(self) -> int:
        return len(self.t_s)


@dataclass(frozen=True)
class Header:
    """What a file says of itself.

    Attributes:
        robot: name, free text.
        joint_names: n names in the order of the vectors.
        kinematic_hash: of the robot (Kinematics.kinematic_hash).
        base_frame, tool_frame: of the target poses.
        period_s: nominal time between rows.
        made: how the file was made (verb, options, counts): plain JSON values.
        format_version: of this layout.
    """

    robot: str
    joint_names: tuple[str, ...]
    kinematic_hash: str
    base_frame: str
    tool_frame: str
    period_s: float
    made: dict[str, Any] = field(default_factory=dict)
    format_version: int = FORMAT_VERSION

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joint_names)

    @classmethod
    def of(cls, kinematics: Kinematics, robot: str, period_s: float, made: dict[str, Any]) -> Header:
        """Header for data of one robot."""
        return cls(robot, kinematics.joint_names, kinematics.kinematic_hash(), kinematics.base_frame, kinematics.tool_frame,
                   period_s, made)

    @classmethod
    def from_schema(cls, schema: pa.Schema, origin: str) -> Header:
        """The header in a file's schema; origin names the file in errors.

        Raises:
            DataError: the file is none of ours, or of another version, or its columns are not those of the format.
        """
        text = (schema.metadata or {}).get(METADATA_KEY)
        if text is None:
            raise DataError(f"{origin}: a parquet file, but no mimicik dataset; bring it in with `mimicik dataset import-...`")
        try:
            values = json.loads(text)
            header = cls(**{**values, "joint_names": tuple(values["joint_names"])})
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(f"{origin}: its dataset header cannot be read ({error}); make the file again") from error
        if header.format_version != FORMAT_VERSION:
            raise DataError(f"{origin}: dataset format {header.format_version}, this version reads {FORMAT_VERSION}; remake it")
        expected = columns(header.n)
        differing = [f.name for f in expected if f.name not in schema.names or schema.field(f.name).type != f.type]
        if differing:
            raise DataError(f"{origin}: columns missing or of another type: {', '.join(differing)}; make the file again")
        return header

    def schema(self) -> pa.Schema:
        """Arrow schema with units in the fields and this header in the metadata."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return pa.schema(columns(self.n), metadata={METADATA_KEY: json.dumps(values, sort_keys=True).encode()})

    def same_robot(self, kinematics: Kinematics) -> bool:
        """Whether it was made for this robot: names, frames, chain and limits."""
        return self.kinematic_hash == kinematics.kinematic_hash()


def columns(n: int) -> list[pa.Field]:
    """The columns for n joints; the metadata of each gives unit and meaning."""
    def column(name: str, kind: pa.DataType, unit: str, text: str) -> pa.Field:
        return pa.field(name, kind, nullable=False, metadata={"unit": unit, "text": text})

    joints = pa.list_(pa.field("item", pa.float64(), nullable=False), n)
    vector = pa.list_(pa.field("item", pa.float64(), nullable=False), 3)
    quat = pa.list_(pa.field("item", pa.float64(), nullable=False), 4)
    return [
        column("episode", pa.int32(), "1", "number of the episode; its rows lie together, in order of time"),
        column("t_s", pa.float64(), "s", "time"),
        column("q", joints, "rad", "measured joints in the order of joint_names"),
        column("q_command", joints, "rad", "commanded joints of the row"),
        column("target_position_m", vector, "m", "target of the tool frame in the base frame"),
        column("target_quat_xyzw", quat, "1", "target of the tool frame in the base frame, unit quaternion"),
        column("source", pa.dictionary(pa.int32(), pa.string()), "", f"one of {', '.join(SOURCES)}"),
    ]


def to_batch(episode: Episode, number: int, schema: pa.Schema) -> pa.RecordBatch:
    """Rows of one episode under a header's schema."""
    def lists(values: Array, name: str) -> pa.Array:
        return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(values, dtype=float).ravel()),
                                                 type=schema.field(name).type)

    k = len(episode)
    source = pa.DictionaryArray.from_arrays(np.full(k, SOURCES.index(episode.source), dtype=np.int32), list(SOURCES))
    return pa.RecordBatch.from_arrays([
        pa.array(np.full(k, number, dtype=np.int32)), pa.array(np.asarray(episode.t_s, dtype=float)),
        lists(episode.q, "q"), lists(episode.q_command, "q_command"), lists(episode.position_m, "target_position_m"),
        lists(episode.quat_xyzw, "target_quat_xyzw"), source], schema=schema)


def to_episodes(table: pa.Table) -> list[Episode]:
    """Episodes of a table in the order of its rows; a new one begins wherever the number changes."""
    number = table["episode"].to_numpy()
    source = table["source"].cast(pa.string()).to_pylist()
    t_s = table["t_s"].to_numpy()
    values = {name: vectors(table, name) for name in ("q", "q_command", "target_position_m", "target_quat_xyzw")}
    cuts = [0, *(np.flatnonzero(np.diff(number)) + 1), len(number)]
    return [Episode(t_s[a:b], *(v[a:b] for v in values.values()), source[a], int(number[a]))
            for a, b in pairwise(cuts) if b > a]


def vectors(table: pa.Table, name: str) -> Array:
    """A column of fixed-size lists as an array (k, size)."""
    column = table[name].combine_chunks()
    size = column.type.list_size
    return np.asarray(column.flatten().to_numpy(zero_copy_only=False), dtype=float).reshape(-1, size)
