"""rosbag2 recordings as written by rosbags: by name, aligned by stamps, faults named."""

import numpy as np
import pytest
from lagging_arm import motion
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from mimicik_ros.core import se3
from mimicik_ros.core.errors import DataError
from mimicik_ros.training.dataset.bag import Topics, recordings
from mimicik_ros.training.dataset.intake import take_in
from mimicik_ros.training.dataset.reader import Dataset

STORE = get_typestore(Stores.ROS2_JAZZY)
PLUGINS = {"mcap": StoragePlugin.MCAP, "sqlite3": StoragePlugin.SQLITE3}
JOINT_STATE, ARRAY = "sensor_msgs/msg/JointState", "std_msgs/msg/Float64MultiArray"
TRAJECTORY, POSE = "trajectory_msgs/msg/JointTrajectory", "geometry_msgs/msg/PoseStamped"
START_S = 1000.0
ORDER = [3, 0, 5, 1, 4, 2]  # of the names in a message


def kind(name):
    return STORE.types[name]


def stamp(t):
    return kind("builtin_interfaces/msg/Time")(sec=int(t), nanosec=round((t - int(t)) * 1e9))


def head(t):
    return kind("std_msgs/msg/Header")(stamp=stamp(t), frame_id="base_link")


def joint_state(t, names, q):
    return kind(JOINT_STATE)(head(t), list(names), np.ascontiguousarray(q, dtype=float), np.zeros(0), np.zeros(0))


def array(q):
    return kind(ARRAY)(kind("std_msgs/msg/MultiArrayLayout")(dim=[], data_offset=0), np.ascontiguousarray(q, dtype=float))


def trajectory(t, names, q):
    duration = kind("builtin_interfaces/msg/Duration")(sec=0, nanosec=0)
    point = kind("trajectory_msgs/msg/JointTrajectoryPoint")(np.ascontiguousarray(q, dtype=float), *([np.zeros(0)] * 3), duration)
    return kind(TRAJECTORY)(head(t), list(names), [point])


def pose(t, T):
    x, y, z, w = se3.quat_from_rotation(T[:3, :3])
    p = kind("geometry_msgs/msg/Point")(*T[:3, 3])
    return kind(POSE)(head(t), kind("geometry_msgs/msg/Pose")(p, kind("geometry_msgs/msg/Quaternion")(x, y, z, w)))


@pytest.fixture
def bag(tmp_path):
    """Writes (log time, topic, type, message) into a bag and gives its path."""
    def write(messages, plugin="mcap", name="bag"):
        path = tmp_path / name
        with Writer(path, version=9, storage_plugin=PLUGINS[plugin]) as writer:
            types = {topic: type_ for _, topic, type_, _ in messages}
            connections = {topic: writer.add_connection(topic, type_, typestore=STORE) for topic, type_ in types.items()}
            for t, topic, type_, message in sorted(messages, key=lambda m: m[0]):
                writer.write(connections[topic], round(1e9 * t), STORE.serialize_cdr(message, type_))
        return path

    return write


@pytest.fixture
def taken(tmp_path, header, rules, kinematics):
    """Imports bags and gives report, episodes and clocks."""
    def take(*paths, topics=None, degrees=False):
        out, clocks = tmp_path / "out.parquet", {}
        found = recordings(list(paths), topics or Topics(), kinematics.joint_names, degrees, clocks)
        report = take_in(found, out, header, rules, "bag")
        return report, list(Dataset([out]).episodes()) if out.exists() else [], clocks

    return take


def states(names, rows=400, step_s=0.01, log_delay_s=0.0, stamped=True, gripper=True):
    """Joint states at 100 Hz with names in ORDER and a gripper between them, and the times and joints (k, 6) they carry."""
    t, q, _ = motion(rows, step_s=step_s)
    t = t + START_S
    order = [names[i] for i in ORDER]
    out = []
    for time, row in zip(t, q, strict=True):
        values, called = list(row[ORDER]), list(order)
        if gripper:
            called.insert(2, "gripper")
            values.insert(2, 0.04)
        out.append((time + log_delay_s, "/arm/joint_states", JOINT_STATE, joint_state(time if stamped else 0.0, called, values)))
    return out, t, q


def commands(names, make, rows=80, step_s=0.05):
    """Commands at 20 Hz by make(t, names, q), and their values (k, 6)."""
    t, _, command = motion(rows, step_s=step_s)
    t = t + START_S
    return [(time, "/arm/joint_command", *make(time, names, row)) for time, row in zip(t, command, strict=True)], command


@pytest.mark.parametrize("plugin", ["mcap", "sqlite3"])
@pytest.mark.parametrize("make", [
    lambda t, names, q: (JOINT_STATE, joint_state(t, names[::-1], q[::-1])),
    lambda t, names, q: (TRAJECTORY, trajectory(t, names[::-1], q[::-1]))], ids=["joint_state", "trajectory"])
def test_joints_go_by_name_and_the_command_in_force_stands_beside_them(bag, taken, kinematics, plugin, make):
    measured, _, q = states(kinematics.joint_names)
    told, command = commands(kinematics.joint_names, make)
    report, episodes, clocks = taken(bag(measured + told, plugin))
    assert [line.state for line in report.lines] == ["kept"] and list(clocks.values()) == ["header stamps"]
    np.testing.assert_allclose(episodes[0].q, q[::5], atol=1e-6)
    np.testing.assert_allclose(episodes[0].q_command, command, atol=1e-12)
    np.testing.assert_allclose(episodes[0].position_m, kinematics.fk_batch(command)[:, :3, 3], atol=1e-9)


def test_stamps_decide_and_not_the_times_of_the_log(bag, taken, kinematics):
    measured, _, q = states(kinematics.joint_names, log_delay_s=0.3)
    told, command = commands(kinematics.joint_names, lambda t, names, q: (JOINT_STATE, joint_state(t, names, q)))
    _, episodes, _ = taken(bag(measured + told))
    np.testing.assert_allclose(episodes[0].q, q[::5], atol=1e-6)
    np.testing.assert_allclose(episodes[0].q_command, command, atol=1e-12)


def test_without_stamps_the_log_times_are_taken_for_all_and_that_is_said(bag, taken, kinematics):
    measured, _, q = states(kinematics.joint_names)
    told, command = commands(kinematics.joint_names, lambda t, names, q: (ARRAY, array([*q, 0.04])))
    _, episodes, clocks = taken(bag(measured + told))
    assert list(clocks.values()) == ["log times, since /arm/joint_command came without stamps"]
    np.testing.assert_allclose(episodes[0].q, q[::5], atol=1e-6)
    np.testing.assert_allclose(episodes[0].q_command, command, atol=1e-12)
    measured, _, _ = states(kinematics.joint_names, stamped=False)
    _, _, clocks = taken(bag(measured + told, name="zero"))
    assert list(clocks.values()) == ["log times, since /arm/joint_states and /arm/joint_command came without stamps"]


def test_target_poses_alone_give_the_joints_that_reach_them(bag, taken, kinematics):
    measured, _, _ = states(kinematics.joint_names)
    t, _, command = motion(80)
    targets = [(START_S + time, "/servo/target_pose", POSE, pose(START_S + time, kinematics.fk(row)))
               for time, row in zip(t, command, strict=True)]
    _, episodes, _ = taken(bag(measured + targets))
    np.testing.assert_allclose(episodes[0].q_command, command, atol=1e-3)
    np.testing.assert_allclose(episodes[0].position_m, kinematics.fk_batch(command)[:, :3, 3], atol=1e-9)


def test_rows_where_no_command_is_in_force_are_left_out_and_the_rest_falls_in_two(bag, taken, kinematics):
    measured, _, _ = states(kinematics.joint_names)
    told, _ = commands(kinematics.joint_names, lambda t, names, q: (JOINT_STATE, joint_state(t, names, q)))
    report, episodes, _ = taken(bag(measured + told[10:20] + told[50:]))
    assert [line.state for line in report.lines] == ["cut"] and report.lines[0].faults[0][0] == "gap"
    # From 0.5 s until half a second after the command at 0.95 s; then from 2.5 s to the last joint state at 3.99 s.
    spans = [(round(e.t_s[0] - START_S, 3), round(e.t_s[-1] - START_S, 3)) for e in episodes]
    assert spans == [(0.5, 1.45), (2.5, 3.95)]


def test_nan_duplicates_and_wrong_lengths_are_named_and_the_rest_is_kept(bag, taken, kinematics):
    names = kinematics.joint_names
    measured, t, q = states(names, gripper=False)
    bad = q[100].copy()
    bad[2] = np.nan
    measured[100] = (t[100], "/arm/joint_states", JOINT_STATE, joint_state(t[100], names, bad))
    measured[200] = (t[200], "/arm/joint_states", JOINT_STATE, joint_state(t[199], names, q[199]))
    measured[300] = (t[300], "/arm/joint_states", JOINT_STATE, joint_state(t[300], names, q[300][:5]))
    told, _ = commands(names, lambda t, names, q: (ARRAY, array(q)))
    told[3] = (*told[3][:3], array(np.zeros(3)))
    told[0] = (told[0][0], "/arm/joint_command", JOINT_STATE, joint_state(told[0][0], names, q[0]))
    told = [(t, topic, JOINT_STATE, m if hasattr(m, "name") else joint_state(t, names if len(m.data) == 6 else [], m.data))
            for t, topic, _, m in told]
    report, episodes, clocks = taken(bag(measured + told))
    assert list(clocks.values()) == ["header stamps"]
    found = dict(report.lines[0].faults)
    assert set(found) == {"length", "non-finite", "stamps"}
    texts = report.text()
    assert "6 names but 5 positions" in texts and "3 values without names, expected 6" in texts
    assert sum(len(e) for e in episodes) >= 75


def test_degrees_are_reported(bag, taken, kinematics):
    names = kinematics.joint_names
    t, q, command = motion(200)
    both = [(START_S + s, topic, JOINT_STATE, joint_state(START_S + s, names, np.rad2deg(v)))
            for s, a, b in zip(t, q, command, strict=True) for topic, v in (("/joint_states", a), ("/joint_command", b))]
    path = bag(both)
    report, episodes, _ = taken(path)
    assert not episodes and [kind for kind, _ in report.lines[0].faults] == ["degrees", "degrees"]
    _, episodes, _ = taken(path, degrees=True)
    np.testing.assert_allclose(episodes[0].q, q, atol=1e-9)


@pytest.mark.parametrize(("plugin", "file"), [("mcap", "bag.mcap"), ("sqlite3", "bag.db3")])
def test_a_truncated_bag_is_reported_and_the_others_are_kept(bag, taken, kinematics, plugin, file):
    measured, _, _ = states(kinematics.joint_names)
    told, _ = commands(kinematics.joint_names, lambda t, names, q: (JOINT_STATE, joint_state(t, names, q)))
    whole, broken = bag(measured + told, plugin, "whole"), bag(measured + told, plugin, "broken")
    storage = broken / file.replace("bag", "broken")
    storage.write_bytes(storage.read_bytes()[: storage.stat().st_size // 2])
    report, episodes, _ = taken(broken, whole)
    assert [line.state for line in report.lines] == ["dropped", "kept"] and episodes
    assert report.lines[0].faults[0][0] == "truncated"


def test_a_folder_that_is_no_bag_is_reported_like_a_broken_one(taken, tmp_path):
    (tmp_path / "folder").mkdir()
    report, episodes, clocks = taken(tmp_path / "folder")
    assert not episodes and report.lines[0].faults[0][0] == "truncated" and clocks == {str(tmp_path / "folder"): ""}


def test_a_topic_that_is_not_there_or_of_another_type_is_refused_with_those_that_are(bag, taken, kinematics):
    measured, _, _ = states(kinematics.joint_names, rows=50)
    told, _ = commands(kinematics.joint_names, lambda t, names, q: (JOINT_STATE, joint_state(t, names, q)), rows=20)
    with pytest.raises(DataError, match=r"neither 'joint_command' nor 'target_pose'; topics: /arm/joint_states \(JointState\)"):
        taken(bag(measured, name="a"))
    with pytest.raises(DataError, match=r"no topic 'joint_states'.*--joint-states"):
        taken(bag(told, name="b"))
    with pytest.raises(DataError, match="/arm/joint_states is sensor_msgs/msg/JointState, expected geometry_msgs"):
        taken(bag(measured, name="c"), topics=Topics(target_pose="/arm/joint_states"))
    twice = [*measured, (START_S, "/other/joint_states", JOINT_STATE, joint_state(START_S, [], []))]
    with pytest.raises(DataError, match="/arm/joint_states, /other/joint_states all end with 'joint_states'"):
        taken(bag(twice, name="d"))


def test_joints_of_other_names_are_never_taken_for_ours(bag, taken, kinematics):
    measured, _, _ = states([f"other{i}" for i in range(6)])
    told, _ = commands(kinematics.joint_names, lambda t, names, q: (JOINT_STATE, joint_state(t, names, q)))
    report, episodes, _ = taken(bag(measured + told))
    assert not episodes and report.lines[0].faults == [("names", "/arm/joint_states: no message names all joints of the robot")]
