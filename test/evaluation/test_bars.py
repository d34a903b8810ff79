"""The bars: met, missed or not judged by what was measured, never by what was not."""

import numpy as np
import pytest

from mimicik_ros.evaluation.bars import BARS, judge


def by_name(bars):
    return {b.name: b for b in bars}


@pytest.fixture
def flawless(episode):
    still = [0.05] * 40
    trials = [("teleop", "g1_060_left_000"), ("singular", "wrist_line_000"), ("singular", "home_zero_line_003"),
              ("singular", "home_folded_line_004"), ("ood", "tremor_000"), ("ood", "jumps_002")]
    return [episode(still, suite=suite, name=name, latency_ms=0.2) for suite, name in trials]


def test_a_flawless_model_meets_every_bar(flawless):
    judged = judge(flawless, 0.05)
    assert len(judged) == len(BARS) and all(b.met for b in judged)


def test_each_failure_misses_its_own_bar(flawless, episode):
    far, q = [200.0] * 40, np.zeros((40, 6))
    q[20:] = 0.3
    judged = by_name(judge([*flawless, episode(far, q=q, suite="singular", name="elbow_line_001")], 0.05))
    missed = {name for name, b in judged.items() if b.met is False}
    assert missed == {f"singular: {f}" for f in ("divergences", "position_mean_mm", "strict_percent", "spike_0.05rad_percent",
                                                 "max_velocity_rad_s")}
    assert judged["singular: max_velocity_rad_s"].value == pytest.approx(6.0)


def test_a_home_that_is_not_left_is_missed(flawless, episode):
    judged = by_name(judge([*flawless, episode([50.0] * 40, suite="singular", name="home_zero_line_008")], 0.05))
    assert judged["home_zero is left: final error below 10 mm, share of trials"].value == pytest.approx(50.0)
    assert judged["home_zero is left: final error below 10 mm, share of trials"].met is False


def test_a_bar_holds_at_its_limit_and_not_beyond(flawless):
    def inference(ms):
        slow = [e.__class__(e.case, e.done.__class__(e.done.q, e.done.latency_ms, e.done.status, np.full(40, ms), 0.0),
                            e.position_m, e.rotation_rad, None) for e in flawless]
        return by_name(judge(slow, 0.05))["all ticks: solver_p50_ms"].met

    assert inference(0.3) is True
    assert inference(0.301) is False


def test_our_own_motion_does_not_stand_for_recorded_motion(flawless, episode):
    own = [episode([0.05] * 40, suite="teleop", name="synthetic_000"), *flawless[1:]]
    teleop = [b for b in judge(own, 0.05) if b.name.startswith("recorded")]
    assert len(teleop) == 4
    assert all(b.met is None and b.value is None and "--data" in b.note and b.verdict == "not judged" for b in teleop)
