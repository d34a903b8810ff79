"""What a tick can say about itself: one status, its text and its remedy; and the servo's mode."""

from __future__ import annotations

from enum import Enum


class Mode(str, Enum):
    """State of the engagement machine."""

    WAITING = "WAITING"  # inputs incomplete
    READY = "READY"  # inputs complete, not enabled
    ENGAGING = "ENGAGING"  # ramping up from the measured joints
    TRACKING = "TRACKING"  # following the target
    HOMING = "HOMING"  # moving to home.q_rad
    HOLDING = "HOLDING"  # latched on the last command
    FAULT = "FAULT"  # needs ~/reset


class Severity(str, Enum):
    """Severity of a status; maps to the levels of diagnostic_msgs/DiagnosticStatus."""

    OK = "OK"
    WARN = "WARN"
    ERROR = "ERROR"


class Status(Enum):
    """Outcome of one tick: (name on the wire, severity, text, remedy)."""

    OK = ("ok", Severity.OK, "command meets the governed target", "")
    REACHED = ("reached", Severity.OK, "command meets the target itself", "")
    LIMITED = ("limited", Severity.OK, "joint limits slow the motion", "send slower or nearer targets, or raise the limits")
    NOT_CONVERGED = (
        "not_converged", Severity.WARN, "the governed target is not met; best effort that reduces the error",
        "the target may be out of reach or near a singularity",
    )
    NO_IMPROVEMENT = (
        "no_improvement", Severity.WARN, "no step reduces the error; holding", "the target is likely out of reach",
    )
    BRANCH_JUMP = ("branch_jump", Severity.WARN, "a proposal jumped to another branch and was refused", "check the model")
    DISABLED = ("disabled", Severity.OK, "not enabled", "call ~/enable with data: true")
    ENGAGING = ("engaging", Severity.OK, "ramping up from the measured joints", "")
    HELD_BY_REQUEST = ("held_by_request", Severity.OK, "held by ~/hold", "call ~/enable with data: true")
    HOMING = ("homing", Severity.OK, "moving to home.q_rad by ~/go_home", "call ~/hold to stop")
    AT_HOME = ("at_home", Severity.OK, "at home.q_rad; targets are not followed", "call ~/enable with data: true")
    WAITING_FOR_JOINTS = (
        "waiting_for_joints", Severity.WARN, "not every joint has been received yet",
        "check the joint_states topic and the joint names",
    )
    WAITING_FOR_TARGET = (
        "waiting_for_target", Severity.OK, "no target received yet", "publish ~/target_pose, ~/target_path or ~/target_twist",
    )
    STALE_JOINTS = ("stale_joints", Severity.ERROR, "joint states are too old", "check the driver and its clock")
    STALE_TARGET = ("stale_target", Severity.WARN, "the target is too old", "check the target publisher and its clock")
    STAMP_IN_FUTURE = ("stamp_in_future", Severity.ERROR, "a stamp lies in the future", "synchronise the clocks")
    NO_STAMP = ("no_stamp", Severity.ERROR, "a message has stamp 0", "stamp it, or set freshness.accept_zero_stamp")
    OUT_OF_WORLD = (
        "out_of_world", Severity.ERROR, "the target position is absurd", "send metres in the base frame",
    )
    NON_FINITE = ("non_finite", Severity.ERROR, "a value is NaN or infinite", "check the publisher")
    BAD_QUATERNION = ("bad_quaternion", Severity.ERROR, "the target quaternion cannot be normalised", "send a unit xyzw")
    BAD_FRAME = (
        "bad_frame", Severity.ERROR, "the target's frame_id is not the base frame",
        "send targets in robot.base_frame, or set freshness.assume_base_frame for empty frame_ids",
    )
    NO_TRANSFORM = (
        "no_transform", Severity.ERROR, "tf has no transform from the target's frame to the base frame",
        "publish one, or send targets in robot.base_frame",
    )
    BAD_PATH = (
        "bad_path", Severity.ERROR, "the path cannot be followed",
        "send poses with increasing stamps, or with none for target.chunk_period_s",
    )
    TARGET_TOO_FAR = (
        "target_too_far", Severity.WARN, "the target is too far from the tool to engage",
        "move the target near the tool, or raise engage.max_distance_m / max_angle_rad",
    )
    JOINTS_OUT_OF_RANGE = (
        "joints_out_of_range", Severity.ERROR, "measured joints lie outside the position limits",
        "move the arm inside its limits, or check the URDF",
    )
    TRACKING_FAULT = (
        "tracking_fault", Severity.ERROR, "measured joints are too far from the command",
        "free the arm, then call ~/reset",
    )
    OTHER_PUBLISHER = (
        "other_publisher", Severity.ERROR, "another node publishes on joint_command; holding",
        "stop the other node, then call ~/enable; or set output.other_publisher",
    )
    INTERNAL_ERROR = ("internal_error", Severity.ERROR, "a step of the tick failed; holding", "see the log")

    def __init__(self, label: str, severity: Severity, text: str, remedy: str) -> None:
        self.label = label
        self.severity = severity
        self.text = text
        self.remedy = remedy
