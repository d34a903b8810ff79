"""Outputs are refused before any work where they would cost another file, and are never half written."""

import json
import os
from pathlib import Path

import pytest

from mimicik_ros.cli.outputs import check_folder, check_outputs, json_text, write_text
from mimicik_ros.core.errors import ConfigError


@pytest.mark.parametrize(("name", "words"), [
    ("in.csv", "is read as well"), ("sub/../in.csv", "is read as well"), ("link.csv", "is read as well"),
    ("one.json", "is written by OUT already"), ("sub", "is a folder"), ("in.csv/x.json", "is a file, not a folder"),
])
def test_an_output_that_would_fall_on_another_file_is_refused(tmp_path, name, words):
    (tmp_path / "sub").mkdir()
    (tmp_path / "in.csv").write_text("t\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "in.csv")
    with pytest.raises(ConfigError, match=words):
        check_outputs({"OUT": tmp_path / "one.json", "--json": str(tmp_path / name)}, [tmp_path / "in.csv"])


def test_new_files_standard_output_and_folders_to_be_made_are_taken(tmp_path):
    (tmp_path / "in.csv").write_text("t\n")
    check_outputs({"OUT": tmp_path / "deep" / "er" / "x.csv", "--json": "-", "--report": None}, [tmp_path / "in.csv"])
    check_folder("--out", tmp_path / "a" / "b")


def test_a_folder_without_permission_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # nothing is forbidden to root, as which tests may run
    with pytest.raises(ConfigError, match="no permission"):
        check_outputs({"OUT": tmp_path / "x.json"})


def test_a_text_that_cannot_be_written_leaves_the_one_that_was_there(tmp_path, monkeypatch):
    path = tmp_path / "new" / "x.json"
    write_text(path, "old")

    def full(self, text, **_):
        self.write_bytes(b"ha")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        write_text(path, "half")
    assert path.read_bytes() == b"old"
    assert [p.name for p in path.parent.iterdir()] == ["x.json"]


def test_a_device_is_written_to_and_not_replaced():
    write_text(os.devnull, "x")
    assert not Path(os.devnull).is_file()


def test_numbers_that_json_does_not_have_are_null():
    values = {"a": [1.5, float("nan")], "b": {"c": (float("inf"), 2)}, "d": "nan", "e": None}
    assert json.loads(json_text(values)) == {"a": [1.5, None], "b": {"c": [None, 2]}, "d": "nan", "e": None}
