"""A dataset split by episode into several files: seeded, streamed, never within an episode."""

from __future__ import annotations

import dataclasses
import re
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from mimicik_ros.core.errors import ConfigError, DataError
from mimicik_ros.training.dataset.reader import Dataset
from mimicik_ros.training.dataset.writer import DatasetWriter


def fractions_of(text: str) -> dict[str, float]:
    """Parts from "train=0.8,val=0.1,test=0.1". Raises ConfigError where they are no fractions that add up to 1."""
    parts: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        if not re.fullmatch(r"[\w-]+", name) or name in parts or not re.fullmatch(r"[0-9.eE+-]+", value):
            raise ConfigError(f"--fractions: '{part}' is no NAME=FRACTION with a name of its own")
        try:
            parts[name] = float(value)
        except ValueError as error:
            raise ConfigError(f"--fractions: '{value}' is no number") from error
    if min(parts.values()) <= 0.0 or abs(sum(parts.values()) - 1.0) > 1e-6:
        raise ConfigError(f"--fractions: must be positive and add up to 1, got {sum(parts.values()):g}")
    return parts


def split(data: Dataset, folder: Path, fractions: dict[str, float], seed: int) -> dict[str, tuple[Path, int, int]]:
    """Write folder/NAME.parquet for each part; an episode keeps its number in the whole.

    Args:
        data: what is split.
        folder: of the files.
        fractions: name -> share of the episodes, adding up to 1.
        seed: of the assignment.

    Returns:
        Name -> (file, episodes, rows).

    Raises:
        DataError: too few episodes for every part to have one.
    """
    # Only the numbers are read in this pass.
    total = sum(1 + int(np.count_nonzero(np.diff(numbers))) for group in data.groups
                if len(numbers := data.read(group, ["episode"])["episode"].to_numpy()))
    counts = apportioned(total, list(fractions.values()))
    if min(counts) < 1:
        raise DataError(f"{data.files[0]}: {total} episodes are too few for {len(fractions)} parts; ask for fewer")
    part_of = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    made = {"verb": "split", "from": [str(f) for f in data.files], "seed": seed, "fractions": fractions,
            "parents": [h.made for h in data.headers]}
    writers = [DatasetWriter(folder / f"{name}.parquet", dataclasses.replace(data.header, made={**made, "part": name}))
               for name in fractions]
    written = {w.path.resolve() for w in writers} & {f.resolve() for f in data.files}
    if written:
        raise DataError(f"{next(iter(written))}: would be written over while it is read; give another --out")
    _write(data, writers, part_of)
    return {name: (w.path, w.episodes, w.rows) for name, w in zip(fractions, writers, strict=True)}


def apportioned(total: int, shares: list[float]) -> list[int]:
    """Whole counts that add up to total, by largest remainder."""
    exact = np.array(shares) * total
    counts = np.floor(exact + 1e-9).astype(int)
    for i in np.argsort(counts - exact, kind="stable")[: total - counts.sum()]:
        counts[i] += 1
    return [int(c) for c in counts]


def _write(data: Dataset, writers: list[DatasetWriter], part_of: np.ndarray) -> None:
    """All files are open at once, so that the data is read only once."""
    with ExitStack() as stack:
        for writer in writers:
            stack.enter_context(writer)
        for number, episode in enumerate(data.episodes()):
            writers[part_of[number]].write(episode, number)
