"""Our reading of a parameter file's sections is rcl's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from test_parameter_file import FILE, WANTED


@pytest.mark.parametrize("node", WANTED)
def test_rclpy_gives_a_node_the_same_parameters(node, tmp_path):
    path = tmp_path / "sections.yaml"
    path.write_text(FILE, encoding="utf-8")
    namespace, _, name = node.rpartition("/")
    code = f"""
import json, rclpy
rclpy.init(args=["--ros-args", "--params-file", {str(path)!r}])
node = rclpy.create_node({name!r}, namespace={namespace or "/"!r})
print(json.dumps({{k: v.value for k, v in node._parameter_overrides.items()}}))
rclpy.shutdown()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True,
                          env={**os.environ, "ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"})
    assert json.loads(done.stdout) == WANTED[node]
