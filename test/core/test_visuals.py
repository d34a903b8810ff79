"""Shapes of a URDF, placed as the format says."""

import numpy as np
import pytest

from mimicik_ros.core.visuals import BALL_RADIUS_M, GREY, read_shapes

URDF = """<robot name="r">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="a">
    <visual><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><geometry><box size="0.1 0.2 0.3"/></geometry><material name="red"/></visual>
    <visual><geometry><cylinder radius="0.4" length="0.5"/></geometry></visual>
    <visual><geometry><sphere radius="0.6"/></geometry><material name="own"><color rgba="0 0.5 1 1"/></material></visual>
  </link>
  <link name="b"><visual><geometry><mesh filename="package://nowhere/b.stl"/></geometry></visual></link>
  <link name="c"/>
  <joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>
  <joint name="k" type="fixed"><parent link="a"/><child link="c"/></joint>
</robot>"""


@pytest.fixture
def shapes():
    return read_shapes(URDF.encode())


def test_kinds_sizes_and_colours_are_those_of_the_file(shapes):
    assert [(s.link, s.kind, s.size_m, s.rgb) for s in shapes[:3]] == [
        ("a", "box", (0.1, 0.2, 0.3), (1.0, 0.0, 0.0)), ("a", "cylinder", (0.4, 0.5), GREY),
        ("a", "sphere", (0.6,), (0.0, 0.5, 1.0))]


def test_rpy_turns_about_the_fixed_axes_roll_first(shapes):
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(a), np.sin(a)) for a in (0.1, 0.2, 0.3))
    wanted = [[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
              [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], [-sp, cp * sr, cp * cr]]
    assert np.allclose(shapes[0].T_link_shape[:3, :3], wanted)
    assert np.allclose(shapes[0].T_link_shape[:3, 3], [1.0, 2.0, 3.0])
    assert np.array_equal(shapes[1].T_link_shape, np.eye(4))


def test_a_link_of_meshes_alone_is_marked_by_a_ball_and_one_without_visuals_by_nothing(shapes):
    assert [(s.link, s.kind, s.size_m, s.stand_in) for s in shapes[3:]] == [("b", "sphere", (BALL_RADIUS_M,), True)]
