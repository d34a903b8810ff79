"""Joint states by name: what one message changes in what is known of our joints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mimicik_ros.core.types import Array, JointSnapshot


def merge(snapshot: JointSnapshot, joint_names: tuple[str, ...], names: Sequence[str], positions: Array, stamp_s: float,
          receipt_s: float) -> tuple[JointSnapshot, str | None]:
    """A snapshot with one message merged into it.

    A message may name any joints in any order; those of ours are updated, each with its own stamp and receipt, and all others
    are left as they were. Values are kept as received: a NaN is judged by the tick.

    Args:
        snapshot: what is known so far, in the order of joint_names.
        joint_names: the n joints of ours.
        names, positions: of the message, (k,) rad.
        stamp_s: header stamp on the ROS clock.
        receipt_s: receipt on the steady clock.

    Returns:
        The new snapshot and None, or the old snapshot and why the message was rejected.
    """
    if not len(names):
        return snapshot, "it names no joint"
    if len(names) != len(positions):
        return snapshot, f"{len(names)} names but {len(positions)} positions"
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if list(names).count(name) > 1})
        return snapshot, f"it names {', '.join(twice)} more than once"
    places = {name: i for i, name in enumerate(joint_names)}
    ours = [(places[name], value) for name, value in zip(names, positions, strict=True) if name in places]
    if not ours:
        return snapshot, None
    q, stamps, receipts = snapshot.q.copy(), snapshot.stamp_s.copy(), snapshot.receipt_s.copy()
    rows = [i for i, _ in ours]
    q[rows] = np.array([value for _, value in ours], dtype=float)
    stamps[rows], receipts[rows] = stamp_s, receipt_s
    return JointSnapshot(q, stamps, receipts), None
