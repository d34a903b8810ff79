"""Smooth joint motion of an arm that lags behind its commands."""

import numpy as np

HOME = np.array([0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708])
PERIOD_S = 0.05


def motion(rows, step_s=PERIOD_S, seed=0, lag_s=0.1):
    """Time (k,), measured joints and commands (k, 6): sines around the good home; the arm is lag_s behind."""
    rng = np.random.default_rng(seed)
    rate, phase = rng.uniform(0.5, 1.5, 6), rng.uniform(0.0, 6.0, 6)
    t = step_s * np.arange(rows)

    def at(time):
        return HOME + 0.3 * np.sin(np.outer(time, rate) + phase)

    return t, at(t - lag_s), at(t)
