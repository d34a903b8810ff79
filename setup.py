"""Package build for pip and for colcon (ament_python). Extras are documented in the README."""

import re
from pathlib import Path

from setuptools import find_packages, setup

NAME = "mimicik_ros"
ROOT = Path(__file__).resolve().parent
SHIPPED = ("launch", "config", "urdf", "models")


def version() -> str:
    """The version, read as text: importing the package would need its dependencies."""
    match = re.search(r'^__version__ = "([^"]+)"', (ROOT / NAME / "__init__.py").read_text(encoding="utf-8"), re.M)
    if match is None:
        raise RuntimeError("mimicik_ros/__init__.py has no __version__")
    return match.group(1)


def data_files() -> list[tuple[str, list[str]]]:
    """Files for share/mimicik_ros, where ROS tools and `mimicik_ros.share` look."""
    entries = [("share/ament_index/resource_index/packages", [f"resource/{NAME}"]), (f"share/{NAME}", ["package.xml"])]
    for folder in SHIPPED:
        files = sorted(str(p.relative_to(ROOT)) for p in (ROOT / folder).glob("*") if p.is_file())
        entries.append((f"share/{NAME}/{folder}", files))
    return entries


EXTRAS = {
    # Never beside onnxruntime: both own the same module. Uninstall onnxruntime first; `mimicik doctor` checks.
    "gpu": ["onnxruntime-gpu>=1.18"],
    "ros": [
        "ros-jazzy-rclpy", "ros-jazzy-rmw-fastrtps-cpp", "ros-jazzy-sensor-msgs", "ros-jazzy-geometry-msgs",
        "ros-jazzy-trajectory-msgs", "ros-jazzy-visualization-msgs", "ros-jazzy-diagnostic-msgs", "ros-jazzy-nav-msgs",
        "ros-jazzy-std-srvs", "ros-jazzy-lifecycle-msgs", "matplotlib",
    ],
    "data": ["pyarrow", "rosbags", "matplotlib", "tqdm"],
    "train": ["torch>=2.9", "onnx", "onnxscript", "tqdm", "pyarrow", "tensorboard"],
    "eval": ["matplotlib", "tqdm", "rosbags"],
    "baselines": ["pin-pink", "qpsolvers", "daqp", "pytracik", "pybullet"],
    "web": ["viser>=1.1,<2", "websockets>=15"],
    "dev": ["pytest", "hypothesis", "ruff", "mypy", "types-PyYAML", "colcon-common-extensions", "colcon-ros", "build",
            "playwright"],
}

setup(
    name=NAME,
    version=version(),
    description="Real-time learned inverse kinematics for ROS 2, checked by forward kinematics on every tick",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    maintainer="mimicik_ros maintainers",
    license="Apache-2.0",
    python_requires=">=3.10",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["**/*.csv"]},
    data_files=data_files(),
    install_requires=["setuptools", "numpy>=1.26", "pyyaml", "urdf-parser-py", "pin", "onnxruntime>=1.18"],
    extras_require=EXTRAS,
    zip_safe=False,
    entry_points={
        "console_scripts": [
            "mimicik = mimicik_ros.cli.main:main",
            "mimicik_node = mimicik_ros.ros.node:main",
            "mimicik_fake_arm = mimicik_ros.ros.fake_arm:main",
        ],
    },
)
