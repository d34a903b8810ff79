"""What the package needs of a URDF beyond Pinocchio: joint names, types, axes, limits and mimics."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass

from urdf_parser_py import urdf as urdf_parser

from mimicik_ros.core.errors import RobotError


@dataclass(frozen=True)
class JointDescription:
    """One movable joint as the URDF gives it. velocity is None where absent or 0 (both mean "not given")."""

    name: str
    type: str
    axis: tuple[float, float, float]
    lower: float
    upper: float
    velocity: float | None
    mimic: str | None


def read_joints(xml: bytes, origin: str) -> dict[str, JointDescription]:
    """Movable joints of a URDF by name, in file order.

    Args:
        xml: the URDF as bytes (a str with an encoding declaration is refused by lxml).
        origin: name used in error messages.

    Raises:
        RobotError: xml is no URDF.
    """
    noise = io.StringIO()
    try:
        with contextlib.redirect_stderr(noise):  # the parser prints every tag that it does not know
            robot = urdf_parser.URDF.from_xml_string(xml)
    except Exception as error:  # the parser raises ParseError, AssertionError, KeyError and others
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise RobotError(f"{origin}: not a readable URDF: {reason}") from error
    return {joint.name: _describe(joint) for joint in robot.joints if joint.type != "fixed"}


def _describe(joint: urdf_parser.Joint) -> JointDescription:
    limit = joint.limit
    x, y, z = (float(v) for v in (joint.axis or (1.0, 0.0, 0.0)))
    norm = (x * x + y * y + z * z) ** 0.5 or 1.0
    return JointDescription(
        name=joint.name,
        type=joint.type,
        axis=(x / norm, y / norm, z / norm),
        lower=float(limit.lower) if limit is not None and limit.lower is not None else 0.0,
        upper=float(limit.upper) if limit is not None and limit.upper is not None else 0.0,
        velocity=float(limit.velocity) if limit is not None and limit.velocity else None,
        mimic=joint.mimic.joint if joint.mimic is not None else None,
    )
