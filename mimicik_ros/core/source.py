"""Which of the target sources counts: pose, path or twist."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Choice:
    """The source that counts (None = none has been heard), those that are not silent, and when each began, steady clock."""

    selected: str | None = None
    live: frozenset[str] = frozenset()
    began_s: Mapping[str, float] = field(default_factory=dict)


def choose(before: Choice, live: frozenset[str], steady_s: float, rule: str) -> Choice:
    """The choice of this tick.

    By `newest` the source that began last counts, as long as it is live: so one that starts to send takes over, two that both
    send do not alternate, and when it falls silent the other has the say again. Where all are silent, the last one stays, and
    its silence is what the tick reports.

    Args:
        before: the last tick's choice.
        live: sources that are not silent now.
        steady_s: steady clock.
        rule: newest, or the name of the one that counts.
    """
    began = {**before.began_s, **{name: steady_s for name in live - before.live}}
    if rule != "newest":
        selected: str | None = rule
    elif live:
        selected = max(sorted(live), key=lambda name: began[name])
    else:
        selected = before.selected
    return Choice(selected, live, began)
