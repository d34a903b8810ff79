"""Which baselines there are, what is said of those that cannot run, and the URDF that other libraries are given."""

import sys

import numpy as np
import pytest

from mimicik_ros.config import Config
from mimicik_ros.core.errors import ConfigError, RobotError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.evaluation.baselines import registry
from mimicik_ros.evaluation.baselines.plain_urdf import plain_urdf
from mimicik_ros.share import share_path

ROBOT = Config().robot


def kinematics(xml):
    return Kinematics(xml, ROBOT.base_frame, ROBOT.tool_frame, ROBOT.joint_names)


@pytest.mark.parametrize("use", [registry.unavailable, lambda name: registry.make(name, None, None)])
def test_an_unknown_name_is_refused_with_all_that_there_are(use):
    with pytest.raises(ConfigError) as caught:
        use("ikfast")
    assert all(name in str(caught.value) for name in registry.NAMES)


@pytest.mark.parametrize(("name", "module"), [
    ("pink", "daqp"), ("pink", "pink"), ("trac-ik", "pytracik"), ("pybullet", "pybullet")])
def test_a_missing_package_is_named_with_the_pip_command(name, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    assert f"needs '{module}'" in registry.unavailable(name)
    with pytest.raises(ConfigError, match=r"pip install 'mimicik_ros\[baselines\]'") as caught:
        registry.make(name, None, None)
    assert "\n" not in str(caught.value)


def test_without_torch_curobo_says_so_and_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    reason = registry.unavailable("curobo")
    assert "torch is not installed" in reason and "pip install" in reason and "\n" not in reason


@pytest.mark.parametrize("mass", [True, False])
def test_the_plain_urdf_has_the_same_kinematics(mass):
    path = share_path(ROBOT.urdf)
    ours, plain = kinematics(path), kinematics(plain_urdf(path, ROBOT.joint_names, mass).encode())
    for q in np.random.default_rng(0).uniform(ours.lower, ours.upper, (20, 6)):
        np.testing.assert_array_equal(plain.fk(q), ours.fk(q))


def test_the_plain_urdf_fixes_every_other_joint_where_ours_does(tmp_path):
    names = ("joint1", "joint2", "joint3", "joint5", "joint6")
    path = share_path(ROBOT.urdf)
    ours = Kinematics(path, ROBOT.base_frame, ROBOT.tool_frame, names)
    text = plain_urdf(path, names, mass=False)
    assert text.count('type="revolute"') == 5 and "<visual>" not in text
    plain = Kinematics(text.encode(), ROBOT.base_frame, ROBOT.tool_frame, names)
    q = np.array([0.1, -0.5, 0.9, 0.4, -0.6])
    np.testing.assert_allclose(plain.fk(q), ours.fk(q), atol=1e-12)


def test_an_unreadable_urdf_is_named(tmp_path):
    path = tmp_path / "broken.urdf"
    path.write_text("<robot")
    with pytest.raises(RobotError, match=r"broken\.urdf"):
        plain_urdf(path, ROBOT.joint_names, mass=True)
