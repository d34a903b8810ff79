"""How punctual the ticks are: lateness of each command and missed deadlines, counted on the steady clock."""

from __future__ import annotations

import math
from collections import deque

import numpy as np


class Pacing:
    """Due times lie on the grid first_due_s + k * period_s; a command is judged when it has been published.

    Args:
        first_due_s: steady time of the first tick.
        period_s: tick period.
        deadline_s: a command later than this after its due time is a missed deadline; so is a tick left out.
    """

    def __init__(self, first_due_s: float, period_s: float, deadline_s: float) -> None:
        self._first, self._period = first_due_s, period_s
        self._next = 0
        self.deadline_s = deadline_s
        self.ticks = 0
        self.missed = 0
        self.skipped = 0
        self._late: deque[float] = deque(maxlen=max(1, round(10.0 / period_s)))
        self._starts: deque[float] = deque(maxlen=max(2, round(1.0 / period_s) + 1))

    def start(self, steady_s: float) -> float:
        """A tick starts at steady_s. Returns its due time: the earliest due time not yet served."""
        slot = max(self._next, math.floor((steady_s - self._first) / self._period + 1e-3))
        due = self._first + self._next * self._period
        left_out = slot - self._next
        self.skipped += left_out
        self.missed += left_out
        self._next = slot + 1
        self._starts.append(steady_s)
        return due

    def published(self, due_s: float, steady_s: float) -> float:
        """The command due at due_s left at steady_s. Returns the lateness in seconds, never negative."""
        lateness = max(0.0, steady_s - due_s)
        self.ticks += 1
        if steady_s - self._newest_due() > self.deadline_s:
            self.missed += 1
        self._late.append(lateness)
        return lateness

    def rate_hz(self) -> float:
        """Measured tick rate over about the last second, 0 before the second tick."""
        if len(self._starts) < 2:
            return 0.0
        return (len(self._starts) - 1) / max(self._starts[-1] - self._starts[0], 1e-9)

    def lateness_s(self) -> tuple[float, float]:
        """Median and largest lateness of about the last ten seconds."""
        if not self._late:
            return 0.0, 0.0
        return float(np.median(self._late)), float(np.max(self._late))

    def _newest_due(self) -> float:
        return self._first + (self._next - 1) * self._period
