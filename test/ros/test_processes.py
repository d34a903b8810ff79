"""Node and fake arm as processes: clean ends, and one line instead of a traceback."""

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def start(module, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "RCUTILS_LOGGING_BUFFERED_STREAM": "0"}
    return subprocess.Popen([sys.executable, "-m", module, *arguments], cwd=ROOT, env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def wait_for(process, text, seconds=30.0):
    lines, seen = queue.Queue(), []
    threading.Thread(target=lambda: [lines.put(line) for line in process.stdout], daemon=True).start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            seen.append(lines.get(timeout=0.1))
        except queue.Empty:
            assert process.poll() is None, "".join(seen)
            continue
        if text in seen[-1]:
            return seen, lines
    raise AssertionError(f"never said '{text}': {''.join(seen)}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_node_says_that_it_is_active_and_ends_with_0_on_a_signal(number):
    process = start("mimicik_ros.ros.node")
    try:
        wait_for(process, "active")
        process.send_signal(number)
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_fake_arm_ends_with_0_on_a_signal(number):
    process = start("mimicik_ros.ros.fake_arm")
    try:
        wait_for(process, "ready")
        process.send_signal(number)
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()


@pytest.mark.parametrize(("arguments", "text"), [
    (["-p", "servo.rate_hs:=20.0"], "unknown parameter 'servo.rate_hs'; did you mean 'servo.rate_hz'?"),
    (["-p", "robot.urdf:=nowhere.urdf"], "no file 'nowhere.urdf'"),
    (["-p", "policy.model:=nowhere.onnx"], "nowhere.onnx"),
    (["--params-file", "nowhere.yaml"], "nowhere.yaml"),
])
def test_a_bad_set_up_ends_with_2_and_one_line(arguments, text):
    process = start("mimicik_ros.ros.node", "--ros-args", *arguments)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 2, output
    assert "Traceback" not in output
    assert sum(text in line for line in output.splitlines()) == 1, output
