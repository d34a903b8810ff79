"""examples/policy_chunks.py against a real subscriber: stamps, spacing, frame; policies that fail, think long or see nothing."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path as File

import numpy as np
import policy_chunks
import pytest
from circle_policy import Circle
from hearing import NAMES, Hearing
from nav_msgs.msg import Path
from policy_chunks import PolicyChunks
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock

from mimicik_ros.core import se3
from mimicik_ros.ros.conversions import seconds, stamp
from mimicik_ros.ros.fake_arm import GOOD_HOME_RAD
from mimicik_ros.ros.qos import TARGET_QOS

ROOT = File(__file__).resolve().parents[2]
POSES = np.tile([0.3, 0.1, 0.2, 0, 0, 0, 1.0], (32, 1))


def raised(count, height_m):
    poses = POSES[:count].copy()
    poses[:, 2] += height_m
    return poses


@pytest.fixture
def hearing():
    made = Hearing()
    yield made
    made.close()


def add(hearing, policy, **values):
    return hearing.add(PolicyChunks, policy, **{"rate_hz": 20.0, **values})


def test_the_template_is_shorter_than_80_lines():
    assert len((ROOT / "examples/policy_chunks.py").read_text(encoding="utf-8").splitlines()) < 80


def test_every_pose_is_stamped_one_period_after_the_other_in_the_base_frame(hearing):
    node = add(hearing, lambda observation: POSES)
    before_s = node.get_clock().now().nanoseconds * 1e-9
    hearing.until(lambda: len(hearing.paths) >= 2, "two chunks")
    after_s = node.get_clock().now().nanoseconds * 1e-9
    for path in hearing.paths[:2]:
        assert len(path.poses) == 32
        assert before_s <= seconds(path.header.stamp) <= after_s
        ns = [p.header.stamp.sec * 10**9 + p.header.stamp.nanosec for p in path.poses]
        assert np.diff(ns).tolist() == [50_000_000] * 31
        assert path.header.stamp == path.poses[0].header.stamp
        assert {path.header.frame_id, *(p.header.frame_id for p in path.poses)} == {"base_link"}
        assert path.poses[31].pose.position.x == 0.3
        assert path.poses[31].pose.orientation.w == 1.0
    assert seconds(hearing.paths[1].header.stamp) > seconds(hearing.paths[0].header.stamp)


def test_frame_period_first_pose_and_addressee_are_parameters(hearing):
    heard = []
    hearing.helper.create_subscription(Path, "left_arm/target_path", heard.append, TARGET_QOS)
    seen = []
    node = add(hearing, lambda observation: seen.append(node.get_clock().now().nanoseconds) or POSES[:16],
                       frame="world", period_s=0.1, first_pose_s=0.2, target="left_arm")
    hearing.until(lambda: heard, "a chunk")
    ns = [p.header.stamp.sec * 10**9 + p.header.stamp.nanosec for p in heard[0].poses]
    assert np.diff(ns).tolist() == [100_000_000] * 15
    assert heard[0].header.frame_id == "world"
    observed = heard[0].header.stamp.sec * 10**9 + heard[0].header.stamp.nanosec
    assert ns[0] - observed == 200_000_000
    assert observed <= seen[-1]


def test_with_simulated_time_there_is_a_chunk_each_half_second_stamped_by_that_clock(hearing):
    clock = hearing.helper.create_publisher(Clock, "/clock", 10)
    node = add(hearing, lambda observation: POSES, rate_hz=2.0, use_sim_time=True)
    now = [100.0]

    def tick():
        clock.publish(Clock(clock=stamp(now[0])))

    hearing.helper.create_timer(0.02, tick)
    hearing.until(lambda: node.get_clock().now().nanoseconds == 100 * 10**9, "the clock")
    hearing.until(lambda: node.joints and node.heard_s > 0, "joints")

    def stamps():
        return [seconds(path.header.stamp) for path in hearing.paths]

    for _ in range(4):
        now[0] += 0.5
        hearing.until(lambda: now[0] in stamps(), "the chunk of this half second")
    assert [s for s in stamps() if s > 100.0] == [100.5, 101.0, 101.5, 102.0]  # one more may come when the clock begins


def test_a_chunk_counts_from_what_the_policy_saw_and_thinking_stops_no_callback(hearing):
    called, go, saw = threading.Event(), threading.Event(), []

    def thinking(observation):
        saw.append(node.get_clock().now().nanoseconds)
        called.set()
        go.wait(20.0)
        return POSES

    node = add(hearing, thinking, period_s=1.0)  # 31 s ahead: good however slow this machine is
    hearing.until(called.is_set, "the policy was asked")
    heard = node.heard_s
    hearing.until(lambda: node.heard_s > heard, "joints, while the policy thinks")
    released = node.get_clock().now().nanoseconds
    go.set()
    hearing.until(lambda: hearing.paths, "the chunk")
    first = round(seconds(hearing.paths[0].header.stamp) * 1e9)
    assert first - saw[0] < 1000  # nanoseconds as far as a float of seconds has them
    assert first < released


@pytest.mark.parametrize("answer", [
    RuntimeError("out of memory"), None, "poses", np.full((16, 7), np.nan), np.zeros((16, 8)), np.zeros((16, 7)),
    np.zeros((0, 7))], ids=["raises", "nothing", "text", "NaN", "width", "no rotation", "empty"])
def test_a_policy_that_fails_sends_nothing_and_is_asked_again(hearing, answer):
    answers = []

    def failing(observation):
        answers.append(answer if len(answers) < 2 else raised(16, 0.01 * len(answers)))
        if isinstance(answers[-1], Exception):
            raise answers[-1]
        return answers[-1]

    add(hearing, failing)
    hearing.until(lambda: hearing.paths, "the first good chunk")
    assert len(answers) >= 3
    assert len(hearing.paths[0].poses) == 16
    calls_before = (hearing.paths[0].poses[0].pose.position.z - 0.2) / 0.01
    assert calls_before >= 1.999  # of the third call, or a later one if that was sent before the subscriber was found


def test_an_answer_after_the_end_of_its_chunk_is_not_sent(hearing):
    calls, go = [], threading.Event()

    def first_too_late(observation):
        calls.append(1)
        if len(calls) == 1:
            go.wait(20.0)
        return raised(2, 0.1 * len(calls))

    node = add(hearing, first_too_late, period_s=0.25)
    hearing.until(lambda: calls, "the policy was asked")
    end_ns = node.get_clock().now().nanoseconds + 300_000_000
    hearing.until(lambda: node.get_clock().now().nanoseconds > end_ns, "the chunk's end")
    go.set()
    hearing.until(lambda: hearing.paths, "a later chunk")
    assert hearing.paths[0].poses[0].pose.position.z > 0.35


def test_the_policy_is_not_asked_while_the_arm_is_silent(hearing):
    seen = []
    hearing.send_joints = False
    node = add(hearing, lambda observation: seen.append(observation) or POSES)
    turns = []
    hearing.helper.create_timer(0.05, lambda: turns.append(1))
    hearing.until(lambda: len(turns) >= 6, "six turns")
    assert not seen and not hearing.paths
    hearing.send_joints = True
    hearing.until(lambda: hearing.paths, "a chunk")
    assert dict(node.joints) == pytest.approx(dict(zip(NAMES, GOOD_HOME_RAD, strict=True)))


def test_the_circle_begins_at_the_tool_and_goes_on_where_it_was():
    circle = Circle()
    q = np.array(GOOD_HOME_RAD)
    first = circle({"joints": dict(zip(NAMES, q, strict=True))})
    T = circle.kinematics.fk(q)
    assert first.shape == (32, 7)
    assert np.allclose(first[0], [*T[:3, 3], *se3.quat_from_rotation(T[:3, :3])])
    again = circle({"joints": dict(zip(NAMES, q + 0.1, strict=True))})
    assert np.allclose(np.linalg.norm(again[:, :3] - T[:3, 3] - [0, 0, 0.04], axis=1), 0.04)  # the centre lies 40 mm above


def test_a_callable_is_taken_by_name_and_a_wrong_name_is_an_error(monkeypatch):
    monkeypatch.setattr(policy_chunks, "answer", lambda observation: POSES, raising=False)
    node = PolicyChunks(parameter_overrides=[Parameter("policy", value="policy_chunks:answer")])
    assert node.policy({}) is POSES
    node.destroy_node()
    with pytest.raises(AttributeError, match="answers"):
        PolicyChunks(parameter_overrides=[Parameter("policy", value="policy_chunks:answers")])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_script_finds_a_policy_in_the_current_folder_and_ends_with_0_on_a_signal(hearing, tmp_path, number):
    (tmp_path / "mine.py").write_text("def still(observation):\n    return [[0.3, 0, 0.2, 0, 0, 0, 1]] * 50\n", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "examples/policy_chunks.py"), "--ros-args", "-p", "policy:=mine:still"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        hearing.until(lambda: hearing.paths, "a chunk of the script")
        assert len(hearing.paths[0].poses) == 50
        process.send_signal(number)
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
