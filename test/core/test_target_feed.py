"""One target a tick, from whichever source counts: played, integrated or as it is, and faulty by name."""

import dataclasses

import numpy as np
import pytest

from mimicik_ros import config
from mimicik_ros.core import se3
from mimicik_ros.core.status import Status
from mimicik_ros.core.target_feed import TargetFeed
from mimicik_ros.core.target_inputs import Moment, PathSample, TargetInputs, TwistSample
from mimicik_ros.core.types import TargetSample

DT, OFFSET = 0.05, 1000.0  # the ROS clock runs this much ahead of the steady clock
UNIT = np.array([0.0, 0.0, 0.0, 1.0])
TOOL = se3.pose(np.eye(3), np.array([0.3, 0.0, 0.2]))


def pose(x, t, **change):
    return dataclasses.replace(TargetSample(np.array([x, 0.0, 0.2]), UNIT, "base_link", OFFSET + t, t), **change)


def path(x, speed, t, count=10, **change):
    position = np.zeros((count, 3))
    position[:, 0], position[:, 2] = x + speed * DT * np.arange(count), 0.2
    made = PathSample(position, np.tile(UNIT, (count, 1)), np.full(count, OFFSET + t), "base_link", OFFSET + t, t, OFFSET + t)
    return dataclasses.replace(made, **change)


def twist(vx, t, **change):
    return dataclasses.replace(TwistSample(np.array([vx, 0, 0, 0, 0, 0.0]), "base_link", OFFSET + t, t), **change)


class Runner:
    """A feed at 20 Hz; `say` maps the tick's number to what was heard since the one before."""

    def __init__(self, **target):
        self.feed = TargetFeed(config.from_mapping({"target": target}))
        self.tick = 0

    def run(self, ticks, say=None, tool=TOOL, engaged=True):
        out = []
        for _ in range(ticks):
            t = DT * self.tick
            inputs = TargetInputs(**say(self.tick, t)) if say else TargetInputs()
            out.append(self.feed.next(inputs, Moment(OFFSET + t, t, tool, engaged)))
            self.tick += 1
        return out


def xs(samples):
    return np.array([sample.position_m[0] for sample in samples])


def test_a_pose_passes_unchanged():
    sample = pose(0.31, 0.0)
    assert Runner().run(1, lambda i, t: {"poses": (pose(0.1, 0.0), sample)})[0] is sample


def test_nothing_heard_is_no_target():
    assert Runner().run(2) == [None, None]


def test_a_path_is_read_at_each_tick_and_its_targets_are_of_that_tick():
    out = Runner().run(5, lambda i, t: {"path": path(0.3, 0.2, 0.0)} if i == 0 else {})
    assert xs(out) == pytest.approx(0.3 + 0.2 * DT * np.arange(5))
    assert [s.stamp_s for s in out] == pytest.approx([OFFSET + DT * i for i in range(5)])
    assert all(s.frame_id == "base_link" and s.fault is None for s in out)


def test_a_path_that_has_ended_stands_for_the_timeout_and_is_stale_after_it():
    out = Runner().run(14, lambda i, t: {"path": path(0.3, 0.2, 0.0, count=4)} if i == 0 else {})  # ends at tick 3
    assert xs(out[3:8]) == pytest.approx(0.33)
    assert all(s.fault is None for s in out[:8])
    assert [s.fault for s in out[9:]] == [Status.STALE_TARGET] * 5
    assert out[9].detail == "the path ended 0.300 s ago"


def test_the_newest_path_counts_also_when_it_is_bad():
    bad = path(0.3, 0.2, 0.1, frame_id="camera")
    out = Runner().run(4, lambda i, t: {"path": {0: path(0.3, 0.2, 0.0), 2: bad}[i]} if i in (0, 2) else {})
    assert [s.fault for s in out] == [None, None, Status.BAD_FRAME, Status.BAD_FRAME]


def test_a_path_takes_over_from_a_pose_by_a_seam():
    r = Runner()
    r.run(4, lambda i, t: {"poses": (pose(0.30, t),)})
    out = xs(r.run(30, lambda i, t: {"path": path(0.35, 0.0, t, count=60)} if i == 4 else {}))
    assert out[0] == pytest.approx(0.30)
    assert np.abs(np.diff(out)).max() <= 0.4 * DT + 1e-9
    assert out[-1] == pytest.approx(0.35)


def test_an_operator_takes_over_and_the_policy_goes_on_when_he_lets_go():
    r = Runner()

    def both(i, t):
        said = {"path": path(0.30, 0.0, t, count=20)} if i % 10 == 0 else {}
        return {**said, "poses": (pose(0.34, t),)} if 10 <= i < 20 else said

    sources, out = [], []
    for _ in range(45):
        out += r.run(1, both)
        sources.append(r.feed.source)
    assert sources[:10] == ["path"] * 10
    assert sources[10:20] == ["pose"] * 10
    assert sources[-1] == "path"
    x = xs(out)
    assert x[10:20] == pytest.approx(0.34)
    back = x[sources.index("path", 20):]
    assert np.abs(np.diff(back)).max() <= 0.4 * DT + 1e-9
    assert back[-1] == pytest.approx(0.30)


def test_a_twist_moves_from_the_tool_on():
    out = Runner().run(5, lambda i, t: {"twist": twist(0.1, t)})
    assert xs(out) == pytest.approx(0.3 + 0.005 * np.arange(5))


def test_a_twist_stays_at_the_tool_until_the_arm_follows():
    r = Runner()
    moved = se3.pose(np.eye(3), np.array([0.4, 0.0, 0.2]))
    assert xs(r.run(3, lambda i, t: {"twist": twist(0.1, t)}, engaged=False)) == pytest.approx(0.3)
    assert xs(r.run(2, lambda i, t: {"twist": twist(0.1, t)}, tool=moved, engaged=False)) == pytest.approx(0.4)


def test_a_silent_twist_slows_down_stands_and_is_then_stale():
    # Heard last at 0; full speed up to 0.15 s, then evenly down to 0 at 0.45 s.
    out = Runner().run(14, lambda i, t: {"twist": twist(0.1, t)} if i == 0 else {})
    assert all(s.fault is None for s in out[:9])
    steps = np.diff(xs(out[:9]))
    assert steps[:3] == pytest.approx(0.005)
    assert steps[3:] == pytest.approx(0.005 * np.array([5, 4, 3, 2, 1]) / 6, abs=1e-9)
    assert [s.fault for s in out[10:]] == [Status.STALE_TARGET] * 4
    assert out[10].detail == "twist silent for 0.500 s"


def test_a_twist_continues_from_the_target_of_the_source_before():
    r = Runner()
    r.run(4, lambda i, t: {"poses": (pose(0.32, t),)})
    assert xs(r.run(1, lambda i, t: {"twist": twist(0.1, t)})) == pytest.approx(0.325)


def test_without_joints_a_twist_is_no_target():
    assert Runner().run(1, lambda i, t: {"twist": twist(0.1, t)}, tool=None) == [None]


def test_a_fixed_source_ignores_the_others():
    r = Runner(source="pose")
    out = r.run(3, lambda i, t: {"poses": (pose(0.31, t),), "path": path(0.5, 0.0, t), "twist": twist(1.0, t)})
    assert xs(out) == pytest.approx(0.31)
    assert r.feed.source == "pose"


def test_the_same_state_and_inputs_give_the_same_target():
    r = Runner()
    r.run(3, lambda i, t: {"path": path(0.30, 0.1, t)})
    inputs, moment = TargetInputs(path=path(0.36, 0.1, 0.15)), Moment(OFFSET + 0.15, 0.15, TOOL, True)
    first, second = r.feed.step(r.feed.state, inputs, moment)[1], r.feed.step(r.feed.state, inputs, moment)[1]
    assert np.array_equal(first.position_m, second.position_m)
    assert np.array_equal(first.quat_xyzw, second.quat_xyzw)


def test_an_exception_is_a_fault_of_the_target_and_leaves_the_state():
    r = Runner()
    r.run(1, lambda i, t: {"poses": (pose(0.3, t),)})
    before = r.feed.state
    sample = r.run(1, lambda i, t: {"path": "no path at all"})[0]
    assert sample.fault is Status.INTERNAL_ERROR
    assert "AttributeError" in sample.detail
    assert r.feed.state is before


def headset(i, t):
    """72 Hz poses that came since the last tick, of a hand that moves at 0.2 m/s along x."""
    first, last = int(np.floor((t - DT) * 72)) + 1, int(np.floor(t * 72))
    return {"poses": tuple(pose(0.3 + 0.2 * k / 72, k / 72) for k in range(max(first, 0), last + 1))}


def test_the_filter_takes_every_pose_between_two_ticks_and_tells_its_lag():
    r = Runner(filter="second_order", filter_cutoff_hz=2.0)
    out = r.run(80, headset)
    assert r.feed.filter_lag_s == pytest.approx(1 / (2 * np.pi))
    newest = headset(79, 79 * DT)["poses"][-1]
    assert out[-1].stamp_s == newest.stamp_s
    assert out[-1].position_m[0] == pytest.approx(newest.position_m[0] - 0.2 / (2 * np.pi), abs=1e-6)


def test_a_bad_pose_passes_the_filter_to_be_named_and_the_next_begins_anew():
    r = Runner(filter="one_euro")
    r.run(20, lambda i, t: {"poses": (pose(0.3 + 0.01 * i, t),)})
    bad = pose(np.nan, 1.0)
    assert r.run(1, lambda i, t: {"poses": (bad,)})[0] is bad
    after = r.run(1, lambda i, t: {"poses": (pose(0.9, t),)})[0]
    assert after.position_m[0] == 0.9


def test_without_a_filter_there_is_no_lag():
    r = Runner()
    r.run(20, headset)
    assert r.feed.filter_lag_s == 0.0
