"""A chunk as a message, stamp by stamp, and what is no chunk."""

import numpy as np
import pytest

from mimicik_ros.ros.chunks import ChunkError, path_message

NOW_NS, PERIOD_NS = 1_700_000_000_980_000_000, 50_000_000
ROWS = np.tile([0.3, 0.1, 0.2, 0, 0, 0, 2.0], (3, 1))


def make(rows, start_ns=NOW_NS, now_ns=NOW_NS):
    return path_message(np.asarray(rows, float), "base_link", NOW_NS - 30_000_000, start_ns, PERIOD_NS, now_ns)


def test_every_pose_has_its_exact_stamp_frame_and_a_unit_quaternion():
    path = make(ROWS)
    assert [(p.header.stamp.sec, p.header.stamp.nanosec) for p in path.poses] == [
        (1_700_000_000, 980_000_000), (1_700_000_001, 30_000_000), (1_700_000_001, 80_000_000)]
    assert (path.header.stamp.sec, path.header.stamp.nanosec) == (1_700_000_000, 950_000_000)  # of the observation
    assert {path.header.frame_id, *(p.header.frame_id for p in path.poses)} == {"base_link"}
    pose = path.poses[1].pose
    assert (pose.position.x, pose.position.y, pose.position.z) == (0.3, 0.1, 0.2)
    assert (pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w) == (0, 0, 0, 1)


@pytest.mark.parametrize("shape", [(7,), (3, 6), (3, 8), (0, 7), (1, 3, 7)])
def test_another_shape_is_refused_by_its_name(shape):
    with pytest.raises(ChunkError, match=r"\(n, 7\)"):
        make(np.ones(shape))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("column", range(7))
def test_a_value_that_is_not_finite_is_refused_with_its_pose(bad, column):
    rows = ROWS.copy()
    rows[2, column] = bad
    with pytest.raises(ChunkError, match="pose 2 of 3 has a value that is not finite"):
        make(rows)


def test_a_quaternion_without_direction_is_refused_with_its_pose():
    rows = ROWS.copy()
    rows[1, 3:] = 0.0
    with pytest.raises(ChunkError, match="pose 1 of 3 has a quaternion of norm 0"):
        make(rows)


def test_a_chunk_is_good_until_its_last_pose_is_past():
    assert len(make(ROWS, now_ns=NOW_NS + 2 * PERIOD_NS).poses) == 3
    with pytest.raises(ChunkError, match=r"ended 0\.40 s before it was there"):
        make(ROWS, now_ns=NOW_NS + 10 * PERIOD_NS)
