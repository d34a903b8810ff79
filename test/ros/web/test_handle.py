"""When the handle leads and when it sits on the tool, with times and poses written down by hand."""

import numpy as np
import pytest

from mimicik_ros.core import se3
from mimicik_ros.ros.web.handle import PATIENCE_S, SETTLE_S, STATUS_TIMEOUT_S, Handle, NodeView

ANNA, BERT = 1, 2
DISABLED = NodeView("disabled", "READY", 0.0)
TRACKING = NodeView("ok", "TRACKING", 0.0)
STALE_TARGET = NodeView("stale_target", "HOLDING", 0.0)
STALE_JOINTS = NodeView("stale_joints", "HOLDING", 0.0)


def at(x):
    return se3.pose(np.eye(3), np.array([x, 0.0, 0.2]))


TOOL = at(0.3)


def leading(handle=None):
    """A handle that Anna leads, settled, in front of a node that follows, at t = 10 s."""
    handle = handle or Handle()
    handle.step(0.0, TOOL, DISABLED)
    handle.enable(ANNA, 0.0)
    handle.step(0.1, TOOL, DISABLED)
    handle.step(10.0, TOOL, TRACKING)
    return handle


def test_while_nobody_leads_it_sits_on_the_tool_and_sends_nothing():
    step = Handle().step(0.0, TOOL, TRACKING)
    assert step.target is None
    assert np.array_equal(step.seat, TOOL)


def test_enable_starts_at_the_tool_wherever_the_handle_was_dragged_before():
    handle = leading()
    handle.press(ANNA, 10.1, TRACKING)
    handle.move(ANNA, at(0.5))
    handle.enable(ANNA, 10.2)
    step = handle.step(10.25, TOOL, TRACKING)
    assert np.array_equal(step.target, TOOL) and np.array_equal(step.seat, TOOL)


def test_of_many_drags_between_two_ticks_the_last_is_sent_and_the_handle_is_left_to_the_pointer():
    handle = leading()
    handle.press(ANNA, 10.0, TRACKING)
    for x in (0.31, 0.32, 0.33):
        handle.move(ANNA, at(x))
    step = handle.step(10.05, TOOL, TRACKING)
    assert np.array_equal(step.target, at(0.33)) and step.seat is None


def test_the_pose_is_sent_on_after_the_drag_so_that_the_arm_finishes_its_way():
    handle = leading()
    handle.press(ANNA, 10.0, TRACKING)
    handle.move(ANNA, at(0.33))
    handle.drop(ANNA)
    assert np.array_equal(handle.step(60.0, TOOL, TRACKING).target, at(0.33))


@pytest.mark.parametrize("node", [
    DISABLED, NodeView("held_by_request", "HOLDING", 0.0), NodeView("tracking_fault", "FAULT", 0.0),
    NodeView("homing", "HOMING", 0.0), STALE_JOINTS, NodeView(), NodeView("ok", "TRACKING", STATUS_TIMEOUT_S + 0.1)])
def test_a_drag_does_not_lead_a_node_that_would_not_follow(node):
    handle = Handle()
    handle.step(0.0, TOOL, node)
    handle.press(ANNA, 0.1, node)
    handle.move(ANNA, at(0.5))
    step = handle.step(0.15, TOOL, node)
    assert step.target is None and np.array_equal(step.seat, TOOL)
    assert handle.note


@pytest.mark.parametrize("label", ["waiting_for_target", "stale_target", "target_too_far"])
def test_a_drag_leads_a_node_that_only_lacks_a_target(label):
    handle = Handle()
    node = NodeView(label, "HOLDING", 0.0)
    handle.step(0.0, TOOL, node)
    handle.press(ANNA, 0.1, node)
    handle.move(ANNA, at(0.301))
    assert np.array_equal(handle.step(0.15, TOOL, node).target, at(0.301))


@pytest.mark.parametrize("node", [
    DISABLED, NodeView("held_by_request", "HOLDING", 0.0), NodeView("tracking_fault", "FAULT", 0.0),
    NodeView("other_publisher", "HOLDING", 0.0)])
def test_a_node_that_was_stopped_ends_the_lead_at_once_and_the_drag_that_is_held_counts_no_longer(node):
    handle = leading()
    handle.press(ANNA, 10.0, TRACKING)
    handle.move(ANNA, at(0.5))
    step = handle.step(10.05, TOOL, node)
    assert step.target is None and np.array_equal(step.seat, TOOL)
    handle.move(ANNA, at(0.6))
    assert handle.step(10.1, TOOL, TRACKING).target is None
    assert handle.note == f"the node says {node.label}"


@pytest.mark.parametrize("node", [STALE_TARGET, STALE_JOINTS])
def test_a_lost_input_is_waited_for_and_then_ends_the_lead(node):
    handle = leading()
    assert handle.step(10.0 + 0.9 * PATIENCE_S, TOOL, node).target is not None
    step = handle.step(10.0 + 1.1 * PATIENCE_S, TOOL, node)
    assert step.target is None and np.array_equal(step.seat, TOOL)


def test_a_node_that_is_enabled_gets_its_time_and_no_more():
    handle = Handle()
    handle.step(0.0, TOOL, DISABLED)
    handle.enable(ANNA, 0.0)
    assert handle.step(0.9 * SETTLE_S, TOOL, DISABLED).target is not None
    assert handle.step(1.1 * SETTLE_S, TOOL, DISABLED).target is None


def test_a_node_that_has_followed_since_enable_is_taken_at_its_word_when_it_stops():
    handle = Handle()
    handle.step(0.0, TOOL, DISABLED)
    handle.enable(ANNA, 0.0)
    handle.step(0.1, TOOL, DISABLED)
    handle.step(0.2, TOOL, TRACKING)
    assert handle.step(0.3, TOOL, DISABLED).target is None


def test_the_loss_of_the_browser_that_leads_ends_the_lead_and_that_of_another_does_not():
    handle = leading()
    handle.lost(BERT)
    assert handle.step(10.1, TOOL, TRACKING).target is not None
    handle.lost(ANNA)
    step = handle.step(10.2, TOOL, TRACKING)
    assert step.target is None and np.array_equal(step.seat, TOOL)


def test_one_browser_drags_at_a_time_and_another_may_take_over_afterwards():
    handle = leading()
    handle.press(ANNA, 10.0, TRACKING)
    handle.press(BERT, 10.0, TRACKING)
    handle.move(ANNA, at(0.31))
    handle.move(BERT, at(0.9))
    assert np.array_equal(handle.step(10.1, TOOL, TRACKING).target, at(0.31))
    handle.drop(ANNA)
    handle.press(BERT, 10.2, TRACKING)
    handle.move(BERT, at(0.32))
    assert np.array_equal(handle.step(10.3, TOOL, TRACKING).target, at(0.32))
    handle.lost(ANNA)
    assert handle.step(10.4, TOOL, TRACKING).target is not None


def test_reset_puts_target_and_handle_back_to_the_tool():
    handle = leading()
    handle.press(ANNA, 10.0, TRACKING)
    handle.move(ANNA, at(0.5))
    handle.reset()
    step = handle.step(10.1, TOOL, TRACKING)
    assert np.array_equal(step.target, TOOL) and np.array_equal(step.seat, TOOL)
    handle.move(ANNA, at(0.6))
    assert np.array_equal(handle.step(10.2, TOOL, TRACKING).target, TOOL)


def test_without_a_tool_pose_nothing_is_enabled():
    handle = Handle()
    handle.enable(ANNA, 0.0)
    step = handle.step(0.1, None, DISABLED)
    assert step.target is None and step.seat is None and handle.leader is None


def test_a_pose_that_is_not_finite_is_not_taken():
    handle = leading()
    handle.press(ANNA, 10.0, TRACKING)
    handle.move(ANNA, at(np.nan))
    assert np.array_equal(handle.step(10.1, TOOL, TRACKING).target, TOOL)
