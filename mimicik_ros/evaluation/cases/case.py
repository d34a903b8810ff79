"""One closed-loop trial: a stream of targets, the joints to start from, and what is within reach."""

from __future__ import annotations

from dataclasses import dataclass

from mimicik_ros.core.types import Array, Flags
from mimicik_ros.evaluation.streams import Stream


@dataclass(frozen=True)
class Case:
    """A trial of one suite.

    Attributes:
        suite, name: where it belongs and what it is.
        stream: k targets in the base frame, one a tick.
        q_init: (n,) rad, joints at rest before the first target.
        reference: (k, n) rad, a joint path that follows the stream as far as it can.
        reachable: (k,) bool, rows that the reference path meets.
    """

    suite: str
    name: str
    stream: Stream
    q_init: Array
    reference: Array
    reachable: Flags
