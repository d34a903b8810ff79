"""The node moves the fake arm: every output type, other joint orders, holds on loss, and never beyond the limits."""

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.lifecycle import TransitionCallbackReturn

SUCCESS = TransitionCallbackReturn.SUCCESS


def state_label(node):
    return node._state_machine.current_state[1]


def test_autostart_reaches_active(graph):
    g = graph()
    assert g.node.autostart()
    assert state_label(g.node) == "active"


def test_nothing_is_sent_before_enable(graph):
    g = graph()
    g.start()
    T = g.home_pose()
    g.stream(lambda t: g.send(T))
    g.until_status("disabled")
    g.ticks(10)
    assert len(g.commands()) == 0 or np.ptp(g.commands(), axis=0).max() == 0.0


@pytest.mark.parametrize(("command_type", "driver", "gripper"), [
    ("joint_state", "vendor", False), ("joint_state", "vendor_g2", True), ("float64_multi_array", "forward", True),
    ("float64_multi_array", "forward", False), ("joint_trajectory", "trajectory", False),
    ("joint_trajectory", "trajectory", True)])
def test_every_output_type_moves_the_arm_with_a_small_residual(graph, command_type, driver, gripper):
    g = graph(node={"output.type": command_type, "output.append_gripper": gripper, "output.gripper_position": 0.02},
              arm={"driver": driver, "gripper": gripper, "from_desired": True})
    g.track()
    first = len(g.recorder.rows("residual"))
    g.ticks(40)
    q = g.assert_within_limits()
    assert g.arm.rejected == 0
    assert np.ptp(q, axis=0).max() > 0.01, "the command moved"
    g.until(lambda: np.max(np.abs(g.arm.model.q_measured - g.commands()[-1])) < 0.05, "the arm follows")
    residuals = [row["position_m"] for row in g.recorder.rows("residual")[first:]]
    assert np.mean(residuals) < 1e-4


def test_other_joint_order_extra_joints_and_nan_effort_do_not_matter(graph):
    g = graph(arm={"shuffle_names": True, "gripper": True})
    g.track()
    g.ticks(20)
    g.assert_within_limits()
    snapshot = g.node.session.inbox.joints.q
    assert np.max(np.abs(snapshot - g.arm.model.q_measured)) < 0.02
    assert set(g.node.session.inbox.ignored_names) == {"gripper"}


def test_lost_targets_brake_within_limits_and_hold_the_last_command(graph):
    g = graph()
    g.track()
    g.ticks(10)
    g.silence()
    g.until_status("stale_target")
    g.ticks(15)
    q = g.assert_within_limits()
    assert np.max(np.abs(q[-1] - q[-2])) == 0.0
    assert g.statuses()[-1]["level"] == int.from_bytes(DiagnosticStatus.WARN, "little")
    assert g.statuses()[-1]["values"]["mode"] == "HOLDING"


def test_a_silent_driver_is_stale_joints_and_no_motion(graph):
    g = graph(node={"freshness.joints_timeout_s": 0.4})
    g.track()
    g.arm._loop.cancel()
    g.until_status("stale_joints")
    g.ticks(15)
    q = g.assert_within_limits()
    assert np.max(np.abs(q[-1] - q[-2])) == 0.0


def _nan(g, T):
    g.send(T, position=np.array([np.nan, 0.0, 0.2]))


def _zero_quaternion(g, T):
    g.send(T, quat=np.zeros(4))


def _wrong_frame(g, T):
    g.send(T, frame="camera")


def _empty_frame(g, T):
    g.send(T, frame="")


def _future(g, T):
    g.send(T, offset_s=5.0)


def _no_stamp(g, T):
    g.send(T, stamp_s=0.0)


@pytest.mark.parametrize(("bad", "label"), [
    (_nan, "non_finite"), (_zero_quaternion, "bad_quaternion"), (_wrong_frame, "no_transform"), (_empty_frame, "bad_frame"),
    (_future, "stamp_in_future"), (_no_stamp, "no_stamp")], ids=lambda v: getattr(v, "__name__", v))
def test_a_bad_target_is_named_and_stops_the_arm_within_limits(graph, bad, label):
    g = graph()
    g.track()
    g.ticks(5)
    T = g.home_pose()
    g.stream(lambda t: bad(g, T))
    g.until_status(label)
    g.ticks(15)
    assert g.status() == label
    q = g.assert_within_limits()
    assert np.max(np.abs(q[-1] - q[-2])) == 0.0


def test_a_far_target_does_not_engage(graph):
    g = graph()
    g.start()
    T = g.home_pose()
    T[:3, 3] += np.array([0.0, 0.5, 0.0])
    g.stream(lambda t: g.send(T))
    g.until_status("disabled")
    g.enable()
    g.until_status("target_too_far")
    g.ticks(5)
    assert np.ptp(g.commands(), axis=0).max() == 0.0 if len(g.commands()) else True


@pytest.mark.parametrize("end", ["deactivate", "shutdown"])
def test_leaving_the_active_state_brakes_within_limits(graph, end):
    g = graph()
    g.track()
    g.ticks(20)
    leave = g.node.trigger_deactivate if end == "deactivate" else g.node.trigger_shutdown
    assert leave() == SUCCESS
    g.until(lambda: np.max(np.abs(np.diff(g.commands()[-2:], axis=0))) == 0.0, "the held command")
    count = len(g.commands())
    g.assert_within_limits()
    for _ in range(20):
        g.executor.spin_once(timeout_sec=0.01)
    assert len(g.commands()) == count


@pytest.mark.parametrize("home", [[0.0] * 6, [0.0, 0.0, 0.0, 1.5708, 0.0, -1.5708]], ids=["zeros", "vendor"])
def test_both_singular_vendor_poses_can_be_left(graph, home):
    g = graph(arm={"home_rad": home})
    g.start()
    T = g.home_pose()

    def away(t):
        move = T.copy()
        move[:3, 3] += min(0.04, 0.02 * t) * np.array([-1.0, 0.5, 0.5])
        g.send(move)

    g.stream(away)
    g.until_status("disabled")
    g.enable()
    g.until(lambda: any(float(r["values"]["target_residual_m"] or 1.0) < 1e-3 and np.ptp(g.commands(), axis=0).max() > 0.05
                        for r in g.statuses()[-3:]), "the target to be reached away from the singular pose", 30.0)
    g.assert_within_limits()
