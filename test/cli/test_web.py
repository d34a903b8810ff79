"""`mimicik web`: options, and an end that leaves no process behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mimicik_ros.cli.main import main

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("viser", reason="viser is not installed; see the README for the web extra")

ROOT = Path(__file__).resolve().parents[2]
DOMAIN = 1 + (os.getpid() + 61) % 100
# A job in the background inherits an ignored SIGINT, which is not what a terminal does.
AS_IN_A_TERMINAL = ("import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
                    "from mimicik_ros.cli.main import main; sys.exit(main(sys.argv[1:]))")


@pytest.mark.parametrize(("options", "words"), [
    (["--port", "70000"], "--port"), (["--domain", "3"], "--domain: only with --fake-arm"),
    (["--fake-arm", "--domain", "233"], "--domain"), (["--fake-arm", "--namespace", "left"], "--fake-arm"),
    (["--config", "nowhere.yaml"], "nowhere.yaml")])
def test_bad_options_are_one_line_and_exit_code_two(options, words, capsys):
    assert main(["web", *options]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1 and words in said[0]


@pytest.mark.parametrize(("options", "words"), [
    (["--namespace", "no space"], "--namespace, --node, --joint-states: "),
    (["--host", "192.0.2.1"], "--host 192.0.2.1 --port 0: ")])
def test_names_and_addresses_that_cannot_be_are_one_line_and_exit_code_two(options, words):
    environment = {**os.environ, "ROS_DOMAIN_ID": str(DOMAIN), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    done = subprocess.run([sys.executable, "-m", "mimicik_ros.cli.main", "web", "--port", "0", *options], cwd=ROOT,
                          env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert [line for line in done.stderr.splitlines() if "error: " in line and words in line], done.stderr


def test_a_missing_extra_is_named_with_the_pip_command(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "viser", None)
    assert main(["web"]) == 2
    assert "pip install 'mimicik_ros[web]'" in capsys.readouterr().err


def children_of(pid):
    return [int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in task.read_text().split()]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def start(**options):
    return subprocess.Popen(
        [sys.executable, "-c", AS_IN_A_TERMINAL, "web", "--fake-arm", "--port", "0", "--domain", str(DOMAIN)], cwd=ROOT,
        stderr=subprocess.STDOUT, start_new_session=True, **options)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_page_node_and_arm_and_the_exit_code_is_0(number, tmp_path):
    said = tmp_path / "said.txt"
    with said.open("w") as output:
        web = start(stdout=output)
    children = []
    try:
        end = time.monotonic() + 60.0
        while "Ctrl-C ends it" not in said.read_text():
            assert web.poll() is None and time.monotonic() < end, said.read_text()
            time.sleep(0.05)
        children = children_of(web.pid)
        assert len(children) == 2
        web.send_signal(number)
        assert web.wait(30.0) == 0, said.read_text()
        assert not [child for child in children if alive(child)]
        assert "Traceback" not in said.read_text()
    finally:
        web.kill()
        for child in children:
            if alive(child):
                os.kill(child, signal.SIGKILL)


def test_a_graph_that_dies_ends_the_page_with_its_last_words(tmp_path):
    web = start(stdout=subprocess.PIPE, text=True)
    try:
        for line in web.stdout:
            if "Ctrl-C ends it" in line:
                break
        for child in children_of(web.pid):
            if "fake_arm" in Path(f"/proc/{child}/cmdline").read_text():
                os.kill(child, signal.SIGKILL)
        rest, _ = web.communicate(timeout=60)
        assert web.returncode == 1
        assert "error: the arm ended with code -9" in rest
    finally:
        web.kill()


def test_make_teleop_is_this_verb_with_the_pinned_extra():
    makefile = (ROOT / "Makefile").read_text()
    recipe = makefile[makefile.index("\nteleop:"):].split("\n\n")[0]
    assert "mimicik web --fake-arm" in recipe and ".web-ready" in recipe
    pins = (ROOT / "requirements-test.txt").read_text()
    assert "viser==" in pins and "websockets==" in pins
