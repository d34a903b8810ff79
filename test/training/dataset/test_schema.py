"""What is written is read back to the bit, as a stream, and nothing else is taken for it."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mimicik_ros.core.errors import DataError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.training.dataset import writer as writing
from mimicik_ros.training.dataset.reader import Dataset
from mimicik_ros.training.dataset.schema import SOURCES
from mimicik_ros.training.dataset.writer import DatasetWriter

UNITS = {"episode": "1", "t_s": "s", "q": "rad", "q_command": "rad", "target_position_m": "m", "target_quat_xyzw": "1",
         "source": ""}


def test_every_column_comes_back_to_the_bit(tmp_path, header, episode_of):
    written = [episode_of(20 + i, seed=i, source=source) for i, source in enumerate(SOURCES)]
    with DatasetWriter(tmp_path / "d.parquet", header) as writer:
        for episode in written:
            writer.write(episode)
    read = list(Dataset([tmp_path / "d.parquet"]).episodes())
    assert [e.number for e in read] == [0, 1, 2, 3, 4]
    for before, after in zip(written, read, strict=True):
        assert after.source == before.source
        for name in ("t_s", "q", "q_command", "position_m", "quat_xyzw"):
            np.testing.assert_array_equal(getattr(after, name), getattr(before, name))


def test_the_header_comes_back_and_each_column_carries_its_unit(dataset_file, header):
    path = dataset_file(20)
    assert Dataset([path]).header == header
    schema = pq.read_schema(path)
    assert {f.name: f.metadata[b"unit"].decode() for f in schema} == UNITS
    assert schema.field("q").type.list_size == 6


def test_the_page_of_the_format_names_every_column_with_its_unit(kinematics):
    page = (Path(__file__).resolve().parents[3] / "docs" / "dataset.md").read_text(encoding="utf-8")
    rows = {cells[1].strip(" `"): cells[3].strip() for line in page.splitlines() if len(cells := line.split("|")) == 6}
    assert {name: rows.get(name) for name in UNITS} == UNITS


def test_row_groups_hold_whole_episodes_and_no_more_than_needed(monkeypatch, dataset_file):
    monkeypatch.setattr(writing, "GROUP_ROWS", 100)
    data = Dataset([dataset_file(60, 60, 60, 250, 30)])
    assert [g.rows for g in data.groups] == [120, 310, 30]
    assert [len(e) for e in data.episodes()] == [60, 60, 60, 250, 30]


def test_a_folder_is_its_files_by_name(dataset_file, tmp_path):
    dataset_file(20, name="b.parquet")
    dataset_file(30, 40, name="a.parquet")
    assert [len(e) for e in Dataset([tmp_path]).episodes()] == [30, 40, 20]


def test_another_robots_file_is_refused_unless_told_otherwise(dataset_file, kinematics):
    robot = Kinematics(kinematics.origin, "base_link", "link6", kinematics.joint_names)
    path = dataset_file(20)
    with pytest.raises(DataError, match=r"data.parquet: made for robot 'airbot_play_g2'.*--any-robot"):
        Dataset([path], robot)
    assert Dataset([path], robot, any_robot=True).rows == 20


def test_files_of_two_periods_are_not_read_together(dataset_file, header):
    first = dataset_file(20, name="a.parquet")
    second = dataset_file(20, name="b.parquet", changed=dataclasses.replace(header, period_s=0.02))
    with pytest.raises(DataError, match=r"b\.parquet: another robot or period"):
        Dataset([first, second])


def damaged(path, kind):
    content = path.read_bytes()
    path.write_bytes({"cut": content[:-100], "half": content[: len(content) // 2], "empty": b"", "text": b"t,q1\n0,1\n"}[kind])


@pytest.mark.parametrize("kind", ["cut", "half", "empty", "text"])
def test_a_damaged_file_is_refused_in_one_line(dataset_file, kind):
    path = dataset_file(20)
    damaged(path, kind)
    with pytest.raises(DataError, match=r"data.parquet: truncated, or no parquet file") as caught:
        Dataset([path])
    assert "\n" not in str(caught.value)


def test_damage_within_a_row_group_is_named_when_it_is_read(dataset_file):
    path = dataset_file(400)
    content = bytearray(path.read_bytes())
    content[200:1200] = bytes(1000)
    path.write_bytes(content)
    with pytest.raises(DataError, match="row group 0 is damaged"):
        list(Dataset([path]).episodes())


def test_a_foreign_parquet_file_and_another_version_are_refused(tmp_path, dataset_file, header):
    pq.write_table(pa.table({"q": [1.0]}), tmp_path / "foreign.parquet")
    with pytest.raises(DataError, match="no mimicik dataset"):
        Dataset([tmp_path / "foreign.parquet"])
    path = dataset_file(20, changed=dataclasses.replace(header, format_version=9))
    with pytest.raises(DataError, match="dataset format 9, this version reads 1"):
        Dataset([path])


def test_a_file_whose_columns_are_not_those_of_the_format_is_refused(tmp_path, dataset_file):
    table = pq.read_table(dataset_file(20))
    pq.write_table(table.drop_columns(["q_command"]), tmp_path / "less.parquet")
    with pytest.raises(DataError, match="columns missing or of another type: q_command"):
        Dataset([tmp_path / "less.parquet"])


def test_a_failed_run_leaves_the_file_that_was_there_and_no_half_one(dataset_file, header, episode_of, tmp_path):
    path = dataset_file(20)
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="half-way"), DatasetWriter(path, header) as writer:
        writer.write(episode_of(50))
        raise RuntimeError("half-way")
    with DatasetWriter(path, header):
        pass  # nothing usable
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["data.parquet"]


@pytest.mark.parametrize("name", ["data.csv", "data"])
def test_only_parquet_files_are_written(tmp_path, header, name):
    with pytest.raises(DataError, match=re.escape("ends in .parquet")):
        DatasetWriter(tmp_path / name, header)


def test_a_disk_that_is_full_at_the_end_leaves_no_half_file(header, episode_of, tmp_path):
    with pytest.raises(OSError, match="No space"), DatasetWriter(tmp_path / "a.parquet", header) as writer:
        writer.write(episode_of(40))
        writer._file.close()
        writer._file = Full()
    assert not list(tmp_path.iterdir())


class Full:
    def write_table(self, *_, **__):
        raise OSError(28, "No space left on device")

    def close(self):
        pass


def test_a_file_named_twice_is_refused_since_a_split_would_share_its_episodes(dataset_file, tmp_path):
    path = dataset_file(40)
    with pytest.raises(DataError, match="more than once"):
        Dataset([path, tmp_path])
