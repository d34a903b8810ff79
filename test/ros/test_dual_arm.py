"""Two arms in one graph, as config/dual_airbot.yaml has them: one policy leads both, and nothing of one moves the other."""

from pathlib import Path

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import PoseStamped
from live_graph import NAMES, PATIENT, POSITION_LIMITS, WAIT_S, Graph, parameters
from marker_rviz import Mouse, StandInServer
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from mimicik_ros.core import se3
from mimicik_ros.ros import conversions
from mimicik_ros.ros.fake_arm import FakeArm
from mimicik_ros.ros.marker_description import Entry
from mimicik_ros.ros.marker_node import MarkerNode
from mimicik_ros.ros.node import MimicIKNode
from mimicik_ros.ros.qos import TARGET_QOS
from mimicik_ros.ros.recorder import Recorder

FILE = Path(__file__).resolve().parents[2] / "config" / "dual_airbot.yaml"
SIDES = ("left", "right")
OTHER = {"left": "right", "right": "left"}


class Arm(Graph):
    """One arm in its namespace, on an executor that both share; the rest is conftest's graph."""

    def __init__(self, side, executor, policy):
        self.side, self.executor, self.helper, self.nodes, self.timer = side, executor, policy, [], None
        space = {"namespace": f"/{side}"}
        self.node = self.add(MimicIKNode(
            cli_args=["--ros-args", "--params-file", str(FILE)], parameter_overrides=parameters(PATIENT), **space))
        self.arm = self.add(FakeArm(parameter_overrides=parameters({"lag_s": 0.02}), **space))
        self.recorder = self.add(Recorder(NAMES, **space))
        self.targets = policy.create_publisher(PoseStamped, f"/{side}/mimicik/target_pose", TARGET_QOS)

    def call(self, kind, name, **fields):
        client = self.helper.create_client(kind, f"/{self.side}/mimicik/{name}")
        self.until(client.service_is_ready, f"service {name}")
        future = client.call_async(kind.Request(**fields))
        self.until(future.done, f"answer of {name}")
        self.helper.destroy_client(client)
        return future.result()

    def to(self, *xyz):
        """Stream a pose beside the home pose."""
        T = self.home_pose()
        T[:3, 3] += np.array(xyz)
        self.stream(lambda t: self.send(T, frame=f"{self.side}/base_link"))
        return T

    def track(self):
        self.to(0.0, 0.0, 0.0)
        self.until_status("disabled")
        assert self.enable().success
        self.until(lambda: self.mode() == "TRACKING", f"{self.side} mode TRACKING")

    def mode(self):
        return self.statuses()[-1]["values"]["mode"]

    def gap_m(self, T):
        kinematics = self.node.session.servo.kinematics
        return float(np.linalg.norm(kinematics.fk(self.arm.model.q_measured)[:3, 3] - T[:3, 3]))

    def moved_rad(self):
        """How far any joint has moved, as measured."""
        q = np.array([row["q"] for row in self.recorder.rows("joint_states")])
        return float(np.ptp(q, axis=0).max())


@pytest.fixture
def arms(ros):
    executor = SingleThreadedExecutor()
    policy = rclpy.create_node("policy")
    executor.add_node(policy)
    both = {side: Arm(side, executor, policy) for side in SIDES}
    for one in both.values():
        one.start()
    yield both
    executor.shutdown()
    for one in both.values():
        for node in one.nodes:
            node.destroy_node()
    policy.destroy_node()


def test_one_policy_leads_both_arms_each_its_own_way(arms):
    for one in arms.values():
        one.track()
    goals = {"left": arms["left"].to(0.0, 0.04, 0.0), "right": arms["right"].to(0.0, 0.0, 0.03)}
    for side, one in arms.items():
        one.until(lambda one=one, side=side: one.gap_m(goals[side]) < 1e-3, f"{side} at its goal")
    for one in arms.values():
        one.assert_within_limits()
        assert one.arm.rejected == 0
        assert one.node.count_publishers(one.targets.topic_name) == 1


@pytest.mark.parametrize("side", SIDES)
def test_targets_of_one_never_move_the_other(arms, side):
    one, other = arms[side], arms[OTHER[side]]
    for arm in arms.values():
        arm.track()
    other.silence()
    other.until_status("stale_target")
    other.ticks(5)
    still = other.commands()[-1]
    count = len(other.commands())
    goal = one.to(0.0, 0.05, 0.02)
    one.until(lambda: one.gap_m(goal) < 1e-3, "the goal")
    assert other.status() == "stale_target"
    assert np.ptp(np.vstack([still, other.commands()[count:]]), axis=0).max() == 0.0
    assert one.moved_rad() > 0.05


def test_an_arm_that_nobody_enabled_gets_no_command_while_the_other_moves(arms):
    left, right = arms["left"], arms["right"]
    left.track()
    right.to(0.0, 0.0, 0.0)
    goal = left.to(0.0, 0.05, 0.0)
    left.until(lambda: left.gap_m(goal) < 1e-3, "the goal")
    assert right.status() == "disabled"
    assert len(right.commands()) == 0 and right.moved_rad() == 0.0


@pytest.mark.parametrize("frame", ["right/base_link", "base_link", "left/end_link", ""])
def test_a_target_in_the_frame_of_the_other_arm_or_of_none_is_refused(arms, frame):
    left = arms["left"]
    left.track()
    T = left.home_pose()
    T[:3, 3] += np.array([0.0, 0.05, 0.0])
    left.stream(lambda t: left.send(T, frame=frame))
    left.until_status("no_transform" if frame else "bad_frame")
    left.ticks(10)
    q = left.assert_within_limits()
    assert np.max(np.abs(q[-1] - q[-2])) == 0.0
    detail = left.statuses()[-1]["values"]["detail"]
    assert f"'{frame}'" in detail and "'left/base_link'" in detail


@pytest.mark.parametrize("side", SIDES)
def test_a_second_commander_of_one_arm_stops_that_arm_alone(arms, side):
    one, other = arms[side], arms[OTHER[side]]
    for arm in arms.values():
        arm.track()
    intruder = one.helper.create_publisher(JointState, f"/{side}/joint_command", 1)
    one.until_status("other_publisher")
    other.ticks(25)  # longer than a second: the other's watch has looked as well
    assert other.mode() == "TRACKING"
    assert "other_publisher" not in {row["values"]["status"] for row in other.statuses()}
    one.helper.destroy_publisher(intruder)


@pytest.mark.parametrize("side", SIDES)
def test_a_second_source_of_targets_is_reported_by_that_arm_alone(arms, side):
    one, other = arms[side], arms[OTHER[side]]
    second = one.helper.create_publisher(PoseStamped, f"/{side}/mimicik/target_pose", 1)
    one.until(lambda: one.node._watch.targeters == 2, "the second source to be seen")
    other.until(lambda: other.node._watch.targeters == 1, "the other's own to be seen")
    other.ticks(25)
    assert other.node._watch.targeters == 1
    one.helper.destroy_publisher(second)


def test_hold_and_disable_act_on_one_arm_alone(arms):
    for arm in arms.values():
        arm.track()
    assert arms["left"].call(Trigger, "hold").success
    arms["left"].until_status("held_by_request")
    arms["right"].ticks(5)
    assert arms["right"].mode() == "TRACKING"
    assert arms["right"].call(SetBool, "enable", data=False).success
    arms["right"].until_status("disabled")
    assert arms["left"].status() == "held_by_request"


def test_what_an_arm_says_is_in_its_own_frame(arms):
    got = {}
    for side, one in arms.items():
        one.helper.create_subscription(PoseStamped, f"/{side}/mimicik/command_pose",
                                       lambda message, side=side: got.setdefault(side, message.header.frame_id), 1)
        one.track()
    arms["left"].until(lambda: len(got) == 2, "a pose of each")
    assert got == {"left": "left/base_link", "right": "right/base_link"}


def test_both_load_the_same_file_and_the_same_robot(arms):
    left, right = (arms[side].node for side in SIDES)
    assert left.config.policy == right.config.policy
    assert left.session.servo.policy.card == right.session.servo.policy.card
    assert left.session.servo.kinematics.lower.tolist() == right.session.servo.kinematics.lower.tolist()
    assert np.allclose(left.session.servo.kinematics.lower, np.array(POSITION_LIMITS)[:, 0])


def test_the_handle_of_one_arm_moves_that_arm_alone(arms):
    markers = {side: arms[side].add(MarkerNode(
        StandInServer, cli_args=["--ros-args", "--params-file", str(FILE)], namespace=f"/{side}",
        parameter_overrides=parameters(PATIENT))) for side in SIDES}
    left, right = arms["left"], arms["right"]
    mice = {side: Mouse(left.helper, f"/{side}/mimicik_marker") for side in SIDES}
    left.until(lambda: all(mouse.connected() for mouse in mice.values()), "both handles")
    assert [mice[side].marker.header.frame_id for side in SIDES] == ["left/base_link", "right/base_link"]
    mice["left"].choose(Entry.ENABLE)
    left.until(lambda: left.mode() == "TRACKING", "left to follow")
    p = mice["left"].shown.position
    goal = se3.pose(np.eye(3), np.array([p.x, p.y + 0.04, p.z]))
    moved = conversions.pose_message(goal, "", conversions.stamp(0.0)).pose
    moved.orientation = mice["left"].shown.orientation
    mice["left"].press()
    mice["left"].move(moved)
    mice["left"].release()
    left.until(lambda: left.gap_m(goal) < 2e-3, "left at the handle", WAIT_S)
    assert right.moved_rad() == 0.0 and len(right.commands()) == 0
    assert not markers["right"].marker.leading
    left.assert_within_limits()
