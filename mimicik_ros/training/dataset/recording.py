"""One recorded motion as it was found, before anything of it is trusted, and what is found to be wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mimicik_ros.core.types import Array


@dataclass(frozen=True)
class Fault:
    """Something wrong with a recording: its kind (one word), a text, and the rows it concerns (k,) bool; None: all of them."""

    kind: str
    text: str
    rows: np.ndarray | None = None


@dataclass(frozen=True)
class Recording:
    """One episode as found: k rows in the order of the file. NaN stands where a value is missing.

    Attributes:
        name: of the episode, for reports.
        t_s: (k,) seconds.
        q: (k, n) measured joints, rad (or degrees, which the checks find).
        q_command: (k, n) commanded joints, or None.
        position_m, quat_xyzw: (k, 3) and (k, 4), target of the tool, or None.
        measured_position_m: (k, 3) tool position as recorded, to compare FK with, or None.
        faults: what the reader of the file found already.
    """

    name: str
    t_s: Array
    q: Array
    q_command: Array | None = None
    position_m: Array | None = None
    quat_xyzw: Array | None = None
    measured_position_m: Array | None = None
    faults: list[Fault] = field(default_factory=list)

    @classmethod
    def unusable(cls, name: str, kind: str, text: str) -> Recording:
        """A recording of which nothing could be read."""
        return cls(name, np.zeros(0), np.zeros((0, 0)), faults=[Fault(kind, text)])

    def taken(self, rows: np.ndarray) -> Recording:
        """Those rows only (indices or bool), without faults."""
        def of(values: Array | None) -> Array | None:
            return None if values is None else values[rows]

        return Recording(self.name, self.t_s[rows], self.q[rows], of(self.q_command), of(self.position_m), of(self.quat_xyzw),
                         of(self.measured_position_m))


def stacked(values: list, size: int) -> tuple[Array, np.ndarray]:
    """Vectors of unsure length as an array (k, size) with NaN for those of another length, and which these are (k,) bool."""
    out = np.full((len(values), size), np.nan)
    wrong = np.array([v is None or len(v) != size for v in values], dtype=bool)
    for i in np.flatnonzero(~wrong):
        out[i] = [np.nan if x is None else x for x in values[i]]
    return out, wrong


def length_faults(wrong: np.ndarray, values: list, size: int, name: str, hint: str = "") -> list[Fault]:
    """The fault of vectors of another length, as `stacked` found them; empty where there is none."""
    if not wrong.any():
        return []
    got = sorted({0 if values[i] is None else len(values[i]) for i in np.flatnonzero(wrong)})
    return [Fault("length", f"{name} has {', '.join(map(str, got))} values, expected {size}{hint}", wrong)]
