"""How fast the target itself moves: what the governor need not stop, since the target will have moved on."""

from __future__ import annotations

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.types import Array, TargetMotion, TargetSample


def observe(before: TargetMotion | None, target: TargetSample, T_base_target: Array, longest_s: float) -> TargetMotion:
    """The target's motion from the last sample and this one; at rest after a gap longer than longest_s or a clock jump.

    Args:
        before: motion at the last tick; None at the start.
        target: the sample of this tick; the same sample again leaves the motion as it is.
        T_base_target: (4, 4) its pose.
        longest_s: largest time between two samples of one motion.
    """
    time_s = target.stamp_s if target.stamp_s != 0.0 else target.receipt_s
    if before is not None and time_s == before.time_s:
        return before
    elapsed = 0.0 if before is None else time_s - before.time_s
    if before is None or not 0.0 < elapsed <= longest_s:
        return TargetMotion(T_base_target, time_s, np.zeros(6))
    return TargetMotion(T_base_target, time_s, se3.difference(T_base_target, before.T_base_target) / elapsed)
