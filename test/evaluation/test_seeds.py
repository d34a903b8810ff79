"""The spread over seeds, against values computed by hand, and none where there are too few."""

import pytest

from mimicik_ros.evaluation.seeds import SPREAD_OF, spread_of, spreads
from mimicik_ros.evaluation.table import ALL, CLOSED, OPEN, Row


def row(policy, seed, mean, *, kind="policy", loop=CLOSED, suite=ALL):
    figures = {"position_mean_mm": mean, "strict_percent": 90.0, "spike_0.05rad_percent": 0.0}
    return Row(f"{policy}_seed{seed}", kind, policy, seed, loop, suite, "", "", figures)


def test_three_seeds_give_mean_sample_deviation_and_ratio():
    s = spread_of("mip", ALL, "position_mean_mm", [1.0, 2.0, 6.0])
    assert s.mean == pytest.approx(3.0)
    assert s.deviation == pytest.approx((14.0 / 2.0) ** 0.5)  # (4 + 1 + 9) / (n - 1)
    assert s.ratio == pytest.approx(6.0)


def test_two_seeds_give_their_values_and_no_statistics():
    s = spread_of("mip", ALL, "position_mean_mm", [1.0, 2.0])
    assert (s.n, s.mean, s.deviation, s.ratio) == (2, None, None, None)


def test_a_smallest_value_of_zero_has_no_ratio():
    s = spread_of("mip", ALL, "spike_0.05rad_percent", [0.0, 0.1, 0.2])
    assert s.ratio is None and s.mean == pytest.approx(0.1)


def test_seeds_are_gathered_by_policy_and_suite_in_closed_loop_only():
    rows = [row("mip", 0, 1.0), row("mip", 1, 2.0), row("mip", 2, 3.0), row("mip", 0, 50.0, loop=OPEN),
            row("mip", 0, 7.0, suite="singular"), row("flow", 0, 9.0), row("", None, 4.0, kind="model")]
    found = {(s.policy, s.suite): s.values for s in spreads(rows) if s.figure == SPREAD_OF[0]}
    assert found == {("mip", ALL): (1.0, 2.0, 3.0), ("mip", "singular"): (7.0,), ("flow", ALL): (9.0,)}
