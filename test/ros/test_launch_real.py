"""The launch files started for real, by launch and launch_ros: nodes, namespaces, parameters, motion and a clean end."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.executors import SingleThreadedExecutor

pytest.importorskip("launch_ros", reason="launch and launch_ros come with a ROS 2 distribution, not from pip")

from mimicik_ros.ros.diagnostics import status_values

ROOT = Path(__file__).resolve().parents[2]
SCREENLESS = {"rviz": "false", "marker": "false", "state_publisher": "false"}
LAUNCHER = """
import sys
from launch import LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
service = LaunchService()
service.include_launch_description(IncludeLaunchDescription(
    PythonLaunchDescriptionSource(sys.argv[1]), launch_arguments=[a.split(":=", 1) for a in sys.argv[2:]]))
sys.exit(service.run())
"""


@pytest.fixture
def prefix(tmp_path):
    """An installation prefix with our executables where launch looks for them, whatever way they were installed."""
    index = tmp_path / "prefix/share/ament_index/resource_index/packages"
    binaries = tmp_path / "prefix/lib/mimicik_ros"
    index.mkdir(parents=True)
    binaries.mkdir(parents=True)
    (index / "mimicik_ros").touch()
    for name, module in re.findall(r'"(\w+) = (mimicik_ros\.[\w.]+):main', (ROOT / "setup.py").read_text(encoding="utf-8")):
        script = binaries / name
        script.write_text(f"#!{sys.executable}\nimport sys\nfrom {module} import main\nsys.exit(main())\n", encoding="utf-8")
        script.chmod(0o755)
    return tmp_path / "prefix"


class Launched:
    """`ros2 launch FILE name:=value ...` with what it says in a file."""

    def __init__(self, prefix, name, **arguments):
        environment = {**os.environ, "AMENT_PREFIX_PATH": os.pathsep.join(filter(None, (
            str(prefix), os.environ.get("AMENT_PREFIX_PATH", sys.prefix)))),
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", "")))), "PYTHONUNBUFFERED": "1"}
        self._log = prefix.parent / f"{name}{arguments.get('namespace', '')}.log"
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", LAUNCHER, str(ROOT / "launch" / name), *(f"{k}:={v}" for k, v in arguments.items())],
                cwd=prefix.parent, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def said(self):
        return self._log.read_text(encoding="utf-8", errors="replace")

    def await_words(self, words, count=1, seconds=60.0):
        end = time.monotonic() + seconds
        while self.said().count(words) < count:
            assert self.process.poll() is None and time.monotonic() < end, self.said()
            time.sleep(0.05)

    def end(self):
        """Ctrl-C. Returns the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30.0)

    def close(self):
        """Whatever is left of its session is killed: a failed test leaves no node behind."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def launched(prefix):
    made = []

    def make(name, **arguments):
        made.append(Launched(prefix, name, **arguments))
        return made[-1]

    yield make
    for one in made:
        one.close()


def await_statuses(topics, wanted, seconds=30.0):
    """Wait until the last status on each topic is one of the wanted."""
    node, executor, got = rclpy.create_node("listener"), SingleThreadedExecutor(), {}
    executor.add_node(node)
    for topic in topics:
        node.create_subscription(DiagnosticStatus, topic, lambda m, t=topic: got.update({t: status_values(m)["status"]}), 10)
    end = time.monotonic() + seconds
    try:
        while set(got) != set(topics) or not set(got.values()) <= set(wanted):
            assert time.monotonic() < end, got
            executor.spin_once(timeout_sec=0.1)
    finally:
        executor.shutdown()
        node.destroy_node()


@pytest.mark.parametrize("name", ["mimicik.launch.py", "demo.launch.py", "dual_arm.launch.py"])
def test_launch_shows_every_argument_with_its_description(name):
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    from launch import LaunchContext

    description = PythonLaunchDescriptionSource(str(ROOT / "launch" / name)).get_launch_description(LaunchContext())
    shown = {a.name: a for a, _ in description.get_launch_arguments_with_include_launch_description_actions()}
    assert {"params_file", "use_sim_time", "respawn", "rviz", "record", "fake_arm"} <= set(shown)
    assert all(len(a.description) > 5 for a in shown.values())
    assert list(shown["rviz"].choices) == ["true", "false"]


def test_one_arm_comes_up_in_its_namespace_and_ends_on_ctrl_c(launched):
    one = launched("mimicik.launch.py", namespace="left", fake_arm="true")
    one.await_words("active at 20 Hz")
    await_statuses(["/left/mimicik/status"], ("waiting_for_target", "disabled"))  # it hears the arm
    assert one.end() == 0, one.said()
    assert "Traceback" not in one.said()


def test_two_arms_come_up_each_with_its_own_sections(launched):
    both = launched("dual_arm.launch.py", fake_arm="true", **SCREENLESS)
    both.await_words("active at 20 Hz", 2)
    await_statuses(["/left/mimicik/status", "/right/mimicik/status"], ("waiting_for_target", "disabled"))
    assert both.end() == 0, both.said()


def test_the_demo_prints_the_table_of_the_command_line_and_ends_by_itself(launched, prefix):
    demo = launched("demo.launch.py", seconds="3", stay="false", namespace="left", out=str(prefix.parent / "out"), **SCREENLESS)
    demo.process.wait(90.0)
    assert "position_error_mm" in demo.said() and "Traceback" not in demo.said()
    assert re.search(r"limit_violations\s+0", demo.said())
    assert (prefix.parent / "out" / "demo.png").exists()


def test_a_node_that_died_comes_back_when_told_and_stays_down_else(launched):
    stays = launched("mimicik.launch.py", namespace="stays")
    comes = launched("mimicik.launch.py", namespace="comes", respawn="true")
    for one in (stays, comes):
        one.await_words("active at 20 Hz")
        pid = int(re.search(r"mimicik_node-\d+\]: process started with pid \[(\d+)\]", one.said())[1])
        os.kill(pid, signal.SIGKILL)
        one.await_words("process has died")
    comes.await_words("active at 20 Hz", 2)  # so long the other has had time as well
    assert stays.said().count("process started") == 1


def test_the_programs_of_others_get_what_they_need(launched, prefix):
    """They are not installed here: programs that write down how they are called stand in their places."""
    calls = prefix.parent / "calls"
    calls.mkdir()
    for package, name in (("robot_state_publisher", "robot_state_publisher"), ("rviz2", "rviz2"),
                          ("tf2_ros", "static_transform_publisher")):
        (prefix / "share/ament_index/resource_index/packages" / package).touch()
        script = prefix / "lib" / package / name
        script.parent.mkdir()
        script.write_text(f"#!{sys.executable}\nimport json, os, sys\nimport rclpy\nrclpy.init(args=sys.argv)\n"
                          f"node = rclpy.create_node('x')\n"
                          "said = {'argv': sys.argv[1:], 'namespace': node.get_namespace(), 'name': node.get_name(),\n"
                          "        'parameters': {k: v.value for k, v in node._parameter_overrides.items()}}\n"
                          f"path = os.path.join({str(calls)!r}, {name!r} + said['namespace'].replace('/', '_'))\n"
                          "open(path + '.part', 'w').write(json.dumps(said))\nos.rename(path + '.part', path)\n",
                          encoding="utf-8")
        script.chmod(0o755)
    launched("dual_arm.launch.py", marker="false")
    names = {f"{name}_{side}" for name in ("robot_state_publisher", "static_transform_publisher") for side in ("left", "right")}
    end = time.monotonic() + 60.0
    while {p.name for p in calls.iterdir()} != names | {"rviz2_"}:
        assert time.monotonic() < end, list(calls.iterdir())
        time.sleep(0.1)
    urdf = (ROOT / "urdf/airbot_play_g2.urdf").read_text(encoding="utf-8")
    for side in ("left", "right"):
        publisher = json.loads((calls / f"robot_state_publisher_{side}").read_text())
        assert publisher["parameters"] == {"use_sim_time": False, "robot_description": urdf, "frame_prefix": f"{side}/"}
        mount = json.loads((calls / f"static_transform_publisher_{side}").read_text())["argv"]
        assert mount[mount.index("--child-frame-id") + 1] == f"{side}/base_link"
    rviz = json.loads((calls / "rviz2_").read_text())["argv"]
    assert rviz[:2] == ["-d", str(ROOT / "config" / "dual_arm.rviz")]
