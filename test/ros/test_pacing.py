"""Lateness and missed deadlines by hand: due times 10.0, 10.1, 10.2, ...; deadline 0.05 s."""

import pytest

from mimicik_ros.ros.pacing import Pacing


def pacing():
    return Pacing(first_due_s=10.0, period_s=0.1, deadline_s=0.05)


def test_a_punctual_tick_has_the_lateness_of_its_command():
    p = pacing()
    due = p.start(10.001)
    assert due == pytest.approx(10.0)
    assert p.published(due, 10.004) == pytest.approx(0.004)
    assert (p.ticks, p.missed, p.skipped) == (1, 0, 0)


def test_a_command_after_the_deadline_is_missed():
    p = pacing()
    assert p.published(p.start(10.0), 10.06) == pytest.approx(0.06)
    assert (p.missed, p.skipped) == (1, 0)


def test_ticks_left_out_are_missed_and_the_next_one_is_late_against_the_first_of_them():
    p = pacing()
    p.published(p.start(10.0), 10.001)
    due = p.start(10.31)  # 10.1 and 10.2 never ran
    assert due == pytest.approx(10.1)
    assert p.published(due, 10.311) == pytest.approx(0.211)
    assert (p.ticks, p.missed, p.skipped) == (2, 2, 2)
    assert p.start(10.4) == pytest.approx(10.4)


def test_a_timer_that_fires_a_little_early_is_the_tick_that_was_meant():
    p = pacing()
    p.published(p.start(10.0), 10.0)
    assert p.start(10.09995) == pytest.approx(10.1)
    assert p.skipped == 0


def test_rate_and_lateness_over_the_window():
    p = pacing()
    for k in range(6):
        p.published(p.start(10.0 + 0.1 * k), 10.0 + 0.1 * k + 0.001 * k)
    assert p.rate_hz() == pytest.approx(10.0)
    assert p.lateness_s() == pytest.approx((0.0025, 0.005))
