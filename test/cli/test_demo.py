"""`mimicik demo` on the real graph, with real processes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

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
    (["--targets", "nowhere.csv"], "nowhere.csv"), (["--seconds", "0"], "--seconds"), (["--scale", "0"], "--scale"),
    (["--domain", "233"], "--domain"), (["--domain", "3", "--attach"], "--domain"), (["--namespace", "left"], "--namespace"),
    (["--json", "nowhere/f.json"], "--json")])
def test_bad_options_are_refused_before_anything_starts(options, words, tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path), *options]) == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_configuration_file_reaches_the_node_whole_empty_texts_included(domain, tmp_path):
    config = str(Path(__file__).resolve().parents[2] / "config" / "airbot_play.yaml")
    options = ["--seconds", "2", "--out", str(tmp_path), "--config", config, "--domain", str(domain)]
    assert main(["demo", *options]) == 0


@pytest.mark.parametrize("namespace", ["/", "/left"])
def test_it_drives_a_graph_that_runs_already_from_where_the_arm_stands(namespace, domain, tmp_path):
    start = [0.3, -1.2, 1.4, 1.2, -0.9, -1.2]
    parameters = {"home_rad": start}
    with DemoGraph(tmp_path, {}, parameters, namespace) as graph:
        options = ["--attach", "--seconds", "3", "--namespace", namespace, "--out", str(tmp_path)]
        assert main(["demo", *options, "--json", str(tmp_path / "f.json")]) == 0
        graph.check()
    figures = json.loads((tmp_path / "f.json").read_text())
    assert figures["limit_violations"] == 0 and figures["ticks"] > 30
    assert (tmp_path / "demo.png").exists()


def test_a_graph_that_is_not_there_is_one_line(domain, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("mimicik_ros.cli.demo.ENGAGE_S", 1.0)
    assert main(["demo", "--attach", "--namespace", "left", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err.strip() == "error: no joint states of the arm in namespace '/left' (after 1 s)"


def children_of(pid):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # ended meanwhile
            continue
        if int(fields[1]) == pid:
            found.append(int(stat.parent.name))
    return found


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds=40.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@pytest.mark.parametrize(("moment", "signals"), [
    ("starting", [signal.SIGTERM]), ("running", [signal.SIGTERM]), ("running", [signal.SIGHUP]),
    ("running", [signal.SIGINT, signal.SIGINT])])
def test_no_process_is_left_when_the_demo_is_ended_by_a_signal(moment, signals, domain, tmp_path):
    said = tmp_path / "said.txt"
    # A job in the background inherits an ignored SIGINT, which is not what a terminal does.
    code = ("import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
            "from mimicik_ros.cli.main import main; sys.exit(main(sys.argv[1:]))")
    options = ["demo", "--seconds", "60", "--out", str(tmp_path), "--domain", str(domain)]
    with said.open("w") as output:
        demo = subprocess.Popen([sys.executable, "-c", code, *options], stdout=output, stderr=subprocess.STDOUT,
                                start_new_session=True)
    children = []
    try:
        wait_until(lambda: len(children_of(demo.pid)) == 2)
        children = children_of(demo.pid)
        if moment == "running":
            wait_until(lambda: "Hz" in said.read_text())
        for number in signals:
            demo.send_signal(number)
            time.sleep(0.2)
        assert demo.wait(20.0) == 2
        assert not [child for child in children if alive(child)]
        assert said.read_text().splitlines()[-1] == "interrupted" and "Traceback" not in said.read_text()
    finally:
        demo.kill()
        demo.wait()
        for child in children:
            if alive(child):
                os.kill(child, signal.SIGKILL)
