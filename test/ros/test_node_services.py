"""Services, parameters, other publishers and reports of the node."""

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from live_graph import parameters
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState

from mimicik_ros.ros.diagnostics import status_values
from mimicik_ros.ros.node import MimicIKNode

FAILURE = TransitionCallbackReturn.FAILURE


def test_hold_brakes_and_enable_goes_on(graph):
    g = graph()
    g.track()
    assert g.trigger("hold").success
    g.until_status("held_by_request")
    g.ticks(12)
    q = g.assert_within_limits()
    assert np.max(np.abs(q[-1] - q[-2])) == 0.0
    assert g.enable().success
    g.until(lambda: g.statuses()[-1]["values"]["mode"] == "TRACKING", "mode TRACKING")
    g.assert_within_limits()


def test_disable_brakes_and_says_disabled(graph):
    g = graph()
    g.track()
    assert g.enable(False).success
    g.until_status("disabled")
    g.ticks(12)
    q = g.assert_within_limits()
    assert np.max(np.abs(q[-1] - q[-2])) == 0.0


def test_an_arm_that_is_pushed_away_is_a_fault_until_reset(graph):
    g = graph(node={"engage.max_tracking_error_rad": 0.2})
    g.track()
    g.arm.model._q[0] += 1.0
    g.arm.model._setpoint[0] += 1.0
    g.arm.model._lag_s = 1e6
    g.until_status("tracking_fault")
    g.ticks(10)
    assert g.status() == "tracking_fault"
    assert g.trigger("reset").success
    g.until(lambda: g.status() != "tracking_fault", "the fault to be cleared")


def test_services_refuse_while_the_node_is_not_active(graph):
    g = graph()
    g.node.trigger_configure()
    for answer in (g.enable(), g.trigger("hold"), g.trigger("reset")):
        assert not answer.success
        assert answer.message == "refused: the node is not active"


@pytest.mark.parametrize(("override", "line"), [
    ({"servo.rate_hs": 20.0}, "unknown parameter 'servo.rate_hs'; did you mean 'servo.rate_hz'?"),
    ({"engage.ramp_s": -1.0}, "engage.ramp_s must lie in [0, 30] s"),
    ({"robot.urdf": "nowhere.urdf"}, "no file 'nowhere.urdf'"),
    ({"policy.model": "nowhere.onnx"}, "nowhere.onnx"),
    ({"output.type": "jointstate"}, "output.type must be one of joint_state, float64_multi_array, joint_trajectory"),
    ({"robot.joint_names": ["joint1", "joint9"]}, "robot.velocity_limits_rad_s has 6 values for 2 joints"),
])
def test_a_bad_override_is_refused_at_configure_with_one_line(ros, override, line):
    node = MimicIKNode(parameter_overrides=parameters(override))
    try:
        assert node.trigger_configure() == FAILURE
        assert line in node.failure
        assert "\n" not in node.failure
        assert not node.autostart()
    finally:
        node.destroy_node()


def test_an_integer_is_taken_for_a_float(ros):
    node = MimicIKNode(parameter_overrides=parameters({"servo.max_linear_speed_m_s": 1}))
    assert node.config.servo.max_linear_speed_m_s == 1.0
    node.destroy_node()


def test_a_bad_set_at_run_time_is_refused_as_a_whole(graph):
    g = graph()
    g.track()
    before = g.node.config
    answer = g.node.set_parameters_atomically([
        Parameter("servo.max_linear_speed_m_s", value=0.1), Parameter("output.other_publisher", value="never")])
    assert not answer.successful
    assert "output.other_publisher must be one of error, warn, ignore" in answer.reason
    assert g.node.config == before
    assert g.node.get_parameter("servo.max_linear_speed_m_s").value == before.servo.max_linear_speed_m_s
    g.ticks(5)
    assert g.statuses()[-1]["values"]["mode"] == "TRACKING"


def test_a_good_set_at_run_time_is_in_force_from_the_next_tick(graph):
    g = graph()
    g.track()
    answer = g.node.set_parameters_atomically([Parameter("servo.max_linear_speed_m_s", value=0.003)])
    assert answer.successful, answer.reason
    g.ticks(30)
    tail = np.array([row["position_m"] for row in g.recorder.rows("command_pose")[-8:]])
    assert np.max(np.linalg.norm(np.diff(tail, axis=0), axis=1)) <= 0.003 * g.node.config.dt_s + 1e-4
    g.assert_within_limits()


@pytest.mark.parametrize("name", ["servo.rate_hz", "robot.urdf", "policy.model", "output.type"])
def test_what_is_decided_while_configuring_is_read_only(ros, name):
    node = MimicIKNode()
    assert node.describe_parameter(name).read_only
    assert node.describe_parameter(name).description
    node.destroy_node()


def test_another_commander_at_activation_is_refused(graph):
    g = graph()
    g.helper.create_publisher(JointState, "joint_command", 1)
    g.until(lambda: g.node.count_publishers("joint_command") == 1, "the other commander")
    assert not g.node.autostart()
    assert g.node.failure.startswith("/joint_command: 1 other publisher(s)")


def test_another_commander_while_active_brakes_and_ends_the_stream(graph):
    g = graph()
    g.track()
    other = g.helper.create_publisher(JointState, "joint_command", 1)
    g.until_status("other_publisher")
    g.ticks(10)
    q = g.assert_within_limits()
    count = len(q)
    g.ticks(5)
    assert len(g.commands()) == count, "once braked, the arm is left to the other"
    g.helper.destroy_publisher(other)
    g.until_status("held_by_request")


def test_another_commander_is_tolerated_when_asked(graph):
    g = graph(node={"output.other_publisher": "warn"})
    g.helper.create_publisher(JointState, "joint_command", 1)
    g.until(lambda: g.node.count_publishers("joint_command") == 1, "the other commander")
    g.track()
    g.ticks(25)
    assert g.statuses()[-1]["values"]["mode"] == "TRACKING"


def test_diagnostics_carry_rates_counts_and_the_model(graph):
    g = graph()
    heard = []
    g.helper.create_subscription(DiagnosticArray, "/diagnostics", heard.append, 10)
    g.track()
    heard.clear()
    g.until(lambda: len(heard) >= 2, "two reports")
    values = status_values(heard[-1].status[0])
    assert heard[-1].status[0].name == "/mimicik: servo"
    assert float(values["rate_hz"]) > 1.0
    assert values["ignored_joint_names"] == "gripper"
    assert values["provider"] and values["model_kinematic_hash"]
    for key in ("missed_deadlines", "joint_states_rejected", "consecutive_failures", "target_publishers"):
        assert int(values[key]) >= 0
    assert sum(int(value) for key, value in values.items() if key.startswith("count_")) == int(values["ticks"]) > 0


def test_status_carries_the_times_of_its_inputs(graph):
    g = graph()
    g.track()
    g.ticks(3)
    values = g.statuses()[-1]["values"]
    order = [float(values[k]) for k in ("target_stamp_s", "target_receipt_s", "tick_start_s", "publish_s")]
    assert order == sorted(order)
    assert float(values["joint_stamp_s"]) <= float(values["joint_receipt_s"]) <= float(values["tick_start_s"])
    assert float(values["lateness_s"]) >= 0.0


def test_a_malformed_joint_state_is_counted_and_changes_nothing(graph):
    g = graph()
    g.track()
    bad = g.helper.create_publisher(JointState, "joint_states", 1)
    g.until(lambda: bad.get_subscription_count() >= 2, "the node listens")
    bad.publish(JointState(name=["joint1", "joint2"], position=[9.0]))
    bad.publish(JointState())
    g.until(lambda: g.node.session.inbox.joints_rejected >= 1, "the rejection")
    g.ticks(3)
    assert g.statuses()[-1]["values"]["mode"] == "TRACKING"
    g.assert_within_limits()


def test_an_incompatible_subscriber_is_an_error_that_names_the_topic(graph):
    g = graph()
    g.start()
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    g.helper.create_subscription(JointState, "joint_command", lambda m: None, latched)
    g.until(lambda: g.node.qos_errors, "the event")
    assert g.node.qos_errors[0].startswith("/joint_command: a subscriber has an incompatible QoS policy DURABILITY")
