"""joint_command between the ticks, on the live graph: the rate, the limits from command to command, and the end."""

import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from std_srvs.srv import Trigger

SUCCESS = TransitionCallbackReturn.SUCCESS
FAST = {"output.command_rate_hz": 200.0}


def ends_at_the_ticks_command(g):
    """Whether the last command is the joints of the last tick, to the bit."""
    return np.array_equal(g.commands()[-1], g.node.session.last.q_command)


def test_commands_come_at_the_rate_asked_for_and_within_the_limits_from_one_to_the_next(graph):
    g = graph(node=FAST)
    g.track()
    g.ticks(5)
    begun = (len(g.statuses()), len(g.commands()))
    g.ticks(40)
    q = g.assert_within_limits()
    per_tick = (len(q) - begun[1]) / (len(g.statuses()) - begun[0])
    assert 5.0 < per_tick < 11.0  # 10, less what a busy machine leaves out
    assert np.ptp(q, axis=0).max() > 0.01
    g.until(lambda: np.max(np.abs(g.arm.model.q_measured - g.commands()[-1])) < 0.05, "the arm follows")


def test_the_ticks_and_what_they_publish_are_the_same_as_without(graph):
    g = graph(node=FAST)
    g.track()
    g.ticks(40)
    residuals = [row["position_m"] for row in g.recorder.rows("residual")[-30:]]
    assert np.mean(residuals) < 1e-4


def test_it_is_off_by_default(graph):
    g = graph()
    g.track()
    commands, statuses = len(g.commands()), len(g.statuses())
    g.ticks(20)
    assert len(g.commands()) - commands <= len(g.statuses()) - statuses + 1


def test_lost_targets_end_at_the_command_of_the_tick_to_the_bit(graph):
    g = graph(node=FAST)
    g.track()
    g.ticks(10)
    g.silence()
    g.until_status("stale_target")
    g.until(lambda: not g.node.session.moving, "the ticks have braked")
    g.ticks(15)
    g.assert_within_limits()
    assert ends_at_the_ticks_command(g)


def test_it_falls_silent_with_the_ticks_and_begins_again_at_the_measured_joints(graph):
    g = graph(node={**FAST, "freshness.on_timeout": "stop_publishing"})
    g.track()
    g.ticks(10)
    g.silence()
    g.until_status("stale_target")
    g.until(lambda: g.node.session.last.q_command is None and g.node._stream.silent, "silence")
    before = len(g.commands())
    g.ticks(5)
    assert len(g.commands()) == before
    g.assert_within_limits()
    T = g.node.session.servo.kinematics.fk(g.arm.model.q_measured)
    g.stream(lambda t: g.send(T))
    g.enable()
    g.until(lambda: len(g.commands()) > before + 5, "commands")
    assert np.max(np.abs(g.commands()[before] - g.arm.model.q_measured)) < 0.06


@pytest.mark.parametrize("end", ["deactivate", "shutdown"])
def test_leaving_the_active_state_comes_to_rest_within_the_limits_and_then_says_nothing(graph, end):
    g = graph(node=FAST)
    g.track()
    g.ticks(20)
    leave = g.node.trigger_deactivate if end == "deactivate" else g.node.trigger_shutdown
    assert leave() == SUCCESS
    g.until(lambda: np.array_equal(*g.commands()[-2:]), "the held command")
    for _ in range(10):
        g.executor.spin_once(timeout_sec=0.01)
    count = len(g.commands())
    g.assert_within_limits()
    for _ in range(20):
        g.executor.spin_once(timeout_sec=0.01)
    assert len(g.commands()) == count


def test_a_hold_ends_at_the_command_of_the_tick_and_stays(graph):
    g = graph(node=FAST)
    g.track()
    g.ticks(10)
    assert isinstance(g.trigger("hold"), Trigger.Response)
    g.until(lambda: g.node.session.hold and not g.node.session.moving, "the ticks have braked")
    g.ticks(15)
    g.assert_within_limits()
    assert ends_at_the_ticks_command(g)
    assert np.ptp(g.commands()[-20:], axis=0).max() == 0.0


def test_a_rate_below_that_of_the_ticks_is_refused_with_the_remedy(graph):
    g = graph(node={"output.command_rate_hz": 10.0})
    assert not g.node.autostart()
    assert "output.command_rate_hz is 10 Hz, below servo.rate_hz 20 Hz; give at least that, or 0" in g.node.failure
