"""The robot's URDF as other libraries want it: bare kinematics, and every joint but ours fixed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

from mimicik_ros.core.errors import RobotError

MASS_KG, INERTIA_KG_M2 = "1", "0.01"  # kinematics does not depend on them


def plain_urdf(path: Path, joint_names: tuple[str, ...], mass: bool) -> str:
    """XML of a URDF without shapes; joints that are not in joint_names are fixed at 0, as in core.kinematics.

    Args:
        path: the URDF file.
        joint_names: joints that stay movable.
        mass: give every link one (PyBullet warns where one has none, KDL where the root has one).

    Raises:
        RobotError: the file cannot be read.
    """
    try:
        root = ElementTree.fromstring(path.read_bytes())
    except (OSError, ElementTree.ParseError) as error:
        raise RobotError(f"{path}: cannot be read for a baseline: {error}; give a plain URDF file") from error
    for joint in root.findall("joint"):
        if joint.get("name") not in joint_names:
            joint.set("type", "fixed")
    for link in root.findall("link"):
        for part in list(link):
            link.remove(part)
        if mass:
            _add_mass(link)
    return ElementTree.tostring(root, encoding="unicode")


@contextmanager
def plain_urdf_file(path: Path, joint_names: tuple[str, ...]) -> Iterator[Path]:
    """The same with masses, as a file until the block ends, for libraries that read files only. Raises RobotError."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "arm.urdf"
        file.write_text(plain_urdf(path, joint_names, mass=True), encoding="utf-8")
        yield file


def _add_mass(link: ElementTree.Element) -> None:
    inertial = ElementTree.SubElement(link, "inertial")
    ElementTree.SubElement(inertial, "mass", value=MASS_KG)
    moments = {"ixx": INERTIA_KG_M2, "iyy": INERTIA_KG_M2, "izz": INERTIA_KG_M2, "ixy": "0", "ixz": "0", "iyz": "0"}
    ElementTree.SubElement(inertial, "inertia", moments)
