"""The arm behind a stand-in driver: speed cap, first-order lag, steady offset, and the last set-point for ever."""

from __future__ import annotations

import numpy as np

from mimicik_ros.core.types import Array

DEFAULT_SPEED_CAP_RAD_S = 0.3  # of the vendor's example, for a command without speeds
INITIAL_SPEED_CAP_RAD_S = 0.5  # of the vendor's example, before its first command


class DriverModel:
    """A joint-space arm of n joints that nobody watches over.

    The set-point runs to the command at the speed cap, the joints follow it as q' = (setpoint - q) / lag_s, and the
    encoders read q + steady_offset_rad.

    Args:
        home: (n,) rad at the start.
        lag_s: time constant; 0 = the joints are the set-point.
        steady_offset_rad: constant error of the joints against the set-point.
    """

    def __init__(self, home: Array, lag_s: float = 0.0, steady_offset_rad: float = 0.0) -> None:
        self._setpoint = np.array(home, dtype=float)
        self._command = self._setpoint.copy()
        self._cap = np.full(len(self._setpoint), INITIAL_SPEED_CAP_RAD_S)
        self._q = self._setpoint.copy()
        self._lag_s = lag_s
        # The arm stands where its encoders say at the start, so that the first command meets no jump.
        self._offset = steady_offset_rad
        self._moved = False

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self._q)

    @property
    def q_measured(self) -> Array:
        """Joint positions (n,) rad as the encoders read them."""
        return self._q + (self._offset if self._moved else 0.0)

    @property
    def setpoint(self) -> Array:
        """Set-point (n,) rad that the joints follow."""
        return self._setpoint.copy()

    def command(self, q: Array, speed_cap_rad_s: Array | None = None) -> str | None:
        """Take a command (n,) rad with its speed caps (n,) rad/s; None = 0.3, infinite = the set-point jumps.

        Returns:
            None, or why the command was rejected (the last one stays). The vendor's example does not look; a stand-in that
            let NaN through would hide it.
        """
        if len(q) != self.n:
            return f"expected {self.n} positions, got {len(q)}"
        cap = np.full(self.n, DEFAULT_SPEED_CAP_RAD_S) if speed_cap_rad_s is None else np.abs(speed_cap_rad_s)
        if not np.all(np.isfinite(q)) or np.any(np.isnan(cap)):
            return "a value is not finite"
        self._command, self._cap, self._moved = np.array(q, dtype=float), cap, True
        return None

    def step(self, dt_s: float) -> Array:
        """Advance by dt_s (exact for the lag with a constant set-point). Returns q_measured (n,) rad."""
        reach = self._cap * dt_s
        self._setpoint = self._setpoint + np.clip(self._command - self._setpoint, -reach, reach)
        blend = 1.0 if self._lag_s <= 0.0 else 1.0 - np.exp(-dt_s / self._lag_s)
        self._q = self._q + blend * (self._setpoint - self._q)
        return self.q_measured
