"""Recordings -> checks -> period -> dataset, one at a time, with an account of what was kept and why the rest was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mimicik_ros.training.dataset.checks import Rules, fk_offset_m, judge
from mimicik_ros.training.dataset.fill import complete
from mimicik_ros.training.dataset.recording import Recording
from mimicik_ros.training.dataset.resample import SAME, onto_period
from mimicik_ros.training.dataset.schema import Header
from mimicik_ros.training.dataset.writer import DatasetWriter

OFFSET_M = 5e-3  # FK further than this from recorded poses is worth a word
LISTED = 40  # lines of the table on the screen; the JSON report has them all


@dataclass(frozen=True)
class Line:
    """The account of one recording: rows found, rows that were good, episodes made of it, the usual time between rows, faults."""

    name: str
    rows: int
    kept_rows: int
    pieces: int
    step_s: float
    fk_offset_m: float
    faults: list[tuple[str, str]]

    @property
    def state(self) -> str:
        """kept, cut (a part was lost) or dropped."""
        return "dropped" if not self.pieces else "cut" if self.faults else "kept"


@dataclass(frozen=True)
class Report:
    """The account of an import."""

    lines: list[Line] = field(default_factory=list)
    episodes: int = 0
    rows: int = 0
    period_s: float = 0.0

    def count(self, state: str) -> int:
        """Recordings in a state."""
        return sum(line.state == state for line in self.lines)

    def text(self) -> str:
        """A table of every recording with a fault, then the sums."""
        faulty = [line for line in self.lines if line.faults]
        out = [f"{line.state:8s}{line.name}: {line.kept_rows} of {line.rows} rows; "
               + "; ".join(f"{kind}: {text}" for kind, text in line.faults) for line in faulty[:LISTED]]
        if len(faulty) > LISTED:
            out.append(f"... and {len(faulty) - LISTED} more with faults; --report FILE lists all")
        kinds = Counter(kind for line in faulty for kind in {kind for kind, _ in line.faults})
        why = f" ({', '.join(f'{kind} {number}' for kind, number in sorted(kinds.items()))})" if kinds else ""
        out.append(f"found {len(self.lines)} recordings: {self.count('kept')} kept whole, {self.count('cut')} cut, "
                   f"{self.count('dropped')} dropped{why}")
        usual = float(np.median([line.step_s for line in self.lines if line.pieces] or [self.period_s]))
        if abs(usual - self.period_s) > SAME * self.period_s:
            out.append(f"note: rows every {usual:.4g} s (median) were brought onto {self.period_s:g} s")
        offsets = [line.fk_offset_m for line in self.lines if np.isfinite(line.fk_offset_m)]
        if offsets and np.median(offsets) > OFFSET_M:
            out.append(f"note: FK of the joints lies {1e3 * np.median(offsets):.1f} mm from the recorded tool poses (median): "
                       "another tool, base frame or arm? See --config")
        return "\n".join(out)

    def values(self) -> dict[str, Any]:
        """The account as plain values."""
        return {"episodes": self.episodes, "rows": self.rows,
                "recordings": [{"name": line.name, "state": line.state, "rows": line.rows, "kept_rows": line.kept_rows,
                                "episodes": line.pieces, "step_s": line.step_s,
                                "faults": [{"kind": kind, "text": text} for kind, text in line.faults]} for line in self.lines]}


def take_in(recordings: Iterable[Recording], out: Path, header: Header, rules: Rules, source: str) -> Report:
    """Write the good parts of recordings to a dataset file; where there are none, no file is written.

    Args:
        recordings: read one at a time.
        out: .parquet file.
        header: of the file.
        rules: of the checks.
        source: name of the source in the rows.
    """
    lines: list[Line] = []
    with DatasetWriter(out, header) as writer:
        for recording in recordings:
            pieces, faults = judge(recording, rules)
            kept = written = 0
            for piece in pieces:
                episode, lost = complete(onto_period(piece, rules.period_s), rules.kinematics, source)
                faults = faults + lost
                if episode is not None:
                    writer.write(episode)
                    written += 1
                    kept += len(piece.t_s)
            steps = np.concatenate([np.diff(piece.t_s) for piece in pieces] or [np.zeros(0)])
            lines.append(Line(recording.name, len(recording.t_s), kept, written,
                              float(np.median(steps)) if len(steps) else float("nan"),
                              fk_offset_m(pieces[0], rules.kinematics) if pieces else float("nan"),
                              [(f.kind, f.text) for f in faults]))
    return Report(lines, writer.episodes, writer.rows, rules.period_s)
