"""Human streams become joint steps that follow them."""

import numpy as np
import pytest

from mimicik_ros.core.errors import StreamError
from mimicik_ros.training.retarget import follow, retarget

HEADER = "t,x,y,z,qx,qy,qz,qw\n"


def write_circle(path, radius_m=0.03, seconds=6.0):
    t = np.arange(0.0, seconds, 1 / 30)
    rows = [f"{s:.4f},{radius_m * np.cos(s):.6f},{radius_m * np.sin(s):.6f},0,0,0,{np.sin(s / 20):.6f},{np.cos(s / 20):.6f}"
            for s in t]
    path.write_text(HEADER + "\n".join(rows) + "\n")


def test_every_step_stays_within_the_limits_and_the_largest_step(kinematics, tmp_path):
    write_circle(tmp_path / "circle.csv")
    q, delta_q = retarget(kinematics, tmp_path, 0.05, 0.1, seed=0)
    assert len(q) > 50
    assert np.abs(delta_q).max() <= 0.1
    goal = q + delta_q
    assert (goal >= kinematics.lower).all() and (goal <= kinematics.upper).all()


def test_the_tool_moves_as_far_per_period_as_the_scaled_hand(kinematics, tmp_path):
    write_circle(tmp_path / "circle.csv", radius_m=0.03)
    q, delta_q = retarget(kinematics, tmp_path, 0.05, 0.1, seed=0)
    moved = np.linalg.norm(kinematics.fk_batch(q + delta_q)[:, :3, 3] - kinematics.fk_batch(q)[:, :3, 3], axis=1)
    hand = 0.03 * 0.05  # radius x 1 rad/s x period
    assert 0.45 * hand < np.median(moved) < 1.05 * hand


def test_following_reaches_a_near_target_exactly(kinematics):
    q = np.array([[0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708]])
    goal = q + 0.02
    reached, ok = follow(kinematics, q, kinematics.fk_batch(goal))
    assert ok.all()
    np.testing.assert_allclose(kinematics.fk_batch(reached), kinematics.fk_batch(goal), atol=1e-3)


def test_a_target_beyond_reach_is_reported(kinematics):
    far = np.eye(4)[None].copy()
    far[0, 0, 3] = 3.0
    assert not follow(kinematics, np.zeros((1, 6)), far)[1].any()


def test_a_folder_without_streams_gives_nothing(kinematics, tmp_path):
    assert retarget(kinematics, tmp_path, 0.05, 0.1, seed=0)[0].shape == (0, 6)


@pytest.mark.parametrize("text", ["", "0,1,2\n1,2,3\n", "0,a,0,0,0,0,0,1\n", "0,0,0,0,0,0,0,1\n1,nan,0,0,0,0,0,1\n"])
def test_a_broken_stream_is_named(kinematics, tmp_path, text):
    (tmp_path / "bad.csv").write_text(HEADER + text)
    with pytest.raises(StreamError, match=r"bad.csv"):
        retarget(kinematics, tmp_path, 0.05, 0.1, seed=0)
