"""LeRobot folders of both layouts, whole and broken."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lagging_arm import motion

from mimicik_ros.core import se3
from mimicik_ros.core.errors import DataError
from mimicik_ros.training.dataset.intake import take_in
from mimicik_ros.training.dataset.lerobot import Columns, recordings
from mimicik_ros.training.dataset.reader import Dataset

ROWS = 120


def table(number, rows=ROWS, state="observation.state", fps=20, **changes):
    t, q, command = motion(rows, step_s=1 / fps, seed=number)
    columns = {state: q.tolist(), "action": command.tolist(), "timestamp": t.astype(np.float32), "frame_index": np.arange(rows),
               "episode_index": np.full(rows, number)}
    return pa.table({k: v for k, v in (columns | changes).items() if v is not None})


def info(folder, **values):
    (folder / "meta").mkdir(parents=True)
    (folder / "meta" / "info.json").write_text(json.dumps({"codebase_version": "v2.1", "fps": 20} | values))


@pytest.fixture
def v2(tmp_path):
    """Writes one file per episode and gives the folder."""
    folder = tmp_path / "v2"
    info(folder)

    def write(*tables, lengths=None):
        (folder / "data" / "chunk-000").mkdir(parents=True, exist_ok=True)
        for i, episode in enumerate(tables):
            pq.write_table(episode, folder / "data" / "chunk-000" / f"episode_{i:06d}.parquet")
        lines = [json.dumps({"episode_index": i, "length": n}) for i, n in enumerate(lengths or [])]
        (folder / "meta" / "episodes.jsonl").write_text("\n".join(lines))
        return folder

    return write


@pytest.fixture
def taken(tmp_path, header, rules):
    """Imports a folder and gives the report and the episodes."""
    def take(folder, columns=None, degrees=False):
        out = tmp_path / "out.parquet"
        report = take_in(recordings(folder, columns or Columns(), 6, degrees), out, header, rules, "lerobot")
        return report, list(Dataset([out]).episodes()) if out.exists() else []

    return take


def faults(report, line):
    return [kind for kind, _ in report.lines[line].faults]


def test_v2_has_an_episode_a_file(v2, taken):
    report, episodes = taken(v2(table(0), table(1)))
    assert [(line.state, line.rows) for line in report.lines] == [("kept", ROWS)] * 2
    for number, episode in enumerate(episodes):
        _, q, command = motion(ROWS, seed=number)
        np.testing.assert_allclose(episode.q, q, atol=1e-12)
        np.testing.assert_allclose(episode.q_command, command, atol=1e-12)
        assert episode.source == "lerobot"


def test_v3_has_many_episodes_a_file_also_over_the_edge_of_a_batch(tmp_path, taken, monkeypatch):
    from mimicik_ros.training.dataset import lerobot

    monkeypatch.setattr(lerobot, "BATCH_ROWS", 50)
    folder = tmp_path / "v3"
    info(folder, codebase_version="v3.0")
    for chunk, name, numbers in ((0, 0, (0, 1)), (0, 1, (2,)), (1, 0, (3, 4))):
        file = folder / "data" / f"chunk-{chunk:03d}" / f"file-{name:03d}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.concat_tables([table(i) for i in numbers]), file)
    (folder / "meta" / "episodes" / "chunk-000").mkdir(parents=True)
    pq.write_table(pa.table({"episode_index": [0, 1, 2, 3, 4], "length": [120, 120, 120, 150, 120]}),
                   folder / "meta" / "episodes" / "chunk-000" / "file-000.parquet")
    report, episodes = taken(folder)
    assert [len(e) for e in episodes] == [ROWS] * 5
    np.testing.assert_allclose(episodes[4].q, motion(ROWS, seed=4)[1], atol=1e-12)
    assert [line.state for line in report.lines] == ["kept", "kept", "kept", "cut", "kept"]
    assert report.lines[3].faults == [("truncated", "120 of 150 rows that meta/episodes gives")]


def test_a_truncated_file_is_reported_and_the_other_episodes_are_kept(v2, taken):
    folder = v2(table(0), table(1), table(2))
    broken = folder / "data" / "chunk-000" / "episode_000001.parquet"
    broken.write_bytes(broken.read_bytes()[:500])
    report, episodes = taken(folder)
    assert len(episodes) == 2
    assert [line.state for line in report.lines] == ["kept", "dropped", "kept"]
    assert faults(report, 1) == ["truncated"] and "episode_000001.parquet" in report.lines[1].name


def test_each_fault_is_reported_for_its_episode_and_the_rest_is_kept(v2, taken):
    nan = motion(ROWS, seed=1)[1]
    nan[30, 2] = np.nan
    twice = (np.arange(ROWS) / 20).astype(np.float32)
    twice[40] = twice[39]
    short = motion(ROWS, seed=3)[1].tolist()
    short[10] = short[10][:5]
    degrees = np.rad2deg(motion(ROWS, seed=4)[1]).tolist()
    folder = v2(table(0), table(1, **{"observation.state": nan.tolist()}), table(2, timestamp=twice),
                table(3, **{"observation.state": short}), table(4, **{"observation.state": degrees}), table(5, rows=60),
                lengths=[ROWS] * 6)
    report, episodes = taken(folder)
    assert [faults(report, i) for i in range(6)] == [[], ["non-finite"], ["stamps"], ["length"], ["degrees"], ["truncated"]]
    assert [line.state for line in report.lines] == ["kept", "cut", "cut", "cut", "dropped", "cut"]
    assert len(episodes) == 5 and report.count("dropped") == 1
    text = report.text()
    assert "1 kept whole, 4 cut, 1 dropped" in text and "episode 4" in text and "looks like degrees" in text


def test_degrees_are_converted_on_purpose(v2, taken):
    _, q, command = motion(ROWS)
    folder = v2(table(0, **{"observation.state": np.rad2deg(q).tolist(), "action": np.rad2deg(command).tolist()}))
    _, episodes = taken(folder, degrees=True)
    np.testing.assert_allclose(episodes[0].q, q, atol=1e-9)
    np.testing.assert_allclose(episodes[0].q_command, command, atol=1e-9)


def test_a_gripper_after_the_joints_is_left_out_when_asked_and_named_when_not(v2, taken):
    _, q, command = motion(ROWS)
    more = np.full((ROWS, 1), 0.03)
    folder = v2(table(0, **{"observation.state": np.hstack([q, more]).tolist(), "action": np.hstack([command, more]).tolist()}))
    report, episodes = taken(folder)
    assert not episodes and faults(report, 0) == ["length", "length"]
    assert "has 7 values, expected 6 joints; choose them with --joints 0:6" in report.text()
    _, episodes = taken(folder, Columns(joints=(0, 6)))
    np.testing.assert_allclose(episodes[0].q, q, atol=1e-12)


def test_recorded_targets_are_taken_over_and_another_tool_is_noticed(v2, taken, kinematics):
    _, q, command = motion(ROWS)
    T, measured = kinematics.fk_batch(command), kinematics.fk_batch(q)
    pose = np.hstack([T[:, :3, 3], -se3.quat_from_rotation(T[:, :3, :3])])
    other = np.hstack([measured[:, :3, 3] + [0.0, 0.0, 0.1], se3.quat_from_rotation(measured[:, :3, :3])])
    folder = v2(table(0, action_quat=pose.tolist(), **{"observation.state_quat": other.tolist()}))
    report, episodes = taken(folder)
    np.testing.assert_allclose(episodes[0].position_m, T[:, :3, 3], atol=1e-12)
    np.testing.assert_allclose(se3.pose_from_quat(episodes[0].position_m, episodes[0].quat_xyzw), T, atol=1e-9)
    assert "FK of the joints lies 100.0 mm from the recorded tool poses" in report.text()


def test_columns_of_any_name_and_times_from_the_frames(v2, taken):
    folder = v2(table(0, state="arm", action=None, timestamp=None, command=motion(ROWS)[2].tolist()))
    _, episodes = taken(folder, Columns(state="arm", action="command"))
    np.testing.assert_allclose(episodes[0].t_s, np.arange(ROWS) / 20, atol=1e-12)


def test_rows_at_30_hz_are_brought_onto_the_period(v2, taken):
    report, episodes = taken(v2(table(0, rows=301, fps=30)))
    assert "rows every 0.03333 s (median) were brought onto 0.05 s" in report.text()
    np.testing.assert_allclose(np.diff(episodes[0].t_s), 0.05, atol=1e-9)
    assert len(episodes[0]) == 201


@pytest.mark.parametrize(("columns", "words"), [
    (Columns(state="arm"), "no column 'arm'; columns: observation.state, .*--state"),
    (Columns(action="cmd"), "no column 'cmd'.*--action next")])
def test_a_column_that_is_not_there_is_refused_with_those_that_are(v2, taken, columns, words):
    with pytest.raises(DataError, match=words):
        taken(v2(table(0)), columns)


def test_the_next_row_is_the_command_where_there_is_no_action(v2, taken):
    _, episodes = taken(v2(table(0, action=None)), Columns(action="next"))
    np.testing.assert_allclose(episodes[0].q_command, motion(ROWS)[1][1:], atol=1e-12)


@pytest.mark.parametrize(("make", "words"), [
    (lambda p: None, "info.json: cannot read"), (info, "no data/chunk"),
    (lambda p: (info(p), (p / "meta/info.json").write_text("{")), "info.json: no JSON"),
    (lambda p: info(p, fps="fast"), "number 'fps'")])
def test_what_is_no_lerobot_folder_is_refused(tmp_path, taken, make, words):
    make(tmp_path / "x")
    with pytest.raises(DataError, match=words):
        taken(tmp_path / "x")


@pytest.mark.parametrize(("name", "values", "words"), [
    ("observation.state", [0.1] * ROWS, "column 'observation.state' is double, expected a list of numbers.*--state"),
    ("observation.state", ["abcdef"] * ROWS, "is string, expected a list of numbers"),
    ("action", [["a"] * 6] * ROWS, "column 'action' is list.*--action"),
    ("action", [[[0.1]] * 6] * ROWS, "column 'action' is list"),
    ("action_quat", [1.0] * ROWS, "column 'action_quat' is double.*--action-quat"),
    ("timestamp", [[0.1]] * ROWS, "column 'timestamp' is list.*expected a number"),
    ("timestamp", ["0"] * ROWS, "column 'timestamp' is string, expected a number"),
    ("frame_index", ["0"] * ROWS, "column 'frame_index' is string, expected an integer"),
    ("episode_index", [0.5] * ROWS, "column 'episode_index' is double, expected an integer"),
    ("episode_index", pa.array([None] * ROWS, pa.int64()), "column 'episode_index' has rows without a value"),
])
def test_a_column_of_another_type_is_refused_with_the_option_that_names_it(v2, taken, name, values, words):
    with pytest.raises(DataError, match=words):
        taken(v2(table(0, **{name: values})))


def test_the_joints_of_a_row_cannot_be_those_of_the_next(v2, taken):
    with pytest.raises(DataError, match=r"no column 'next'.*--state"):
        taken(v2(table(0)), Columns(state="next"))


def test_a_length_of_the_meta_data_that_is_no_number_is_left_alone(v2, taken):
    report, episodes = taken(v2(table(0), lengths=["120"]))
    assert len(episodes) == 1 and not report.lines[0].faults


@pytest.mark.parametrize("fps", [-5, float("nan"), float("inf")])
def test_a_rate_that_cannot_be_is_refused(tmp_path, taken, fps):
    info(tmp_path / "x", fps=fps)
    with pytest.raises(DataError, match="positive number 'fps'"):
        taken(tmp_path / "x")
