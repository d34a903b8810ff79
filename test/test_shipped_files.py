"""What is installed is complete, loads, and carries nothing of the machine that it was made on."""

import hashlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import mimicik_ros
from mimicik_ros.core.kinematics import Kinematics

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ("launch", "config", "urdf", "models", "examples")
JOINTS = tuple(f"joint{i}" for i in range(1, 7))
TOOL_AT_ZERO = {"bare": (0.1265, 0.0, 0.2146), "e2b": (0.1889, 0.0, 0.2146), "g2": (0.2866, 0.0, 0.2146)}


def committed():
    """Files under version control, or in a source archive every file that is no product of a run."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0 and done.stdout:
        return [ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()]
    skipped = {".venv", "build", "install", "log", "dist", "demo_out", "__pycache__", ".git"}
    return [p for p in ROOT.rglob("*") if p.is_file() and not skipped & set(p.relative_to(ROOT).parts)]


def setup_value(flag):
    done = subprocess.run([sys.executable, "setup.py", "-q", flag], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip().splitlines()[-1] if done.returncode == 0 else done.stderr


def test_package_xml_is_format_3_ament_python_with_the_code_s_version():
    package = ET.parse(ROOT / "package.xml").getroot()
    assert package.get("format") == "3"
    assert package.findtext("export/build_type") == "ament_python"
    assert package.findtext("name") == "mimicik_ros"
    assert package.findtext("license") == "Apache-2.0"
    assert package.findtext("version") == mimicik_ros.__version__


def test_catkin_pkg_accepts_package_xml():
    parser = pytest.importorskip("catkin_pkg.package", reason="catkin_pkg comes with the dev extra")
    package = parser.parse_package(str(ROOT / "package.xml"))
    package.validate()
    assert [str(lic) for lic in package.licenses] == ["Apache-2.0"]


def test_setup_py_reads_the_version_without_importing_the_package():
    assert setup_value("--version") == mimicik_ros.__version__


def test_every_imported_ros_package_is_a_dependency_in_package_xml():
    package = ET.parse(ROOT / "package.xml").getroot()
    declared = {e.text for e in package.iter() if e.tag in ("depend", "exec_depend")}
    used = set()
    for path in [*(ROOT / "mimicik_ros").rglob("*.py"), *(ROOT / "launch").glob("*.py"), *(ROOT / "examples").glob("*.py")]:
        used |= set(re.findall(r"^\s*(?:from|import) ([a-z0-9_]+)", path.read_text(encoding="utf-8"), re.M))
    ros = {n for n in used if n.endswith(("_msgs", "_srvs", "_interfaces")) or n in
           ("rclpy", "tf2_ros", "launch", "launch_ros", "interactive_markers", "sensor_msgs_py", "ament_index_python")}
    assert ros <= declared


def test_every_file_of_the_shipped_folders_is_installed(tmp_path):
    captured = tmp_path / "data_files.txt"
    code = f"""
import setuptools
def record(**kw):
    open({str(captured)!r}, "w").write("\\n".join(f"{{d}}/{{f.split('/')[-1]}}" for d, fs in kw["data_files"] for f in fs))
setuptools.setup = record
exec(compile(open("setup.py").read(), "setup.py", "exec"), {{"__file__": "setup.py", "__name__": "__main__"}})
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)
    installed = set(captured.read_text(encoding="utf-8").splitlines())
    wanted = {f"share/mimicik_ros/{p.relative_to(ROOT)}" for p in committed() if p.relative_to(ROOT).parts[0] in SHIPPED}
    assert wanted | {"share/mimicik_ros/package.xml", "share/ament_index/resource_index/packages/mimicik_ros"} <= installed


@pytest.mark.parametrize("tool", sorted(TOOL_AT_ZERO))
def test_every_shipped_urdf_loads_and_its_tool_lies_where_the_table_says(tool):
    kinematics = Kinematics(ROOT / f"urdf/airbot_play_{tool}.urdf", "base_link", "end_link", JOINTS)
    T = kinematics.fk(np.zeros(6))
    assert np.allclose(T[:3, 3], TOOL_AT_ZERO[tool], atol=6e-5)
    assert np.allclose(T[:3, :3], np.eye(3), atol=1e-5)  # the table itself rounds: 1.9575 - 0.3867 is pi/2 to 4e-6


def test_no_urdf_needs_a_mesh():
    assert all(b"<mesh" not in path.read_bytes() for path in (ROOT / "urdf").glob("*.urdf"))


@pytest.mark.parametrize("path", [p for p in committed() if p.suffix not in (".png", ".onnx", ".pyc")],
                         ids=lambda p: str(p.relative_to(ROOT)))
def test_no_committed_file_names_a_registry_host_or_a_path_of_one_machine(path):
    text = path.read_text(encoding="utf-8")
    hosts = re.findall(r"https?://[^\s'\"<>)]*(?:pypi|pythonhosted|simple/|download\.pytorch)[^\s'\"<>)]*", text)
    machine = re.findall(r"(?<![\w.$}])/(?:work|home|root|Users)/[A-Za-z]\S*", text)
    if path.name == "test_shipped_files.py":
        hosts, machine = [], []
    assert not hosts
    assert not machine


def test_the_pinned_lists_pin_every_line_and_name_no_host():
    for name in ("requirements.txt", "requirements-test.txt"):
        lines = [line for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
        assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line) for line in lines), name


def test_the_test_list_contains_the_demo_list():
    demo, test = ((ROOT / n).read_text(encoding="utf-8").splitlines() for n in ("requirements.txt", "requirements-test.txt"))
    assert set(demo) <= set(test)
    assert not [line for line in demo if line.startswith("torch")]


def test_the_two_builds_of_onnxruntime_are_never_asked_for_together():
    for name in ("requirements.txt", "requirements-test.txt"):
        assert "onnxruntime-gpu" not in (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted((ROOT / "models").glob("*.onnx")), ids=lambda p: p.name)
def test_every_model_has_the_hash_that_its_readme_gives(path):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert digest in (ROOT / "models/README.md").read_text(encoding="utf-8")
