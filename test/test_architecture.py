"""The rings hold: core <- {ros, training, evaluation} <- cli, and the core lives without ROS and without torch."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "mimicik_ros"
SOURCES = sorted(PACKAGE.rglob("*.py"))
MIDDLE = {"ros", "training", "evaluation"}
CORE_MAY_IMPORT = {"numpy", "pinocchio", "onnxruntime", "urdf_parser_py", "mimicik_ros"}
CORE_MAY_USE = ("mimicik_ros.core", "mimicik_ros.config", "mimicik_ros.share")


def imports(path):
    """Full dotted names that a file imports, at any depth of its code."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def ring(path):
    """Name of the sub-package that a file lies in; empty for the package's own files."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def rings_used(names):
    return {name.split(".")[1] for name in names if name.startswith("mimicik_ros.")}


def relative(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", [p for p in SOURCES if ring(p) == "core"], ids=relative)
def test_core_imports_only_numpy_pinocchio_onnxruntime_and_the_urdf_parser(path):
    names = imports(path)
    outside = {name.split(".")[0] for name in names} - set(sys.stdlib_module_names) - CORE_MAY_IMPORT
    assert not outside
    ours = {name for name in names if name.startswith("mimicik_ros.")}
    assert all(name.startswith(CORE_MAY_USE) for name in ours)


@pytest.mark.parametrize("path", [p for p in SOURCES if ring(p) in MIDDLE], ids=relative)
def test_the_middle_rings_import_neither_each_other_nor_the_command_line(path):
    assert not rings_used(imports(path)) & ((MIDDLE | {"cli"}) - {ring(path)})


@pytest.mark.parametrize("path", [p for p in SOURCES if ring(p) == ""], ids=relative)
def test_the_package_itself_imports_no_outer_ring(path):
    assert not rings_used(imports(path)) & (MIDDLE | {"cli"})


@pytest.mark.parametrize("path", [p for p in SOURCES if ring(p) not in ("ros", "cli")], ids=relative)
def test_ros_is_imported_only_in_the_ros_ring(path):
    ros = {"rclpy", "sensor_msgs", "geometry_msgs", "trajectory_msgs", "nav_msgs", "std_msgs", "std_srvs", "diagnostic_msgs",
           "lifecycle_msgs", "visualization_msgs", "interactive_markers", "tf2_ros"}
    assert not {name.split(".")[0] for name in imports(path)} & ros


@pytest.mark.parametrize("path", [p for p in SOURCES if ring(p) not in ("training", "cli")], ids=relative)
def test_torch_is_imported_only_in_the_training_ring(path):
    assert "torch" not in {name.split(".")[0] for name in imports(path)}


def test_core_and_the_command_line_import_with_ros_and_torch_blocked():
    modules = [f"mimicik_ros.core.{p.stem}" for p in (PACKAGE / "core").glob("*.py") if p.stem != "__init__"]
    if (PACKAGE / "cli" / "main.py").exists():
        modules.append("mimicik_ros.cli.main")
    code = f"""
import importlib, sys
for name in ("rclpy", "torch", "matplotlib", "sensor_msgs"):
    sys.modules[name] = None
for name in {modules!r}:
    importlib.import_module(name)
print("imported", len({modules!r}))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["imported", str(len(modules))]


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_no_file_is_longer_than_300_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_every_file_says_in_its_first_line_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_nothing_is_called_utils():
    assert not [p for p in SOURCES if p.stem in ("utils", "util", "helpers", "misc", "common")]
