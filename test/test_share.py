"""Shipped files are found in a checkout and in an installation, and a missing one is named."""

from pathlib import Path

import pytest

from mimicik_ros import share
from mimicik_ros.core.errors import ConfigError

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A working folder without shipped files."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_checkout_gives_its_own_files_from_any_folder(elsewhere):
    assert share.share_path("urdf/airbot_play_g2.urdf") == ROOT / "urdf/airbot_play_g2.urdf"


def test_an_absolute_path_is_taken_as_it_is(elsewhere):
    file = elsewhere / "arm.urdf"
    file.write_text("<robot/>", encoding="utf-8")
    assert share.share_path(str(file)) == file


def test_a_file_beside_the_caller_comes_first(elsewhere):
    file = elsewhere / "urdf" / "airbot_play_g2.urdf"
    file.parent.mkdir()
    file.write_text("<robot/>", encoding="utf-8")
    assert share.share_path("urdf/airbot_play_g2.urdf") == file


def test_an_installation_is_found_by_the_ament_prefix(elsewhere, monkeypatch):
    monkeypatch.setattr(share, "__file__", str(elsewhere / "lib/site-packages/mimicik_ros/share.py"))
    file = elsewhere / "install/share/mimicik_ros/models/arm.onnx"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{elsewhere / 'other'}:{elsewhere / 'install'}")
    assert share.share_path("models/arm.onnx") == file


def test_a_missing_file_is_refused_with_the_places_that_were_tried(elsewhere):
    with pytest.raises(ConfigError, match=r"no file 'urdf/absent\.urdf'; tried urdf/absent\.urdf, ") as caught:
        share.share_path("urdf/absent.urdf")
    assert str(ROOT / "urdf/absent.urdf") in str(caught.value)
