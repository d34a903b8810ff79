"""`mimicik demo` on the real graph, with real processes."""

import json
import os

import pytest

from mimicik_ros.cli.demo_graph import ChildDied, DemoGraph
from mimicik_ros.cli.main import main

pytest.importorskip("rclpy", reason="rclpy is not installed")


@pytest.fixture
def domain(monkeypatch):
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    number = 1 + (os.getpid() + 37) % 100
    monkeypatch.setenv("ROS_DOMAIN_ID", str(number))
    return number


@pytest.mark.parametrize("home", ["good", "vendor"])
def test_a_short_run_tracks_within_limits_and_reports(home, domain, tmp_path, capsys):
    options = ["--seconds", "4", "--home", home, "--out", str(tmp_path), "--json", str(tmp_path / "f.json")]
    assert main(["demo", *options, "--domain", str(domain)]) == 0
    figures = json.loads((tmp_path / "f.json").read_text())
    assert figures["limit_violations"] == 0
    assert figures["ticks"] > 40
    assert figures["end_to_end_ms"]["p50"] > 0.0
    assert sum(figures["status"].values()) == figures["ticks"]
    assert {"mean", "p95", "p99"} <= set(figures["position_error_mm"])
    assert {"missed_deadlines", "rotation_error_deg", "strict_percent", "spike_percent", "max_velocity"} <= set(figures)
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert "position_error_mm" in capsys.readouterr().out


def test_a_process_that_cannot_start_is_named_with_its_last_words(domain, tmp_path):
    with pytest.raises(ChildDied, match=r"the node ended with code 2; its last words: .*nowhere.onnx"), \
            DemoGraph(tmp_path, {"policy.model": "nowhere.onnx"}, {}):
        pass


def test_the_processes_are_gone_afterwards(domain, tmp_path):
    with DemoGraph(tmp_path, {}, {}) as graph:
        children = list(graph._children.values())
        assert all(child.poll() is None for child in children)
    assert all(child.poll() is not None for child in children)


@pytest.mark.parametrize(("options", "words"), [
    (["--targets", "nowhere.csv"], "nowhere.csv"), (["--seconds", "0"], "--seconds"), (["--scale", "0"], "--scale")])
def test_bad_options_are_refused_before_anything_starts(options, words, tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path), *options]) == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
