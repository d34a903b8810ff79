"""Target files are read exactly, or refused with file, line and remedy."""

import numpy as np
import pytest

from mimicik_ros.core.errors import StreamError
from mimicik_ros.evaluation.motion import TREMOR_RMS_M, human_motion, write_stream
from mimicik_ros.evaluation.streams import read_stream
from mimicik_ros.share import share_path

HEADER = "t,x,y,z,qx,qy,qz,qw\n"


def write(tmp_path, text):
    path = tmp_path / "targets.csv"
    path.write_text(text)
    return path


def test_rows_are_read_as_they_stand_with_quaternions_normalised(tmp_path):
    stream = read_stream(write(tmp_path, HEADER + "0,1,2,3,0,0,0,2\n0.5,4,5,6,0,0,-3,0\n"))
    np.testing.assert_array_equal(stream.t_s, [0.0, 0.5])
    np.testing.assert_array_equal(stream.position_m, [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(stream.quat_xyzw, [[0, 0, 0, 1], [0, 0, -1, 0]])


def test_columns_may_stand_in_any_order_beside_others(tmp_path):
    stream = read_stream(write(tmp_path, "note,qw,qx,qy,qz,z,y,x,t\na,1,0,0,0,3,2,1,0\n"))
    np.testing.assert_array_equal(stream.position_m, [[1, 2, 3]])


@pytest.mark.parametrize(("text", "words"), [
    ("", "empty"), (HEADER, "no rows"), ("t,x,y,z\n0,1,2,3\n", "line 1: no column qx, qy, qz, qw"),
    ("t,x,y,z,qx,qy,qz,qw,x\n", "line 1: column x stands more than once"),
    (HEADER + "0,0,a,0,0,0,0,1\n", "line 2: column y is no number: 'a'"),
    (HEADER + "0,0,0\n", "line 2: column z is no number: ''"),
    (HEADER + "0,0,0,0,0,0,0,1\n1,nan,0,0,0,0,0,1\n", "line 3: column x is nan"),
    (HEADER + "0,0,0,0,0,0,-inf,1\n", "line 2: column qz is -inf"),
    (HEADER + "0,0,0,0,0,0,0,0\n", "line 2: columns qx,qy,qz,qw have norm 0"),
    (HEADER + "0,0,0,0,1e300,1e300,0,1\n", r"line 2: columns qx,qy,qz,qw have norm 1\.41e\+300"),
    (HEADER + "1" * 200_000 + ",0,0,0,0,0,0,1\n", "not a CSV file: field larger"),
    (HEADER + "1,0,0,0,0,0,0,1\n\n1,0,0,0,0,0,0,1\n", "line 4: t does not increase")])
def test_a_bad_file_is_refused_with_its_line(tmp_path, text, words):
    with pytest.raises(StreamError, match=words) as caught:
        read_stream(write(tmp_path, text))
    assert "targets.csv" in str(caught.value)


def test_a_missing_file_is_named():
    with pytest.raises(StreamError, match=r"cannot read 'nowhere\.csv'"):
        read_stream("nowhere.csv")


def test_a_placed_stream_begins_at_the_home_pose_and_keeps_the_scaled_motion(tmp_path):
    stream = read_stream(write(tmp_path, HEADER + "0,1,1,1,0,0,1,0\n1,1.2,1,1,0,0,0,1\n"))
    home = np.eye(4)
    home[:3, 3] = [0.3, 0.0, 0.2]
    placed = stream.placed(home, 0.5)
    np.testing.assert_allclose(placed.poses[0], home, atol=1e-12)
    np.testing.assert_allclose(placed.position_m[1], [0.4, 0.0, 0.2])
    np.testing.assert_allclose(placed.poses[1][:3, :3], np.diag([-1.0, -1.0, 1.0]), atol=1e-12)  # half a turn about z


def test_the_shipped_stream_is_what_its_seed_makes(tmp_path):
    from mimicik_ros.cli.setup import robot_of
    from mimicik_ros.config import Config

    home = robot_of(Config()).fk(np.array([0, -1, 1.2, 1.5708, -1.2, -1.5708]))
    write_stream(human_motion(home, 24.0, 0.05, 7), tmp_path / "again.csv")
    np.testing.assert_allclose(read_stream(tmp_path / "again.csv").position_m,
                               read_stream(share_path("config/demo_stream.csv")).position_m, atol=2e-6)


def test_motion_begins_at_rest_where_it_was_told_and_trembles():
    stream = human_motion(np.eye(4), 10.0, 0.05, seed=1)
    np.testing.assert_allclose(stream.poses[0], np.eye(4), atol=1e-9)
    third = np.abs(np.diff(stream.position_m, 3, axis=0)).max()
    assert third > TREMOR_RMS_M  # a minimum-jerk path alone would be far smoother
