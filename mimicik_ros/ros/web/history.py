"""The last seconds of what the plots show: residual of the command, and joint velocities as a share of their limits."""

from __future__ import annotations

import numpy as np

from mimicik_ros.core.types import Array, JointSnapshot, Residual


class History:
    """Rolling columns, one row a sample.

    Args:
        velocity_limits_rad_s: (n,).
        rows: kept at most.
    """

    def __init__(self, velocity_limits_rad_s: Array, rows: int = 300) -> None:
        self._limits, self._rows = velocity_limits_rad_s, rows
        self._last: JointSnapshot | None = None
        n = len(velocity_limits_rad_s)
        self._velocity = np.zeros(n)
        self._table = np.zeros((0, 3 + n))

    def add(self, now_s: float, joints: JointSnapshot, residual: Residual | None) -> None:
        """Take one sample at now_s; NaN stands for what is unknown.

        A velocity is the difference of two measured positions over that of their stamps: drivers often give none of their own.
        """
        self._velocity = self._velocity_of(joints)
        shown = (np.nan, np.nan) if residual is None else (1e3 * residual.position_m, np.degrees(residual.rotation_rad))
        row = np.concatenate([[now_s], shown, 100.0 * self._velocity / self._limits])
        self._table = np.vstack([self._table, row])[-self._rows:]

    def _velocity_of(self, joints: JointSnapshot) -> Array:
        last, self._last = self._last, joints
        if last is None:
            return np.full(len(self._limits), np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(joints.stamp_s > last.stamp_s, (joints.q - last.q) / (joints.stamp_s - last.stamp_s), np.nan)

    @property
    def age_s(self) -> Array:
        """(k,) time of each row relative to the newest, <= 0."""
        return self._table[:, 0] - self._table[-1, 0] if len(self._table) else np.zeros(0)

    @property
    def residual_mm_deg(self) -> tuple[Array, Array]:
        """(k,) position residual in mm and (k,) rotation residual in degrees."""
        return self._table[:, 1].copy(), self._table[:, 2].copy()

    @property
    def velocity_percent(self) -> Array:
        """(k, n) joint velocities in percent of their limits."""
        return self._table[:, 3:].copy()
