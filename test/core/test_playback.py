"""Chunk after chunk: the past is skipped, a new one takes over at its first stamp, and the target neither jumps nor jerks."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mimicik_ros.config import TargetConfig
from mimicik_ros.core import playback, se3
from mimicik_ros.core.chunk import Chunk
from mimicik_ros.core.playback import Output, Playback

DT, GAP = 0.05, 0.25
SEAM, ENSEMBLE = TargetConfig(), TargetConfig(chunk_blend="ensemble", ensemble_decay=np.log(2.0))


def line(begin, x, speed, poses=16, period=0.05):
    """A chunk that runs along x from x at begin."""
    times = begin + period * np.arange(poses)
    position = np.zeros((poses, 3))
    position[:, 0] = x + speed * (times - begin)
    return Chunk(times, se3.pose(np.broadcast_to(np.eye(3), (poses, 3, 3)), position))


def run(chunks, config, begin, end, dt=DT):
    """Targets at each tick; chunks is a list of (arrival, chunk). Returns times, x, seconds past the end."""
    state, last, rows = Playback(), None, []
    waiting = sorted(chunks, key=lambda item: item[0])
    for t in begin + dt * np.arange(round((end - begin) / dt)):
        while waiting and waiting[0][0] <= t + 1e-9:
            state = playback.add(state, waiting.pop(0)[1], config)
        if not state.chunks:
            continue
        state, T, over = playback.step(state, t, last, config, GAP)
        velocity = np.zeros(6) if last is None else se3.difference(T, last.T) / (t - last.time_s)
        last = Output(T, velocity, t)
        rows.append((t, T[0, 3], over))
    return np.array(rows).T


def test_the_part_that_is_already_past_is_skipped():
    _, x, _ = run([(10.2, line(10.0, 0.0, 0.1))], SEAM, 10.2, 10.4)
    assert x[0] == pytest.approx(0.02)  # 0.2 s at 0.1 m/s


def test_lookahead_reads_it_earlier_and_ends_it_earlier():
    config = dataclasses.replace(SEAM, lookahead_s=0.1)
    _, x, over = run([(10.0, line(10.0, 0.0, 0.1, poses=5))], config, 10.0, 10.3)
    assert x[:3] == pytest.approx([0.01, 0.015, 0.02])
    assert over[3:] == pytest.approx([0.05, 0.1, 0.15])  # its 0.2 s end 0.1 s from the start


def test_after_its_end_the_last_pose_stays_and_the_time_since_is_told():
    _, x, over = run([(10.0, line(10.0, 0.0, 0.1, poses=3))], SEAM, 10.0, 10.3)
    assert x[2:] == pytest.approx(0.01)
    assert over == pytest.approx([0, 0, 0, 0.05, 0.1, 0.15])


def test_a_chunk_that_continues_the_one_before_changes_nothing():
    t, x, _ = run([(10.0, line(10.0, 0.0, 0.1)), (10.4, line(10.4, 0.04, 0.1))], SEAM, 10.0, 10.8)
    assert x == pytest.approx(0.1 * (t - 10.0))


def test_a_new_chunk_takes_over_at_its_first_stamp_and_not_before():
    t, x, _ = run([(10.0, line(10.0, 0.0, 0.1)), (10.1, line(10.3, 0.5, 0.0))], SEAM, 10.0, 10.7)
    before = t < 10.3 - 1e-6
    assert x[before] == pytest.approx(0.1 * (t[before] - 10.0))
    assert x[np.flatnonzero(~before)[1]] > 0.035  # on its way to 0.5


def test_a_seam_begins_where_the_old_chunk_would_be_and_ends_in_the_new_one():
    t, x, _ = run([(10.0, line(10.0, 0.0, 0.1, 100)), (10.2, line(10.2, 0.07, -0.05, 100))], SEAM, 10.0, 12.0)
    assert x[4] == pytest.approx(0.02)
    assert x[-1] == pytest.approx(0.07 - 0.05 * (t[-1] - 10.2))


def test_a_chunk_that_comes_to_replace_a_later_one_drops_it():
    t, x, _ = run([(10.0, line(10.0, 0.0, 0.1)), (10.05, line(10.4, 9.0, 0.0)), (10.1, line(10.2, 0.02, 0.1))], SEAM, 10.0, 10.8)
    assert x == pytest.approx(0.1 * (t - 10.0))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.floats(-0.03, 0.03), st.floats(-0.2, 0.2), st.floats(0.0, 0.3)), min_size=2, max_size=6),
       st.sampled_from([SEAM, ENSEMBLE]))
def test_chunks_that_disagree_give_bounded_speed_and_acceleration(plans, config):
    """A policy at 2 Hz whose chunks jump and change speed; finer ticks, so that differences are derivatives."""
    chunks = [(10.0 + 0.5 * i, line(10.0 + 0.5 * i - late, x, speed, poses=40)) for i, (x, speed, late) in enumerate(plans)]
    _, x, _ = run(chunks, config, 10.0, 10.0 + 0.5 * len(plans), dt=0.01)
    speed = np.diff(x) / 0.01
    acceleration = np.diff(speed) / 0.01
    assert np.abs(acceleration).max() <= config.blend_linear_acceleration_m_s2 + 1e-6
    assert np.abs(speed).max() <= 0.2 + max(config.blend_linear_speed_m_s, 0.4) + 1e-6  # a plan and a seam on top


@pytest.mark.parametrize("config", [SEAM, ENSEMBLE], ids=["seam", "ensemble"])
def test_a_policy_that_sends_at_every_tick_is_followed_as_well(config):
    """Every tick a new chunk of one and the same plan, 50 mm from where the first one stood."""
    chunks = [(10.0, line(10.0, 0.05, 0.0))]
    chunks += [(10.0 + DT * i, line(10.0 + DT * i, 0.1 + 0.1 * DT * i, 0.1)) for i in range(1, 60)]
    t, x, _ = run(chunks, config, 10.0, 13.0)
    assert x[0] == 0.05
    assert np.abs(np.diff(x, 2)).max() <= 2.05 * DT * DT
    assert x[30:] == pytest.approx(0.1 + 0.1 * (t[30:] - 10.0), abs=1e-4)


def test_an_ensemble_weighs_the_oldest_most():
    """Two chunks at 0 and 0.03 m with weights 1 and 1/2 (decay ln 2): their mean lies at 0.01 m."""
    _, x, _ = run([(10.0, line(10.0, 0.0, 0.0, 100)), (10.2, line(10.2, 0.03, 0.0, 100))], ENSEMBLE, 10.0, 12.0)
    assert x[3] == 0.0
    assert x[-1] == pytest.approx(0.01)


def test_the_mean_of_two_rotations_lies_on_the_geodesic_between_them():
    a, b = np.eye(4), se3.pose(se3.rotation_exp(np.array([0.0, 0.9, 0.0])), np.zeros(3))
    state = Playback()
    for T in (a, b):
        state = playback.add(state, Chunk(np.array([10.0, 12.0]), np.stack([T, T])), ENSEMBLE)
    _, T, _ = playback.step(state, 11.0, None, ENSEMBLE, GAP)
    assert se3.rotation_log(T[:3, :3]) == pytest.approx([0.0, 0.3, 0.0], abs=1e-9)


def test_a_chunk_that_leaves_an_ensemble_leaves_no_jump():
    chunks = [(10.0, line(10.0, 0.0, 0.0, 8)), (10.2, line(10.2, 0.03, 0.0, 100))]  # the first ends at 10.35
    _, x, _ = run(chunks, ENSEMBLE, 10.0, 12.0, dt=0.005)
    assert np.abs(np.diff(x)).max() < 0.4 * 0.005 + 1e-6
    assert x[-1] == pytest.approx(0.03)


def test_an_output_that_is_too_old_is_not_continued():
    state = playback.add(Playback(), line(10.0, 0.5, 0.0), SEAM)
    old = Output(np.eye(4), np.zeros(6), 9.0)
    _, T, _ = playback.step(state, 10.0, old, SEAM, GAP)
    assert T[0, 3] == 0.5


def test_only_so_many_chunks_are_kept():
    state = Playback()
    for i in range(200):
        state = playback.add(state, line(10.0 + 0.001 * i, 0.0, 0.0), ENSEMBLE)
    assert len(state.chunks) == playback.MOST_CHUNKS
