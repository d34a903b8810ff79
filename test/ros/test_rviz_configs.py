"""Every topic, type and plugin in the RViz configurations is one that the nodes publish and that RViz has."""

from pathlib import Path

import launch_standin
import pytest
import rclpy
import yaml
from live_graph import WAIT_S
from marker_rviz import StandInServer
from rclpy.executors import SingleThreadedExecutor

from mimicik_ros.ros.fake_arm import FakeArm
from mimicik_ros.ros.marker_node import MarkerNode
from mimicik_ros.ros.node import MimicIKNode

CONFIG = Path(__file__).resolve().parents[2] / "config"
# Message that a display of RViz (Jazzy, plugins_description.xml of rviz_default_plugins) subscribes to; None: no topic.
PLUGINS = {
    "rviz_default_plugins/Grid": None, "rviz_default_plugins/RobotModel": "std_msgs/msg/String",
    "rviz_default_plugins/InteractiveMarkers": "visualization_msgs/msg/InteractiveMarkerUpdate",
    "rviz_default_plugins/Marker": "visualization_msgs/msg/Marker", "rviz_default_plugins/Pose": "geometry_msgs/msg/PoseStamped",
    "rviz_default_plugins/TwistStamped": "geometry_msgs/msg/TwistStamped", "rviz_default_plugins/Path": "nav_msgs/msg/Path",
}
OTHERS = {"rviz_common/Displays", "rviz_common/Views", "rviz_default_plugins/Interact", "rviz_default_plugins/MoveCamera",
          "rviz_default_plugins/Orbit", "", "rviz_common/Group"}
# By programs that are not ours: robot_state_publisher, and whatever policy sends paths.
FOREIGN = {"robot_description": "std_msgs/msg/String", "mimicik/target_path": "nav_msgs/msg/Path"}
SPACES = {"demo.rviz": ("",), "dual_arm.rviz": ("/left", "/right")}


def read(name):
    return yaml.safe_load((CONFIG / name).read_text(encoding="utf-8"))


def displays(name):
    """(class, topic with the update topic of a marker's namespace, display) of each display, groups opened."""
    found = []

    def walk(entries):
        for entry in entries:
            if "Displays" in entry:
                walk(entry["Displays"])
                continue
            topic = entry.get("Topic", entry.get("Description Topic", {})).get("Value")
            if "Interactive Markers Namespace" in entry:
                topic = entry["Interactive Markers Namespace"] + "/update"
            found.append((entry["Class"], topic, entry))

    walk(read(name)["Visualization Manager"]["Displays"])
    return found


def classes(value):
    if isinstance(value, dict):
        return {v for k, v in value.items() if k == "Class"} | {c for v in value.values() for c in classes(v)}
    return {c for v in value for c in classes(v)} if isinstance(value, list) else set()


def absolute(topic, space):
    return topic if topic.startswith("/") else f"{space}/{topic}"


@pytest.fixture(params=sorted(SPACES))
def published(request, ros):
    """Name of a configuration, and the topics with their types while our nodes run in its namespaces."""
    executor, nodes = SingleThreadedExecutor(), []
    for space in SPACES[request.param]:
        nodes += [MimicIKNode(namespace=space), FakeArm(namespace=space), MarkerNode(StandInServer, namespace=space)]
        assert nodes[-3].trigger_configure()
    listener = rclpy.create_node("listener")
    for node in (*nodes, listener):
        executor.add_node(node)
    wanted = {absolute(t, s) for _, t, _ in displays(request.param) for s in SPACES[request.param][:1] if t}
    topics = {}

    def heard():
        topics.update({name: types[0] for name, types in listener.get_topic_names_and_types()})
        return len(wanted & set(topics)) >= len(wanted) - len(FOREIGN) * len(SPACES[request.param])

    for _ in range(int(WAIT_S / 0.02)):
        if heard():
            break
        executor.spin_once(timeout_sec=0.02)
    yield request.param, topics
    executor.shutdown()
    for node in (*nodes, listener):
        node.destroy_node()


def test_every_topic_is_there_with_the_type_that_its_display_takes(published):
    name, topics = published
    topics |= {f"{space}/{topic}": kind for space in SPACES[name] for topic, kind in FOREIGN.items()}
    shown = [(cls, absolute(topic, SPACES[name][0]) if topic else None) for cls, topic, _ in displays(name)]
    assert len(shown) > 6 * len(SPACES[name])
    for cls, topic in shown:
        assert (topic is None) == (PLUGINS[cls] is None)
        if topic is not None:
            assert topics.get(topic) == PLUGINS[cls], f"{cls} shows {topic}"


def test_every_topic_that_the_launch_file_records_is_there(published, monkeypatch):
    name, topics = published
    launch_standin.install(monkeypatch)
    recorded = launch_standin.load(CONFIG.parent / "launch" / "mimicik.launch.py").RECORDED
    for space in SPACES[name]:
        assert {absolute(topic, space) for topic in recorded} <= set(topics) | {"/tf", "/tf_static"}


@pytest.mark.parametrize("name", sorted(SPACES))
def test_every_arm_shows_robot_marker_target_governed_target_residual_and_path(name):
    wanted = {"robot_description", "mimicik_marker/update", "mimicik/target_pose", "mimicik/governed_target",
              "mimicik/residual", "mimicik/target_path"}
    topics = {topic for _, topic, entry in displays(name) if entry["Enabled"]}
    for space in SPACES[name]:
        assert {f"{space}/{topic}" if space else topic for topic in wanted} <= topics


@pytest.mark.parametrize("name", sorted(SPACES))
def test_every_plugin_is_one_that_rviz_has_and_the_handle_can_be_grasped(name):
    content = read(name)
    assert classes(content) <= set(PLUGINS) | OTHERS
    assert {"Class": "rviz_default_plugins/Interact"} in content["Visualization Manager"]["Tools"]


@pytest.mark.parametrize("name", sorted(SPACES))
def test_best_effort_displays_hear_whoever_sends(name):
    for cls, topic, entry in displays(name):
        if topic and topic.split("/")[-1] in ("target_pose", "target_path"):
            assert entry["Topic"]["Reliability Policy"] == "Best Effort", cls


def test_frames_are_those_of_the_configurations():
    from mimicik_ros import config

    assert read("demo.rviz")["Visualization Manager"]["Global Options"]["Fixed Frame"] == config.load(
        CONFIG / "airbot_play.yaml").robot.base_frame_id
    fixed = read("dual_arm.rviz")["Visualization Manager"]["Global Options"]["Fixed Frame"]
    prefixes = [entry["TF Prefix"] for cls, _, entry in displays("dual_arm.rviz") if cls.endswith("RobotModel")]
    for side, prefix in zip(("left", "right"), prefixes, strict=True):
        arm = config.load(CONFIG / "dual_airbot.yaml", f"/{side}/mimicik")
        assert arm.mount.frame == fixed
        assert arm.robot.frame_prefix == f"{prefix}/"  # RViz adds the slash itself
