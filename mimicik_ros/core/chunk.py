"""A policy's action chunk: poses at times, read in between on the straight way in SE(3), and what makes one unusable."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mimicik_ros.config import FreshnessConfig, TargetConfig
from mimicik_ros.core import se3
from mimicik_ros.core.freshness import pose_fault
from mimicik_ros.core.status import Status
from mimicik_ros.core.target_inputs import PathSample
from mimicik_ros.core.types import Array


@dataclass(frozen=True)
class Chunk:
    """k poses (k, 4, 4) in the base frame at increasing times (k,) s on the ROS clock. number tells chunks apart."""

    times_s: Array
    poses: Array
    number: int = 0

    @property
    def begin_s(self) -> float:
        """Time of the first pose."""
        return float(self.times_s[0])

    @property
    def end_s(self) -> float:
        """Time of the last pose."""
        return float(self.times_s[-1])

    def at(self, time_s: float) -> tuple[Array, Array]:
        """Pose (4, 4) and velocity (6,) m/s, rad/s in the base frame; before and after the chunk its ends, at rest.

        Between two poses the position runs on the chord and the rotation on the geodesic, both evenly.
        """
        if not self.begin_s <= time_s <= self.end_s or len(self.times_s) == 1:
            return self.poses[0 if time_s < self.begin_s else -1], np.zeros(6)
        i = int(np.searchsorted(self.times_s, time_s, side="right")) - 1
        return self._on(min(i, len(self.times_s) - 2), time_s)

    def beyond(self, time_s: float) -> tuple[Array, Array]:
        """As `at`, after the end as if it went on as between its last two poses."""
        return self._on(len(self.times_s) - 2, time_s) if time_s > self.end_s and len(self.times_s) > 1 else self.at(time_s)

    @cached_property
    def _slopes(self) -> Array:
        """Velocities (k - 1, 6) between the poses."""
        slopes: Array = se3.difference(self.poses[1:], self.poses[:-1]) / np.diff(self.times_s)[:, None]
        return slopes

    def _on(self, i: int, time_s: float) -> tuple[Array, Array]:
        velocity = self._slopes[i]
        return se3.shifted(self.poses[i], velocity * (time_s - self.times_s[i])), velocity


def read(path: PathSample, now_s: float, base_frame: str, target: TargetConfig,
         freshness: FreshnessConfig) -> tuple[Chunk | None, Status | None, str]:
    """The chunk of a path, or why there is none and the details.

    Times are the poses' own stamps. Where these are all equal (most publishers copy the header's), pose i lies
    i * target.chunk_period_s after the path's stamp. With target.chunk_start "receipt" all times are moved by as much as makes
    the chunk begin at its receipt.

    Args:
        path: as received.
        now_s: ROS clock.
        base_frame: in which the path has to be.
        target, freshness: settings.
    """
    if path.fault is not None:
        return None, path.fault, path.detail
    if path.frame_id != base_frame and not (path.frame_id == "" and freshness.assume_base_frame):
        return None, Status.BAD_FRAME, f"path in '{path.frame_id}', expected '{base_frame}'"
    if not len(path.position_m):
        return None, Status.BAD_PATH, "it has no poses"
    if not (np.isfinite(path.pose_stamps_s).all() and np.isfinite(path.stamp_s)):
        return None, Status.NON_FINITE, "stamps of the path"
    fault = pose_fault(path.position_m, path.quat_xyzw)
    if fault is not None:
        return None, fault[0], f"path: {fault[1]}"
    times, status, detail = _times(path, now_s, target, freshness)
    if times is None:
        return None, status, detail
    return Chunk(times, se3.pose_from_quat(path.position_m, path.quat_xyzw)), None, ""


def _times(path: PathSample, now_s: float, target: TargetConfig,
           freshness: FreshnessConfig) -> tuple[Array | None, Status | None, str]:
    times: Array = path.pose_stamps_s
    if (times == times[0]).all():
        start = path.stamp_s or float(times[0])
        by_receipt = start == 0.0 and (freshness.accept_zero_stamp or target.chunk_start == "receipt")
        if start == 0.0 and not by_receipt:
            return None, Status.NO_STAMP, "path with stamp 0"
        times = np.add(path.receipt_ros_s if by_receipt else start, target.chunk_period_s * np.arange(len(times)))
    steps = np.diff(times)
    if (steps <= 0.0).any():
        return None, Status.BAD_PATH, f"the stamp of pose {int(np.argmax(steps <= 0.0)) + 1} is not after the one before it"
    if target.chunk_start == "receipt":
        return times + (path.receipt_ros_s - times[0]), None, ""
    if path.stamp_s > now_s + freshness.future_tolerance_s:
        return None, Status.STAMP_IN_FUTURE, f"path {path.stamp_s - now_s:.3f} s ahead"
    if times[0] > now_s + target.chunk_max_lead_s:
        return None, Status.STAMP_IN_FUTURE, f"the path begins {times[0] - now_s:.3f} s from now"
    return times, None, ""
