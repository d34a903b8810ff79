"""CSV tables of joints, whole and broken."""

import numpy as np
import pytest
from lagging_arm import motion

from mimicik_ros.core.errors import DataError
from mimicik_ros.training.dataset.csv_import import Names, recordings
from mimicik_ros.training.dataset.intake import take_in
from mimicik_ros.training.dataset.reader import Dataset

Q, QC = [f"q{i}" for i in range(1, 7)], [f"qc{i}" for i in range(1, 7)]


def write(path, names, *columns):
    rows = np.hstack([c if c.ndim > 1 else c[:, None] for c in columns])
    path.write_text("\n".join([",".join(names), *(",".join(f"{v:.12g}" for v in row) for row in rows)]) + "\n")
    return path


@pytest.fixture
def taken(tmp_path, header, rules, kinematics):
    def take(*paths, names=None, degrees=False):
        out = tmp_path / "out.parquet"
        report = take_in(recordings(list(paths), names or Names(), kinematics.joint_names, degrees), out, header, rules, "csv")
        return report, list(Dataset([out]).episodes()) if out.exists() else []

    return take


def test_joints_and_commands_are_read_by_the_names_of_their_columns(tmp_path, taken):
    t, q, command = motion(100)
    path = write(tmp_path / "a.csv", [*QC[::-1], "note", "t", *Q], command[:, ::-1], 7 * t, t, q)
    _, episodes = taken(path)
    np.testing.assert_allclose(episodes[0].q, q, atol=1e-9)
    np.testing.assert_allclose(episodes[0].q_command, command, atol=1e-9)


def test_joints_alone_are_commanded_by_the_next_row(tmp_path, taken):
    t, q, _ = motion(100)
    _, episodes = taken(write(tmp_path / "a.csv", ["t", *Q], t, q))
    np.testing.assert_allclose(episodes[0].q_command, q[1:], atol=1e-9)


def test_columns_of_other_names(tmp_path, taken, kinematics):
    t, q, command = motion(100)
    names = ["time", *(f"{j}_pos" for j in kinematics.joint_names), *(f"cmd[{i}]" for i in range(1, 7))]
    _, episodes = taken(write(tmp_path / "a.csv", names, t, q, command),
                        names=Names("time", "{name}_pos", "cmd[{i}]"))
    np.testing.assert_allclose(episodes[0].q_command, command, atol=1e-9)


def test_a_row_that_ends_early_is_named_and_the_rest_is_kept(tmp_path, taken):
    t, q, command = motion(100)
    path = write(tmp_path / "a.csv", ["t", *Q, *QC], t, q, command)
    path.write_text(path.read_text()[:-30])
    report, episodes = taken(path)
    assert report.lines[0].faults == [("length", "1 rows of other length than the header, first row 99 (the last: truncated)")]
    assert len(episodes[0]) == 99


def test_each_file_has_its_fault_and_the_rest_is_kept(tmp_path, taken):
    t, q, command = motion(100)
    columns = ["t", *Q, *QC]
    text = write(tmp_path / "nan.csv", columns, t, q, command).read_text().splitlines()
    text[20] = text[20].replace(text[20].split(",")[3], "n/a")
    (tmp_path / "nan.csv").write_text("\n".join(text))
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    (tmp_path / "empty.csv").write_text("")
    paths = [write(tmp_path / "good.csv", columns, t, q, command), tmp_path / "nan.csv", tmp_path / "binary.csv",
             write(tmp_path / "less.csv", columns[:7], t, q), write(tmp_path / "five.csv", columns[:-1], t, q, command[:, :5]),
             write(tmp_path / "degrees.csv", columns, t, np.rad2deg(q), np.rad2deg(command)), tmp_path / "empty.csv",
             write(tmp_path / "five_q.csv", columns[:6], t, q[:, :5])]
    report, episodes = taken(*paths)
    assert [[kind for kind, _ in line.faults] for line in report.lines] == [
        [], ["non-finite"], ["truncated"], [], ["columns"], ["degrees", "degrees"], ["columns"], ["columns"]]
    assert "no column qc6, but others of its kind" in report.text() and "no column q6; found t, q1" in report.text()
    assert len(episodes) == 3


def test_a_file_that_is_not_there_is_refused(tmp_path, taken):
    with pytest.raises(DataError, match=r"missing.csv: no such file"):
        taken(tmp_path / "missing.csv")


@pytest.mark.parametrize("pattern", ["q", "{x}", "{", "q{i.x}", "{name[x]}"])
def test_a_pattern_that_names_no_joint_is_refused(tmp_path, taken, pattern):
    (tmp_path / "a.csv").write_text("t\n")
    with pytest.raises(DataError, match=r"\{name\} for its name"):
        taken(tmp_path / "a.csv", names=Names(joints=pattern))


def test_a_column_that_stands_twice_is_named_and_none_of_them_is_taken(tmp_path, taken):
    t, q, _ = motion(100)
    report, episodes = taken(write(tmp_path / "a.csv", ["t", *Q, "q3"], t, q, q[:, 2] + 0.1))
    assert not episodes and report.lines[0].faults == [("columns", "column q3 stands more than once")]


def test_the_time_between_rows_is_that_of_the_rows_kept(tmp_path, taken):
    t, q, _ = motion(100)
    report, _ = taken(write(tmp_path / "a.csv", ["t", *Q], np.repeat(t, 3), np.repeat(q, 3, axis=0)))
    assert report.lines[0].step_s == pytest.approx(0.05) and "were brought onto" not in report.text()
