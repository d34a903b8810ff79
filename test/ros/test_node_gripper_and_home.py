"""The gripper beside the arm and the way home, live."""

import numpy as np
import pytest
from std_msgs.msg import Float64, Float64MultiArray

from mimicik_ros.ros.qos import TARGET_QOS

AWAY = [0.3, -0.8, 1.0, 1.3, -1.0, -1.3]
HOME = np.array([0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708])


class GripperListener:
    """Asks for gripper positions and keeps what the node says, as the seventh value of commands or on a topic."""

    def __init__(self, g, message_type=None):
        self._g = g
        self.heard = []
        if message_type is None:
            g.helper.create_subscription(Float64, "gripper_command", lambda m: self.heard.append(m.data), 10)
        else:
            g.helper.create_subscription(message_type, "joint_command", lambda m: self.heard.append(m.data[6]), 10)
        self._publisher = g.helper.create_publisher(Float64, "mimicik/target_gripper", TARGET_QOS)
        g.until(lambda: self._publisher.get_subscription_count() >= 1, "the node listens to the gripper")

    def ask(self, value):
        self._publisher.publish(Float64(data=float(value)))

    def until(self, value):
        self._g.until(lambda: self.heard and abs(self.heard[-1] - value) < 1e-9, f"gripper {value}")

    def assert_limited(self):
        """In 0 .. 0.072, at most 0.1 per second: 0.005 a tick."""
        said = np.array(self.heard)
        assert said.min() >= 0.0
        assert said.max() <= 0.072
        assert np.abs(np.diff(said)).max() <= 0.005 + 1e-12


def test_the_gripper_is_appended_limited_in_range_and_rate(graph):
    g = graph(node={"output.type": "float64_multi_array", "output.append_gripper": True},
              arm={"command_type": "float64_multi_array"})
    g.track()
    gripper = GripperListener(g, Float64MultiArray)
    gripper.until(0.0)
    gripper.ask(5.0)
    gripper.until(0.072)
    gripper.ask(-1.0)
    gripper.until(0.0)
    gripper.assert_limited()
    assert g.arm.rejected == 0
    g.assert_within_limits()


def test_the_gripper_has_a_topic_of_its_own_from_the_first_request_on(graph):
    g = graph(node={"output.gripper_topic": True})
    g.track()
    gripper = GripperListener(g)
    g.ticks(5)
    assert gripper.heard == []
    gripper.ask(0.03)
    gripper.until(0.03)
    gripper.ask(np.nan)
    g.until(lambda: g.node.session.inbox.grippers_rejected == 1, "the rejection")
    g.ticks(3)
    gripper.until(0.03)
    gripper.assert_limited()
    assert float(g.statuses()[-1]["values"]["gripper"]) == pytest.approx(0.03)


def test_the_gripper_stays_while_the_arm_is_held(graph):
    g = graph(node={"output.gripper_topic": True})
    g.track()
    gripper = GripperListener(g)
    gripper.ask(0.02)
    gripper.until(0.02)
    g.trigger("hold")
    g.until_status("held_by_request")
    gripper.ask(0.07)
    g.ticks(10)
    assert gripper.heard[-1] == pytest.approx(0.02)


def test_go_home_moves_there_within_its_speed_says_so_and_waits_for_enable(graph):
    g = graph(arm={"home_rad": AWAY})
    g.track()
    g.ticks(5)
    first = len(g.commands()) - 1
    answer = g.trigger("go_home")
    assert (answer.success, answer.message) == (True, "from the next tick on")
    g.until_status("homing")
    assert g.statuses()[-1]["values"]["mode"] == "HOMING"
    g.until_status("at_home")
    q = g.assert_within_limits()
    assert q[-1] == pytest.approx(HOME, abs=1e-5)
    fast = np.abs(np.diff(q[first:], axis=0)).max(axis=1) / g.node.config.dt_s
    assert fast[5:].max() <= 0.5 + 1e-6
    g.ticks(5)
    assert g.status() == "at_home", "the targets that still come are not followed"
    g.until(lambda: np.abs(g.arm.model.q_measured - HOME).max() < 0.02, "the arm is there")
    assert g.enable().success
    g.until(lambda: g.status() != "at_home", "enable ends it")
    g.ticks(3)
    g.assert_within_limits()


def test_hold_stops_the_way_home(graph):
    g = graph(arm={"home_rad": AWAY})
    g.track()
    g.trigger("go_home")
    g.until_status("homing")
    g.trigger("hold")
    g.until_status("held_by_request")
    g.ticks(10)
    q = g.assert_within_limits()
    assert np.max(np.abs(q[-1] - q[-2])) == 0.0
    assert np.abs(q[-1] - HOME).max() > 0.05


def test_what_interrupts_the_way_home_ends_it(graph):
    g = graph(node={"freshness.joints_timeout_s": 0.4}, arm={"home_rad": AWAY})
    g.track()
    g.trigger("go_home")
    g.until_status("homing")
    g.arm._loop.cancel()
    g.until_status("stale_joints")
    g.arm._loop.reset()
    g.until_status("held_by_request")
    g.ticks(5)
    assert g.status() == "held_by_request", "it does not set out again by itself"
    g.assert_within_limits()


def test_go_home_is_refused_while_disabled(graph):
    g = graph()
    g.start()
    answer = g.trigger("go_home")
    assert (answer.success, answer.message) == (False, "refused: not enabled; call ~/enable with data: true first")


def test_go_home_needs_no_target(graph):
    g = graph(arm={"home_rad": AWAY})
    g.start()
    g.enable()
    g.until_status("waiting_for_target")
    assert g.trigger("go_home").success
    g.until_status("at_home")
    g.assert_within_limits()


def test_a_home_outside_the_limits_is_refused_at_configure(graph):
    g = graph(node={"home.q_rad": [0.0, 1.0, 1.2, 1.5708, -1.2, -1.5708]})
    assert not g.node.autostart()
    assert g.node.failure.startswith("home.q_rad: 1 of joint2 lies outside its limits")
