"""Human end-effector streams -> joint-space demonstrations: placed, led through smoothly, what cannot be reached cut out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.training.dataset.branches import Way, smoothest
from mimicik_ros.training.dataset.checks import LEAST_S
from mimicik_ros.training.dataset.pool import ordered, robot_arguments
from mimicik_ros.training.dataset.resample import continuous
from mimicik_ros.training.dataset.schema import Episode
from mimicik_ros.training.dataset.streams import placed, read

LISTED = 40  # files on the screen


@dataclass(frozen=True)
class Placing:
    """How streams come before the arm.

    Attributes:
        placements: seeded placements of every part (home, axes, scale); 0 takes poses as they are, in the base frame.
        scale: range of the factor of positions.
        period_s: of the dataset.
        max_step_rad: largest step of a joint in a period.
        most_s: a longer stream is cut into equal parts, each placed by itself; as they are, streams stay whole.
        seed: of everything.
    """

    placements: int
    scale: tuple[float, float]
    period_s: float
    max_step_rad: float
    most_s: float
    seed: int


@dataclass(frozen=True)
class Retargeted:
    """What came of one stream: its episodes, and where its rows went.

    Attributes:
        episodes: pieces that the arm follows.
        rows: poses to follow, over all placements.
        unreachable: of these have no joint solution.
        lost: of these lie in pieces that are too short to keep.
        breaks: places where no step within the largest leads on.
        faults: of the file, (kind, text).
    """

    name: str
    episodes: list[Episode]
    rows: int
    unreachable: int
    lost: int
    breaks: int
    faults: list[tuple[str, str]]

    @property
    def kept(self) -> int:
        """Rows that went into episodes."""
        return self.rows - self.unreachable - self.lost


@dataclass
class Account:
    """The sums over all files, and a line for each that lost something; rows count once for every placement."""

    files: int = 0
    episodes: int = 0
    rows: int = 0
    unreachable: int = 0
    lost: int = 0
    breaks: int = 0
    dropped: int = 0
    lines: list[str] = field(default_factory=list)

    def add(self, done: Retargeted) -> None:
        """Take one file's account in."""
        self.files, self.episodes, self.rows = self.files + 1, self.episodes + len(done.episodes), self.rows + done.rows
        self.unreachable, self.lost = self.unreachable + done.unreachable, self.lost + done.lost
        self.breaks, self.dropped = self.breaks + done.breaks, self.dropped + (not done.episodes)
        said = [f"{done.unreachable} unreachable"] * bool(done.unreachable) + [f"{done.breaks} breaks"] * bool(done.breaks)
        said += [f"{done.lost} in pieces too short"] * bool(done.lost) + [f"{kind}: {text}" for kind, text in done.faults]
        if said:
            state = "cut" if done.episodes else "dropped"
            self.lines.append(f"{state:8s}{done.name}: {done.kept} of {done.rows} rows, {len(done.episodes)} episodes; "
                              + "; ".join(said))

    def text(self) -> str:
        """A table of the files that lost something, then the sums."""
        out = self.lines[:LISTED]
        if len(self.lines) > LISTED:
            out = [*out, f"... and {len(self.lines) - LISTED} more files that lost something"]
        kept = self.rows - self.unreachable - self.lost
        share = f" ({100.0 * kept / self.rows:.1f} %)" if self.rows else ""
        return "\n".join([*out, f"{self.files} files, {self.dropped} dropped; {kept} of {self.rows} rows kept{share}, cut: "
                                f"{self.unreachable} unreachable, {self.lost} in pieces shorter than {LEAST_S:g} s; "
                                f"{self.breaks} breaks where no branch leads on within the largest step"])


def retarget(kinematics: Kinematics, files: list[Path], placing: Placing, workers: int) -> Iterator[Retargeted]:
    """Each file's account, in order, whatever the number of workers."""
    return ordered((_Arm, (*robot_arguments(kinematics), placing)), _retarget_file, list(enumerate(files)), workers)


def episodes_of(way: Way, targets: Array, period_s: float) -> list[Episode]:
    """The pieces of a way through targets (k, 4, 4) that are long enough; each row's command is the joints of the next."""
    t_s = period_s * np.arange(len(targets))
    quat = continuous(se3.quat_from_rotation(targets[:, :3, :3]))
    return [Episode(t_s[p][:-1], way.q[p][:-1], way.q[p][1:], targets[p][1:, :3, 3], quat[p][1:], "retarget")
            for p in way.pieces(round(LEAST_S / period_s) + 2)]


class _Arm:
    """What one process needs: the robot and the placing."""

    def __init__(self, urdf: str, base_frame: str, tool_frame: str, joint_names: tuple[str, ...], placing: Placing) -> None:
        self.kinematics = Kinematics(urdf, base_frame, tool_frame, joint_names)
        self.placing = placing


def _retarget_file(arm: _Arm, task: tuple[int, Path]) -> Retargeted:
    index, path = task
    kinematics, placing = arm.kinematics, arm.placing
    stream = read(path, placing.period_s, placing.most_s if placing.placements else np.inf)
    episodes: list[Episode] = []
    rows = unreachable = lost = breaks = 0
    for run_index, run in enumerate(stream.runs):
        rngs = [np.random.default_rng([placing.seed, index, run_index, j]) for j in range(max(1, placing.placements))]
        targets, starts = run[None], [np.zeros((0, kinematics.n))]
        if placing.placements:
            moved = [placed(kinematics, run, placing.scale, rng) for rng in rngs]
            targets, starts = np.stack([T for T, _ in moved]), [q[None] for _, q in moved]
        ways = smoothest(kinematics, targets, starts, placing.max_step_rad, rngs)
        for way, T in zip(ways, targets, strict=True):
            made = episodes_of(way, T, placing.period_s)
            episodes += made
            rows, unreachable = rows + len(T), unreachable + int((~way.reachable).sum())
            lost += int(way.reachable.sum()) - sum(len(e) + 1 for e in made)
            breaks += int((way.breaks[1:] & way.reachable[1:] & way.reachable[:-1]).sum())
    return Retargeted(str(path), episodes, rows, unreachable, lost, breaks, stream.faults)
