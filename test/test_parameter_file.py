"""Sections of a parameter file go to the nodes that rcl would give them to."""

import pytest
import yaml

from mimicik_ros import config, parameter_file
from mimicik_ros.core.errors import ConfigError

FILE = """
/left/mimicik:
  ros__parameters: {exact: 1, who: exact}
left:
  mimicik:
    ros__parameters: {nested: 1}
  "*":
    ros__parameters: {one_token: 1}
/left/**:
  ros__parameters: {who: left, robot: {frame_prefix: left/}}
"*":
  ros__parameters: {bare_token: 1}
/**:
  ros__parameters: {common: 1}
/left/**/mimicik:
  ros__parameters: {middle: 1}
"""
# Written down from what rclpy 7.1.6 gives these nodes; test/ros/test_parameter_sections.py asks rclpy again.
WANTED = {
    "/left/mimicik": {"exact": 1, "who": "left", "nested": 1, "one_token": 1, "robot.frame_prefix": "left/", "common": 1,
                      "middle": 1},
    "/left/deep/mimicik": {"who": "left", "robot.frame_prefix": "left/", "common": 1, "middle": 1},
    "/right/mimicik": {"common": 1},
    "/mimicik": {"bare_token": 1, "common": 1},
}


@pytest.mark.parametrize("node", WANTED)
def test_a_node_gets_the_sections_that_match_it_and_the_later_wins(node):
    assert parameter_file.for_node(yaml.safe_load(FILE), node) == WANTED[node]


def test_a_section_without_parameters_is_not_the_same_as_none():
    content = {"/right/empty": {"ros__parameters": None}}
    assert parameter_file.for_node(content, "/right/empty") == {}
    assert parameter_file.for_node(content, "/right/other") is None


@pytest.mark.parametrize(("pattern", "node", "wanted"), [
    ("/**", "/mimicik", True), ("/**", "/left/mimicik", True), ("/*", "/left/mimicik", False), ("/*", "/mimicik", True),
    ("mimicik", "/mimicik", True), ("/left/**", "/left/a/b", True), ("/left/**", "/lefty/a", False),
    ("/**/mimicik", "/mimicik", True), ("/mimi.ik", "/mimicik", False)])
def test_patterns_stand_for_tokens_of_the_name(pattern, node, wanted):
    assert parameter_file.matches(pattern, node) is wanted


def test_the_configuration_of_a_node_is_that_of_its_sections(tmp_path):
    path = tmp_path / "two.yaml"
    path.write_text("/**:\n  ros__parameters:\n    servo: {rate_hz: 25.0}\n"
                    "/left/**:\n  ros__parameters:\n    robot: {frame_prefix: left/}\n", encoding="utf-8")
    left, right = config.load(path, "/left/mimicik"), config.load(path, "/right/mimicik")
    assert (left.servo.rate_hz, left.robot.base_frame_id) == (25.0, "left/base_link")
    assert (right.servo.rate_hz, right.robot.base_frame_id) == (25.0, "base_link")


def test_a_file_without_a_section_for_the_node_is_refused_with_those_that_it_has(tmp_path):
    path = tmp_path / "other.yaml"
    path.write_text("/left/mimicik:\n  ros__parameters: {}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"no section for the node /mimicik, only /left/mimicik"):
        config.load(path)


@pytest.mark.parametrize("key", ["xyz_m", "rpy_rad"])
def test_a_mount_has_three_values(key):
    with pytest.raises(ConfigError, match=rf"mount\.{key} has 2 values; give three"):
        config.from_flat({f"mount.{key}": [0.0, 1.0]})
