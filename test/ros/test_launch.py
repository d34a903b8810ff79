"""What the launch files would start, read off a stand-in for launch; test_launch_real.py starts them where launch is there."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import launch_standin
import numpy as np
import pytest

from mimicik_ros import config
from mimicik_ros.ros import fake_arm, parameters

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = sorted((ROOT / "launch").glob("*.launch.py"))
NAMES = ("mimicik.launch.py", "demo.launch.py", "dual_arm.launch.py")
EVERYTHING = {"fake_arm": "true", "state_publisher": "true", "marker": "true", "rviz": "true", "record": "true"}
EXECUTABLES = set(re.findall(r'"(\w+) = mimicik_ros\.', (ROOT / "setup.py").read_text(encoding="utf-8")))


@pytest.fixture(autouse=True)
def standin(monkeypatch):
    launch_standin.install(monkeypatch)


def run(name, **arguments):
    return launch_standin.run(ROOT / "launch" / name, **arguments)


def nodes(context, executable=None):
    return [kwargs for kind, kwargs in context.processes if kind != "process" and executable in (None, kwargs["executable"])]


def commands(context):
    return [kwargs["cmd"] for kind, kwargs in context.processes if kind == "process"]


def parameter_of(node, name):
    """Value of a parameter that is given beside the files; a later one wins."""
    values = {}
    for given in node["parameters"]:
        values.update(given if isinstance(given, dict) else {})
    return values[name]


def test_the_launch_files_are_there():
    assert {p.name for p in LAUNCH} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_is_described_used_and_a_switch_has_its_choices(name):
    context = run(name, **EVERYTHING)
    assert len(context.declared) >= 10
    for argument in context.declared.values():
        assert len(argument.description) > 5, argument.name
        if argument.default_value in ("true", "false"):
            assert list(argument.choices) == ["true", "false"], argument.name
    assert context.used == set(context.declared)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_started_is_ours_by_an_entry_point_or_a_dependency(name):
    depends = {e.text for e in ET.parse(ROOT / "package.xml").getroot().iter("exec_depend")}
    context = run(name, **EVERYTHING)
    assert nodes(context)
    for node in nodes(context):
        if node["package"] == "mimicik_ros":
            assert node["executable"] in EXECUTABLES
        else:
            assert node["package"] in depends
    for command in commands(context):
        if isinstance(command[0], launch_standin.ExecutableInPackage):
            assert command[0].package == "mimicik_ros" and command[0].executable in EXECUTABLES
        else:
            assert command[:3] == ["ros2", "bag", "record"] and {"ros2bag", "rosbag2_storage_mcap"} <= depends


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_given_is_one_that_the_node_has(name):
    known = {"mimicik_node": set(config.parameters()), "mimicik_marker": set(config.parameters()),
             "mimicik_fake_arm": set(fake_arm._PARAMETERS), "robot_state_publisher": {"robot_description", "frame_prefix"},
             "static_transform_publisher": set(), "rviz2": set()}
    for node in nodes(run(name, **EVERYTHING)):
        for given in node["parameters"]:
            if isinstance(given, dict):
                assert set(given) <= known[node["executable"]] | {"use_sim_time"}
            else:
                full_name = "/" + "/".join(filter(None, (node["namespace"], node["name"])))
                assert config.load(given, full_name).robot.joint_names


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", ["true", "false"])
def test_the_time_is_simulated_for_all_or_for_none(name, value):
    assert {parameter_of(node, "use_sim_time") for node in nodes(run(name, use_sim_time=value, **EVERYTHING))} == {
        value == "true"}


@pytest.mark.parametrize("value", ["true", "false"])
def test_nodes_come_back_only_when_told_and_rviz_and_the_recorder_never(value):
    context = run("mimicik.launch.py", respawn=value, **EVERYTHING)
    for node in nodes(context):
        if node["executable"] in ("rviz2", "static_transform_publisher"):
            assert "respawn" not in node
        else:
            assert node["respawn"] is (value == "true") and node["respawn_delay"] == 2.0
    assert all("respawn" not in kwargs for kind, kwargs in context.processes if kind == "process")
    assert all("on_exit" not in kwargs for _, kwargs in context.processes), "the end of one ends no other"


def test_alone_it_starts_nothing_but_the_node():
    assert [(kind, kwargs["executable"]) for kind, kwargs in run("mimicik.launch.py").processes] == [
        ("lifecycle node", "mimicik_node")]


@pytest.mark.parametrize("extra", ["fake_arm", "state_publisher", "marker", "rviz", "record"])
def test_each_extra_is_started_when_asked_for(extra):
    wanted = {"fake_arm": "mimicik_fake_arm", "state_publisher": "robot_state_publisher", "marker": "mimicik_marker",
              "rviz": "rviz2"}
    context = run("mimicik.launch.py", **{extra: "true"})
    assert len(context.processes) == 2
    if extra == "record":
        assert commands(context)[0][:3] == ["ros2", "bag", "record"]
    else:
        assert len(nodes(context, wanted[extra])) == 1


@pytest.mark.parametrize("namespace", ["left", "/left", "left/"])
def test_a_namespace_takes_everything_of_the_arm_with_it(namespace):
    context = run("mimicik.launch.py", namespace=namespace, joint_states="measured", joint_command="/driver/in", **EVERYTHING)
    assert {node["namespace"] for node in nodes(context)} == {"left"}
    for node in nodes(context):
        assert node["executable"] in ("rviz2",) or dict(node["remappings"]) == {
            "joint_states": "measured", "joint_command": "/driver/in"}
    topics = commands(context)[0][commands(context)[0].index("--topics") + 1:]
    assert {"/left/measured", "/driver/in", "/left/mimicik/status", "/diagnostics", "/tf"} <= set(topics)
    assert all(topic.startswith("/") for topic in topics)


@pytest.mark.parametrize("output", ["joint_state", "float64_multi_array", "joint_trajectory"])
def test_the_fake_arm_takes_what_the_node_sends(tmp_path, output):
    path = tmp_path / "arm.yaml"
    path.write_text(f"/**:\n  ros__parameters:\n    output: {{type: {output}}}\n", encoding="utf-8")
    (arm,) = nodes(run("mimicik.launch.py", params_file=path, fake_arm="true"), "mimicik_fake_arm")
    assert parameter_of(arm, "command_type") == output


def test_the_vendors_home_is_singular_and_the_good_one_is_that_of_the_command_line():
    from mimicik_ros.cli.demo import HOMES

    for home in ("good", "vendor"):
        (arm,) = nodes(run("mimicik.launch.py", home=home, fake_arm="true"), "mimicik_fake_arm")
        assert parameter_of(arm, "home_rad") == list(HOMES[home])


def test_robot_state_publisher_has_the_urdf_that_the_node_is_configured_with(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text("/**:\n  ros__parameters:\n    robot: {urdf: urdf/airbot_play_e2b.urdf}\n", encoding="utf-8")
    (publisher,) = nodes(run("mimicik.launch.py", params_file=path, state_publisher="true"), "robot_state_publisher")
    assert parameter_of(publisher, "robot_description") == (ROOT / "urdf/airbot_play_e2b.urdf").read_text(encoding="utf-8")
    assert parameter_of(publisher, "frame_prefix") == ""


def test_an_argument_out_of_its_choices_is_refused():
    with pytest.raises(AssertionError, match="rviz: 'yes'"):
        run("demo.launch.py", rviz="yes")


def test_the_demo_starts_what_mimicik_demo_starts_and_drives_it():
    context = run("demo.launch.py", seconds="7", namespace="left", out="there")
    executables = [node["executable"] for node in nodes(context)]
    assert executables == ["mimicik_node", "mimicik_fake_arm", "robot_state_publisher", "mimicik_marker", "rviz2"]
    (command,) = commands(context)
    assert command[0] == launch_standin.ExecutableInPackage(executable="mimicik", package="mimicik_ros")
    from mimicik_ros.cli.main import _parse

    args = _parse([str(part) for part in command[1:]])
    assert (args.attach, args.seconds, args.namespace, args.out) == (True, 7.0, "/left", "there")


def test_the_demo_can_be_left_to_the_handle_and_can_end_by_itself():
    assert not commands(run("demo.launch.py", motion="false"))
    ends = {stay: [kwargs["on_exit"] for kind, kwargs in run("demo.launch.py", stay=stay).processes if kind == "process"]
            for stay in ("true", "false")}
    assert ends["true"] == [[]] and len(ends["false"][0]) == 1 and isinstance(ends["false"][0][0], launch_standin.Shutdown)


def test_two_arms_are_two_namespaces_with_their_own_frames_and_one_model():
    context = run("dual_arm.launch.py", fake_arm="true")
    for executable in ("mimicik_node", "mimicik_fake_arm", "mimicik_marker", "robot_state_publisher"):
        assert [node["namespace"] for node in nodes(context, executable)] == ["left", "right"]
    assert [parameter_of(n, "frame_prefix") for n in nodes(context, "robot_state_publisher")] == ["left/", "right/"]
    configs = {n["namespace"]: config.load(n["parameters"][0], f"/{n['namespace']}/mimicik")
               for n in nodes(context, "mimicik_node")}
    assert configs["left"].policy == configs["right"].policy
    assert len(nodes(context, "rviz2")) == 1


def test_the_arms_stand_where_the_bench_has_them():
    # TOK2: both 0.7895 m up, 0.39275 m ahead, 0.2736 m to their side, each turned an eighth of a turn to the other.
    wanted = {"left": ((0.39275, 0.2736, 0.7895), -np.pi / 4), "right": ((0.39275, -0.2736, 0.7895), np.pi / 4)}
    for node in nodes(run("dual_arm.launch.py"), "static_transform_publisher"):
        options = dict(zip(node["arguments"][::2], node["arguments"][1::2], strict=True))
        side = node["namespace"]
        xyz, yaw = wanted.pop(side)
        assert [float(options[f"--{axis}"]) for axis in "xyz"] == pytest.approx(xyz)
        assert [float(options[f"--{name}"]) for name in ("roll", "pitch", "yaw")] == pytest.approx((0.0, 0.0, yaw), abs=1e-5)
        assert (options["--frame-id"], options["--child-frame-id"]) == ("world", f"{side}/base_link")
    assert not wanted


def test_the_nodes_of_both_arms_take_the_same_sections_as_the_launch_file(ros):
    from mimicik_ros.ros.node import MimicIKNode

    path = ROOT / "config" / "dual_airbot.yaml"
    for side in ("left", "right"):
        node = MimicIKNode(namespace=f"/{side}", cli_args=["--ros-args", "--params-file", str(path)])
        try:
            assert parameters.current(node) == config.load(path, f"/{side}/mimicik")
            assert node.config.robot.base_frame_id == f"{side}/base_link"
        finally:
            node.destroy_node()


def test_the_stand_in_fails_for_an_argument_that_nobody_declared(tmp_path):
    path = tmp_path / "bad.launch.py"
    path.write_text("from launch import LaunchDescription\nfrom launch_ros.actions import Node\n"
                    "from launch.substitutions import LaunchConfiguration\n"
                    "def generate_launch_description():\n"
                    "    return LaunchDescription([Node(executable='x', name=LaunchConfiguration('absent'))])\n",
                    encoding="utf-8")
    with pytest.raises(AssertionError, match="'absent' is used but not declared"):
        launch_standin.run(path)
