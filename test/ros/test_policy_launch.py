"""policy.launch.py: it compiles everywhere and names files that are there; where launch is installed it is really built."""

import importlib.util
import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TEXT = (EXAMPLES / "policy.launch.py").read_text(encoding="utf-8")


def test_it_compiles_and_starts_scripts_that_are_there():
    assert "generate_launch_description" in compile(TEXT, "policy.launch.py", "exec").co_names
    started = re.findall(r'_HERE / "([a-z_.]+)"', TEXT)
    assert set(started) == {"policy_chunks.py", "openpi_policy.py", "openpi.yaml"}
    assert all((EXAMPLES / name).is_file() for name in started)


def test_its_arguments_have_descriptions_and_choices():
    pytest.importorskip("launch_ros", reason="launch_ros comes with a ROS 2 distribution, not from pip")
    spec = importlib.util.spec_from_file_location("policy_launch", EXAMPLES / "policy.launch.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.generate_launch_description().get_launch_arguments_with_include_launch_description_actions()
    arguments = {argument.name: argument for argument, _ in found}
    assert arguments.keys() >= {"kind", "namespace", "policy", "params_file"}
    assert all(argument.description for argument in arguments.values())
    assert list(arguments["kind"].choices) == ["callable", "openpi"]
