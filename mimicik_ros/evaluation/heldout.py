"""The model alone, without refinement: random configurations that it never saw, one step each, and its latency."""

from __future__ import annotations

import time

import numpy as np

from mimicik_ros.core.features import encode
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.policy import Policy
from mimicik_ros.evaluation import metrics

SEED = 20_261_201  # of no training run
STEP_RAD = 0.06
LATENCY_RUNS = 2_000


def heldout(policy: Policy, kinematics: Kinematics, size: int, step_rad: float = STEP_RAD, seed: int = SEED) -> dict[str, float]:
    """Open-loop figures of one policy call.

    Joints are uniform in their ranges, steps uniform in +-step_rad per joint (cut at the limits); the target is FK of their
    sum. Position error: Euclidean, mm. Rotation error: geodesic, deg. no_motion: error of not moving at all.
    """
    rng = np.random.default_rng(seed)
    q = rng.uniform(kinematics.lower, kinematics.upper, (size, kinematics.n))
    goal = np.clip(q + rng.uniform(-step_rad, step_rad, q.shape), kinematics.lower, kinematics.upper)
    T_now, T_goal = kinematics.fk_batch(q), kinematics.fk_batch(goal)
    observation = encode(q, T_now, T_goal)
    T = kinematics.fk_batch(q + policy.predict_batch(observation))
    position_m, rotation_rad = metrics.pose_errors(T, T_goal)
    still_m, _ = metrics.pose_errors(T_now, T_goal)
    position, rotation = 1e3 * position_m, np.degrees(rotation_rad)
    figures = {"samples": float(size), "step_rad": step_rad, "position_mean_mm": position.mean()}
    figures |= {f"position_p{p}_mm": np.percentile(position, p) for p in (50, 95, 99)}
    figures |= {f"within_{d}mm_percent": 100.0 * (position < d).mean() for d in metrics.SUCCESS_MM}
    figures |= {"rotation_mean_deg": rotation.mean(), "rotation_p99_deg": np.percentile(rotation, 99)}
    figures["strict_percent"] = 100.0 * metrics.strict(position_m, rotation_rad).mean()
    figures["no_motion_mean_mm"] = 1e3 * still_m.mean()
    return {k: float(v) for k, v in figures.items()}


def latency(policy: Policy, kinematics: Kinematics, runs: int = LATENCY_RUNS) -> dict[str, float]:
    """Wall time of single policy calls in ms, on the policy's provider and threads, after a warm-up."""
    rng = np.random.default_rng(SEED)
    q = rng.uniform(kinematics.lower, kinematics.upper, (64, kinematics.n))
    observations = encode(q, kinematics.fk_batch(q), kinematics.fk_batch(q + 0.01))
    taken = []
    for i in range(runs):
        start = time.perf_counter()
        policy.predict(observations[i % 64])
        taken.append(1e3 * (time.perf_counter() - start))
    return {f"latency_{p}_ms": value for p, value in metrics.p50_p99(np.array(taken[runs // 10 :])).items()}
