"""The five commands of docs/training.md, as they stand there, in an empty folder and at tiny size."""

import os
import re
import shlex
from pathlib import Path

import pytest

from mimicik_ros.cli.main import main
from mimicik_ros.share import share_path

pytest.importorskip("torch", reason="the training extra is not installed")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "training.md"
TINY = {  # put behind the command; where an option stands twice the last one holds
    "dataset": ["--episodes", "4", "--seconds", "4"],
    "train": ["--preset", "tiny", "--minutes", "0", "--steps", "40", "--batch", "128"],
    "export": [],
    "replay": [],
    "demo": ["--seconds", "3", "--domain", str(1 + (os.getpid() + 71) % 100)],
}


def commands():
    block = re.search(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    return [shlex.split(line) for line in block.group(1).splitlines()]


def test_there_are_five_commands_and_each_is_run_at_tiny_size():
    assert [words[0] for words in commands()] == ["mimicik"] * 5
    assert [words[1] for words in commands()] == list(TINY)


def test_the_five_commands_lead_from_an_empty_folder_to_a_model_on_the_graph(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = share_path("config/demo_stream.csv").read_text(encoding="utf-8").splitlines()
    Path("targets.csv").write_text("\n".join(lines[:31]) + "\n", encoding="utf-8")
    for _, verb, *options in commands():
        if verb == "demo":
            pytest.importorskip("rclpy", reason="rclpy is not installed")
            monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        assert main([verb, *options, *TINY[verb]]) == 0, capsys.readouterr().err
    said = capsys.readouterr().out
    assert "40 steps of mip" in said and "held out:" in said and "data: " in said
    written = {"synth.parquet", "policy.pt", "policy.csv", "policy.onnx", "commands.csv", "demo"}
    assert {p.name for p in Path("runs").iterdir()} >= written
    assert len(Path("runs/commands.csv").read_text(encoding="utf-8").splitlines()) == 31
