"""Shapes of a robot as its URDF draws them: boxes, cylinders and spheres, for whoever shows the arm."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass

import numpy as np
from urdf_parser_py import urdf as urdf_parser

from mimicik_ros.core import se3
from mimicik_ros.core.types import Array

GREY = (0.6, 0.62, 0.66)
BALL_RADIUS_M = 0.02  # stands for a link that only has meshes


@dataclass(frozen=True)
class Shape:
    """One visual of a link.

    Attributes:
        link: name of the link.
        kind: box (size_m = x, y, z), cylinder (radius, length; axis z) or sphere (radius).
        size_m: extents by kind.
        T_link_shape: (4, 4) centre of the shape in the link's frame.
        rgb: colour, 0 .. 1.
        stand_in: the URDF has only meshes there, and this ball marks the link's origin.
    """

    link: str
    kind: str
    size_m: tuple[float, ...]
    T_link_shape: Array
    rgb: tuple[float, float, float] = GREY
    stand_in: bool = False


def read_shapes(xml: bytes) -> tuple[Shape, ...]:
    """Shapes of every link of a URDF that `core.urdf` can read. Meshes are not loaded; a link of meshes alone gets a ball."""
    with contextlib.redirect_stderr(io.StringIO()):  # the parser prints every tag that it does not know
        robot = urdf_parser.URDF.from_xml_string(xml)
    colours = {m.name: _rgb(m) for m in robot.materials if m.color is not None}
    out: list[Shape] = []
    for link in robot.links:
        drawn = [shape for visual in link.visuals if (shape := _shape(link.name, visual, colours)) is not None]
        if link.visuals and not drawn:
            drawn = [Shape(link.name, "sphere", (BALL_RADIUS_M,), np.eye(4), stand_in=True)]
        out += drawn
    return tuple(out)


def _shape(link: str, visual: urdf_parser.Visual, colours: dict[str, tuple[float, float, float]]) -> Shape | None:
    geometry = visual.geometry
    if isinstance(geometry, urdf_parser.Box):
        kind, size = "box", tuple(float(v) for v in geometry.size)
    elif isinstance(geometry, urdf_parser.Cylinder):
        kind, size = "cylinder", (float(geometry.radius), float(geometry.length))
    elif isinstance(geometry, urdf_parser.Sphere):
        kind, size = "sphere", (float(geometry.radius),)
    else:
        return None
    material = visual.material
    rgb = GREY
    if material is not None:
        rgb = _rgb(material) if material.color is not None else colours.get(material.name, GREY)
    return Shape(link, kind, size, _pose(visual.origin), rgb)


def _rgb(material: urdf_parser.Material) -> tuple[float, float, float]:
    r, g, b = (float(v) for v in material.color.rgba[:3])
    return (r, g, b)


def _pose(origin: urdf_parser.Pose | None) -> Array:
    """URDF origin, whose rpy turns about the fixed axes x, y, z in this order."""
    if origin is None:
        return np.eye(4)
    turns = [se3.rotation_exp(angle * axis) for angle, axis in zip(origin.rpy or (0.0,) * 3, np.eye(3), strict=True)]
    return se3.pose(turns[2] @ turns[1] @ turns[0], np.array(origin.xyz or (0.0,) * 3, dtype=float))
