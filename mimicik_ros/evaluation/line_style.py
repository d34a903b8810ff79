"""How the lines of solvers and policies look in every picture of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mimicik_ros.evaluation.plots import COMMAND, TARGET

COLOURS = ("#3a9a5c", "#7d5ba6", "#d16ba5", "#8c6d46", "#2aa7a1", "#b8a200", "#444b54", "#e15759", "#76b7e8", "#a6761d")
DASHES = ("-", "--", "-.", ":")


def looks(labels: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Colour, dash and weight of each line: the whole tick and the shipped model stand out."""
    fixed = {"servo": dict(color=COMMAND, linewidth=2.4, zorder=4), "model": dict(color=TARGET, linewidth=2.4, zorder=3)}
    others = [label for label in labels if label not in fixed]
    for label in labels:
        i = others.index(label) if label in others else 0
        yield label, fixed.get(label) or dict(color=COLOURS[i % len(COLOURS)], linewidth=1.4, zorder=5,
                                              linestyle=DASHES[1 + i % 3] if i < len(COLOURS) else DASHES[0])


def legend(figure: Any, axes: Any) -> None:
    """One legend below the figure, of the lines of one of its axes."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(8, len(labels)))
