"""What RViz gets to draw: six degrees of freedom, the menu, and a colour for every state."""

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from visualization_msgs.msg import InteractiveMarkerControl, Marker, MenuEntry

from mimicik_ros.core import se3
from mimicik_ros.core.status import Mode, Severity, Status
from mimicik_ros.ros import diagnostics
from mimicik_ros.ros.marker_description import Entry, ServoState, colour, describe, servo_state, status_text

T = se3.pose(se3.rotation_exp(np.array([0.0, 0.0, np.pi / 2])), np.array([0.1, 0.2, 0.3]))
RED, GREEN, AMBER, GREY = (0.9, 0.15, 0.15), (0.2, 0.8, 0.3), (1.0, 0.65, 0.0), (0.5, 0.5, 0.5)
Control = InteractiveMarkerControl


def handle():
    return describe("left/base_link", T, 0.2, RED, "left")


def test_the_handle_stands_at_its_pose_locked_to_the_base_frame():
    marker = handle()
    assert marker.header.frame_id == "left/base_link"
    assert (marker.header.stamp.sec, marker.header.stamp.nanosec) == (0, 0)  # RViz then reports in this very frame
    p, r = marker.pose.position, marker.pose.orientation
    assert (p.x, p.y, p.z) == (0.1, 0.2, 0.3)
    assert np.allclose([r.x, r.y, r.z, r.w], [0, 0, np.sqrt(0.5), np.sqrt(0.5)])
    assert marker.name == "tool" and marker.description == "left" and marker.scale == pytest.approx(0.2)


def test_each_axis_of_the_tool_can_be_moved_along_and_turned_about():
    controls = {c.name: c for c in handle().controls}
    for axis, direction in zip("xyz", np.eye(3), strict=True):
        for verb, mode in (("move", Control.MOVE_AXIS), ("rotate", Control.ROTATE_AXIS)):
            control = controls[f"{verb}_{axis}"]
            assert control.interaction_mode == mode and control.orientation_mode == Control.INHERIT
            o = control.orientation
            along = se3.rotation_from_quat(np.array([o.x, o.y, o.z, o.w])) @ [1.0, 0.0, 0.0]  # RViz acts along the control's x
            assert np.allclose(along, direction, atol=1e-12)
    assert len(controls) == 7  # and the ball


def test_the_ball_is_always_there_to_be_dragged_and_has_the_colour():
    ball = next(c for c in handle().controls if c.name == "free")
    assert ball.always_visible and ball.interaction_mode == Control.MOVE_3D
    (marker,) = ball.markers
    assert marker.type == Marker.SPHERE
    assert (marker.color.r, marker.color.g, marker.color.b) == pytest.approx(RED) and marker.color.a > 0.5


def test_the_menu_has_its_entries_and_sends_them_as_feedback():
    entries = {e.title: e for e in handle().menu_entries}
    assert set(entries) == {"Enable", "Hold", "Go home", "Reset marker", "Clear fault"}
    assert len({e.id for e in entries.values()}) == len(Entry) and all(e.id > 0 for e in entries.values())
    assert all(e.command_type == MenuEntry.FEEDBACK and e.parent_id == 0 for e in entries.values())


@pytest.mark.parametrize(("status", "mode", "wanted"), [
    (Status.OK, Mode.TRACKING, GREEN), (Status.REACHED, Mode.TRACKING, GREEN), (Status.LIMITED, Mode.TRACKING, GREEN),
    (Status.ENGAGING, Mode.ENGAGING, (0.2, 0.45, 1.0)), (Status.NOT_CONVERGED, Mode.TRACKING, AMBER),
    (Status.STALE_TARGET, Mode.HOLDING, AMBER), (Status.TARGET_TOO_FAR, Mode.READY, AMBER),
    (Status.DISABLED, Mode.READY, (0.65, 0.75, 0.9)), (Status.HELD_BY_REQUEST, Mode.HOLDING, (0.65, 0.75, 0.9)),
    (Status.WAITING_FOR_TARGET, Mode.WAITING, (0.65, 0.75, 0.9)), (Status.STALE_JOINTS, Mode.HOLDING, RED),
    (Status.TRACKING_FAULT, Mode.FAULT, RED), (Status.OTHER_PUBLISHER, Mode.HOLDING, RED),
], ids=lambda v: getattr(v, "label", ""))
def test_a_status_message_of_the_node_gives_its_colour(status, mode, wanted):
    message = diagnostics.status_message("/mimicik", status, {"status": status.label, "mode": mode.value})
    state = servo_state(diagnostics.status_values(message), message.level)
    assert (state.mode, state.severity, state.label) == (mode, status.severity, status.label)
    assert colour(state) == wanted


def test_without_a_servo_or_with_one_that_says_nothing_known_it_is_grey():
    assert colour(ServoState()) == GREY
    assert colour(servo_state({"mode": "DANCING"}, DiagnosticStatus.OK)) == GREY


def test_an_unknown_level_is_an_error():
    assert servo_state({"mode": "TRACKING", "status": "x"}, DiagnosticStatus.STALE).severity is Severity.ERROR


def test_the_text_says_mode_and_status_above_the_handle_in_the_same_colour():
    text = status_text("base_link", T, 0.2, ServoState(Mode.TRACKING, Severity.WARN, "not_converged"))
    assert text.text == "TRACKING: not_converged" and text.type == Marker.TEXT_VIEW_FACING
    assert (text.pose.position.x, text.pose.position.y, text.pose.position.z) == pytest.approx((0.1, 0.2, 0.3 + 0.16))
    assert (text.color.r, text.color.g, text.color.b) == pytest.approx(AMBER)
    assert status_text("base_link", T, 0.2, ServoState()).text == "no status"
