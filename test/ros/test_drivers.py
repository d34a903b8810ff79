"""Every row of docs/drivers.md, as the doc has it, moves a stand-in that refuses what the driver refuses."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from mimicik_ros import config
from mimicik_ros.ros.driver_rules import DRIVERS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "config/drivers"


def rows():
    """(stand-in, file, parameters, remaps) of each row of the first table."""
    table = [line for line in (ROOT / "docs/drivers.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")][1:]
    out = []
    for line in table:
        _, stand_in, file, given, remaps = (re.findall(r"`([^`]+)`", cell) for cell in line.strip("| ").split(" | "))
        out.append((stand_in[0], file[0], dict(yaml.safe_load(pair).popitem() for pair in given), remaps))
    return out


ROWS = rows()


def flat(path):
    groups = yaml.safe_load(path.read_text(encoding="utf-8"))["/**"]["ros__parameters"]
    return {f"{group}.{key}": value for group, values in groups.items() for key, value in values.items()}


@pytest.mark.parametrize(("stand_in", "file", "given", "remaps"), ROWS, ids=[row[0] for row in ROWS])
def test_each_row_moves_its_driver_and_nothing_is_refused(graph, stand_in, file, given, remaps):
    topics = dict(rule.split(":=") for rule in remaps)
    assert flat(FOLDER / file) == given
    config.load(FOLDER / file)
    ros2_control = stand_in in ("forward", "trajectory")
    g = graph(node=given, arm={"driver": stand_in, "command_topic": topics["joint_command"], "gripper": not ros2_control,
                               "from_desired": True}, remap=remaps, states_topic=topics.get("joint_states", "joint_states"))
    g.track()
    g.ticks(30)
    q = g.assert_within_limits()
    assert np.ptp(q, axis=0).max() > 0.01
    assert g.arm.accepted > 20
    assert g.arm.refusals == set()
    g.until(lambda: np.max(np.abs(g.arm.model.q_measured - g.commands()[-1])) < 0.05, "the arm follows")


def test_every_file_has_its_row_and_every_stand_in_a_row():
    assert sorted(file for _, file, _, _ in ROWS) == sorted(path.name for path in FOLDER.glob("*.yaml"))
    assert {stand_in for stand_in, _, _, _ in ROWS} == set(DRIVERS)


@pytest.mark.parametrize(("driver", "node", "reason"), [
    ("vendor_g2", {}, "expected at least 7 positions, got 6"),
    ("discoverse", {"output.type": "float64_multi_array"}, "expected exactly 7 values, got 6"),
    ("forward", {"output.type": "float64_multi_array", "output.append_gripper": True}, "expected exactly 6 values, got 7"),
    ("trajectory", {"output.type": "joint_trajectory", "output.end_velocity": True},
     "velocity of the last point is not zero (allow_nonzero_velocity_at_trajectory_end is false)"),
    ("trajectory", {"output.type": "joint_trajectory", "output.append_gripper": True},
     "joints joint1, joint2, joint3, joint4, joint5, joint6, gripper are not exactly the controller's: "
     "joint1, joint2, joint3, joint4, joint5, joint6"),
])
def test_a_wrong_row_is_refused_by_the_driver(graph, driver, node, reason):
    g = graph(node=node, arm={"driver": driver, "gripper": False})
    start = g.arm.model.q_measured
    g.engage_on_a_circle()
    g.until(lambda: reason in g.arm.refusals, f"the refusal; got {g.arm.refusals}")
    if driver != "trajectory":  # a trajectory without motion has no velocity, so some are taken
        assert np.array_equal(g.arm.model.q_measured, start)


def test_an_end_velocity_is_taken_where_the_controller_allows_it(graph):
    g = graph(node={"output.type": "joint_trajectory", "output.end_velocity": True},
              arm={"driver": "trajectory", "gripper": False, "end_velocity": True, "from_desired": True})
    g.track()
    g.ticks(30)
    g.assert_within_limits()
    assert g.arm.refusals == set()


def test_a_tolerance_below_the_lag_of_the_arm_holds_it_within_the_limits(graph):
    g = graph(node={"output.type": "joint_trajectory", "servo.max_lead_rad": 0.05},
              arm={"driver": "trajectory", "gripper": False, "from_desired": True, "tolerance_rad": 1e-4, "lag_s": 0.3})
    g.engage_on_a_circle()
    g.until(lambda: g.arm.rules.aborted > 3, "trajectories dropped")
    g.assert_within_limits()
