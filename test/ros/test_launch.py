"""Launch files: they compile everywhere; where launch_ros is installed they are really built."""

import importlib.util
from pathlib import Path

import pytest

LAUNCH = sorted((Path(__file__).resolve().parents[2] / "launch").glob("*.launch.py"))
ARGUMENTS = {"mimicik.launch.py": {"namespace", "params_file", "joint_command", "joint_states"},
             "demo.launch.py": {"namespace", "params_file", "home", "rviz"}}


def load(path):
    spec = importlib.util.spec_from_file_location(path.name.split(".", maxsplit=1)[0] + "_launch", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_launch_files_are_there():
    assert {p.name for p in LAUNCH} >= set(ARGUMENTS)


@pytest.mark.parametrize("path", LAUNCH, ids=lambda p: p.name)
def test_a_launch_file_compiles_and_defines_its_entry_point(path):
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    assert "generate_launch_description" in code.co_names


@pytest.mark.parametrize("path", LAUNCH, ids=lambda p: p.name)
def test_a_launch_description_declares_its_arguments(path):
    pytest.importorskip("launch_ros", reason="launch_ros comes with a ROS 2 distribution, not from pip")
    description = load(path).generate_launch_description()
    assert {a.name for a, _ in description.get_launch_arguments_with_include_launch_description_actions()} >= (
        ARGUMENTS.get(path.name, set()))
