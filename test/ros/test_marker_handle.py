"""The handle leads only when dragged or enabled, goes back to the tool when it should, and never moves under the mouse."""

import numpy as np
import pytest

from mimicik_ros.core import se3
from mimicik_ros.core.status import Mode, Severity
from mimicik_ros.ros.marker_description import Entry, ServoState
from mimicik_ros.ros.marker_handle import Handle

TIMEOUT_S = 10.0
READY = ServoState(Mode.READY, Severity.OK, "disabled")
ENGAGING = ServoState(Mode.ENGAGING, Severity.OK, "engaging")
TRACKING = ServoState(Mode.TRACKING, Severity.OK, "ok")
HELD = ServoState(Mode.HOLDING, Severity.OK, "held_by_request")
LOST_JOINTS = ServoState(Mode.HOLDING, Severity.ERROR, "stale_joints")
FAULT = ServoState(Mode.FAULT, Severity.ERROR, "tracking_fault")


def at(x, angle=0.0):
    return se3.pose(se3.rotation_exp(np.array([0.0, 0.0, angle])), np.array([x, 0.0, 0.0]))


TOOL = at(0.0)


def seated():
    """A handle on the tool, its first seat already sent."""
    handle = Handle(TIMEOUT_S)
    assert handle.tick(TOOL, 0.0).seat is not None
    return handle


def drag(handle, *poses, now_s=1.0, client="rviz"):
    handle.mouse_down(client, now_s)
    for pose in poses:
        handle.moved(client, pose, now_s)


def leading():
    """A handle that was dragged to 0.1 m and let go, and whose arm follows."""
    handle = seated()
    for state in (READY, ENGAGING, TRACKING):
        handle.servo(state)
    handle.tick(TOOL, 0.9)
    drag(handle, at(0.1))
    handle.mouse_up("rviz", at(0.1), 1.0)
    assert handle.tick(TOOL, 1.0).target is not None
    return handle


def test_it_appears_at_the_tool_as_soon_as_the_joints_are_known_and_not_before():
    handle = Handle(TIMEOUT_S)
    for now_s in (0.0, 0.05):
        step = handle.tick(None, now_s)
        assert step.seat is None and step.target is None and handle.T is None
    step = handle.tick(TOOL, 0.1)
    assert np.array_equal(step.seat, TOOL) and step.target is None
    assert handle.tick(TOOL, 0.15).seat is None


def test_only_the_last_of_many_drags_between_two_ticks_is_sent():
    handle = seated()
    drag(handle, *(at(0.001 * i) for i in range(1, 201)))
    step = handle.tick(TOOL, 1.05)
    assert step.target[0, 3] == pytest.approx(0.2)


def test_a_drag_never_moves_the_handle_under_the_mouse_and_its_end_puts_it_where_it_was_let_go():
    handle = seated()
    drag(handle, at(0.1))
    assert [handle.tick(at(0.05 * i), 1.0 + i).seat for i in range(5)] == [None] * 5
    handle.mouse_up("rviz", at(0.12), 6.0)
    step = handle.tick(TOOL, 6.05)
    assert step.seat[0, 3] == pytest.approx(0.12) and step.target[0, 3] == pytest.approx(0.12)
    assert handle.tick(TOOL, 6.1).seat is None and handle.tick(TOOL, 6.1).target[0, 3] == pytest.approx(0.12)


def test_a_press_alone_takes_no_control():
    handle = seated()
    handle.mouse_down("rviz", 1.0)
    assert handle.tick(TOOL, 1.0).target is None
    handle.mouse_up("rviz", at(0.0), 1.1)
    assert handle.tick(TOOL, 1.1).target is None


def test_poses_outside_a_drag_and_of_another_client_are_not_taken():
    handle = seated()
    handle.moved("rviz", at(0.5), 0.5)
    assert handle.tick(TOOL, 0.5).target is None
    drag(handle, at(0.1))
    handle.mouse_down("other", 1.0)
    handle.moved("other", at(0.9), 1.0)
    handle.mouse_up("other", at(0.9), 1.0)
    assert handle.tick(TOOL, 1.0).target[0, 3] == pytest.approx(0.1)
    assert handle.dragger == "rviz"


def test_an_unusable_pose_at_the_release_leaves_it_where_it_was_last():
    handle = seated()
    drag(handle, at(0.1))
    handle.mouse_up("rviz", None, 1.0)
    step = handle.tick(TOOL, 1.0)
    assert step.seat[0, 3] == step.target[0, 3] == pytest.approx(0.1)


def test_it_follows_the_tool_while_it_does_not_lead_but_not_at_every_tick():
    handle = seated()
    seats = [handle.tick(at(0.01 * i), 0.05 * i).seat for i in range(1, 41)]
    sent = [i for i, seat in enumerate(seats, 1) if seat is not None]
    assert sent == [10, 20, 30, 40]  # 2 s at 20 Hz, one each 0.5 s
    assert np.array_equal(seats[9], at(0.1))


def test_it_does_not_follow_a_tool_that_only_trembles():
    handle = seated()
    assert all(handle.tick(at(0.0009, 0.009), float(t)).seat is None for t in range(1, 5))
    assert handle.tick(at(0.0, 0.011), 6.0).seat is not None
    assert handle.tick(at(0.0011, 0.011), 7.0).seat is not None


def test_enable_from_the_menu_starts_at_the_tool_wherever_the_handle_was():
    handle = seated()
    drag(handle, at(0.3))
    handle.mouse_up("rviz", at(0.3), 1.0)
    handle.tick(TOOL, 1.0)
    handle.select(Entry.ENABLE, 2.0)
    step = handle.tick(at(0.02), 2.05)
    assert step.calls == (Entry.ENABLE,)
    assert np.array_equal(step.seat, at(0.02)) and np.array_equal(step.target, at(0.02))


def test_enable_without_joints_is_refused_and_calls_nothing():
    handle = seated()
    handle.select(Entry.ENABLE, 1.0)
    step = handle.tick(None, 1.05)
    assert step.calls == () and step.target is None
    assert "no fresh joint states" in handle.refused
    assert handle.tick(TOOL, 1.1).calls == () and handle.refused is None


def test_enabled_by_anyone_it_goes_back_to_the_tool():
    handle = seated()
    handle.servo(READY)
    drag(handle, at(0.1))
    handle.mouse_up("rviz", at(0.1), 1.0)
    handle.tick(TOOL, 1.0)
    handle.servo(ENGAGING)
    step = handle.tick(at(0.01), 1.1)
    assert np.array_equal(step.seat, at(0.01)) and np.array_equal(step.target, at(0.01))


def test_enabled_by_anyone_during_a_drag_the_drag_counts():
    handle = seated()
    handle.servo(READY)
    drag(handle, at(0.1))
    handle.servo(ENGAGING)
    step = handle.tick(TOOL, 1.1)
    assert step.seat is None and step.target[0, 3] == pytest.approx(0.1)


def test_an_arm_that_resumes_by_itself_after_a_lost_input_goes_on_to_the_handle():
    handle = leading()
    handle.servo(LOST_JOINTS)
    handle.servo(ENGAGING)
    step = handle.tick(TOOL, 1.1)
    assert step.seat is None and step.target[0, 3] == pytest.approx(0.1)


@pytest.mark.parametrize("state", [HELD, FAULT, ServoState(Mode.HOLDING, Severity.OK, "disabled")], ids=lambda s: s.label)
def test_stopped_by_anyone_it_stops_sending_and_goes_to_the_tool(state):
    handle = leading()
    handle.servo(state)
    step = handle.tick(at(0.05), 1.1)
    assert step.target is None and np.array_equal(step.seat, at(0.05))


def test_stopped_during_a_drag_the_rest_of_that_drag_counts_no_longer():
    handle = leading()
    drag(handle, at(0.15), now_s=1.5)
    handle.servo(HELD)
    handle.moved("rviz", at(0.4), 1.6)
    step = handle.tick(TOOL, 1.6)
    assert step.target is None and np.array_equal(step.seat, TOOL)
    handle.mouse_up("rviz", at(0.4), 1.7)
    assert handle.tick(TOOL, 1.7).target is None
    drag(handle, at(0.02), now_s=2.0)
    assert handle.tick(TOOL, 2.0).target[0, 3] == pytest.approx(0.02)


@pytest.mark.parametrize("held", [True, False], ids=["mouse held still or RViz gone", "let go"])
def test_after_the_timeout_it_stops_sending_and_goes_to_the_tool(held):
    handle = seated()
    drag(handle, at(0.1))
    if not held:
        handle.mouse_up("rviz", at(0.1), 1.0)
    assert handle.tick(at(0.05), 1.0 + TIMEOUT_S).target is not None
    step = handle.tick(at(0.05), 1.01 + TIMEOUT_S)
    assert step.target is None and np.array_equal(step.seat, at(0.05))
    handle.moved("rviz", at(0.3), 12.0)
    assert handle.tick(at(0.05), 12.0).target is None


@pytest.mark.parametrize(("entry", "calls"), [
    (Entry.HOLD, (Entry.HOLD,)), (Entry.GO_HOME, (Entry.GO_HOME,)), (Entry.RESET_MARKER, ())])
def test_hold_home_and_reset_stop_sending_and_go_to_the_tool(entry, calls):
    handle = leading()
    handle.select(entry, 2.0)
    step = handle.tick(at(0.05), 2.05)
    assert step.calls == calls and step.target is None and np.array_equal(step.seat, at(0.05))


def test_clearing_a_fault_only_calls():
    handle = leading()
    handle.select(Entry.CLEAR_FAULT, 2.0)
    step = handle.tick(TOOL, 2.05)
    assert step.calls == (Entry.CLEAR_FAULT,) and step.target is not None and step.seat is None


def test_entries_chosen_between_two_ticks_are_followed_in_their_order():
    handle = seated()
    handle.select(Entry.ENABLE, 1.0)
    handle.select(Entry.HOLD, 1.0)
    step = handle.tick(TOOL, 1.0)
    assert step.calls == (Entry.ENABLE, Entry.HOLD) and step.target is None
    handle.select(Entry.HOLD, 2.0)
    handle.select(Entry.ENABLE, 2.0)
    step = handle.tick(TOOL, 2.0)
    assert step.calls == (Entry.HOLD, Entry.ENABLE) and step.target is not None


def test_a_return_without_joints_waits_for_them():
    handle = leading()
    handle.select(Entry.RESET_MARKER, 2.0)
    assert handle.tick(None, 2.0).seat is None
    assert np.array_equal(handle.tick(at(0.07), 2.05).seat, at(0.07))
