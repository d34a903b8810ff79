"""Which source counts: the one that began last among those that are not silent, or the one that was fixed."""

import pytest

from mimicik_ros.core.source import Choice, choose


def run(*ticks, rule="newest"):
    """Selected source after each tick; a tick is the set of live sources as letters p(ose), c(hunks: path), t(wist)."""
    names = {"p": "pose", "c": "path", "t": "twist"}
    choice, out = Choice(), []
    for i, tick in enumerate(ticks):
        choice = choose(choice, frozenset(names[letter] for letter in tick), 1.0 + 0.05 * i, rule)
        out.append(choice.selected)
    return out


def test_nothing_heard_is_nothing_selected():
    assert run("", "") == [None, None]


def test_who_begins_takes_over_and_who_goes_on_does_not_take_it_back():
    assert run("c", "c", "cp", "cp", "cp") == ["path", "path", "pose", "pose", "pose"]


def test_who_falls_silent_gives_way_to_the_one_that_still_speaks():
    assert run("c", "cp", "cp", "c", "c") == ["path", "pose", "pose", "path", "path"]


def test_who_comes_back_after_silence_has_begun_anew():
    assert run("p", "pt", "p", "pt") == ["pose", "twist", "pose", "twist"]


def test_when_all_are_silent_the_last_one_stays():
    assert run("p", "pt", "t", "", "") == ["pose", "twist", "twist", "twist", "twist"]


@pytest.mark.parametrize("rule", ["pose", "path", "twist"])
def test_a_fixed_source_counts_whoever_speaks(rule):
    assert run("", "pct", "c", rule=rule) == [rule] * 3
