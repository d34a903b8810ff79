"""Messages that say how it goes: one DiagnosticStatus each tick, one DiagnosticArray each second."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from mimicik_ros.core.model_card import ModelCard
from mimicik_ros.core.status import Severity, Status
from mimicik_ros.ros.inbox import Inbox
from mimicik_ros.ros.pacing import Pacing

LEVELS = {Severity.OK: DiagnosticStatus.OK, Severity.WARN: DiagnosticStatus.WARN, Severity.ERROR: DiagnosticStatus.ERROR}


def text(value: Any) -> str:
    """Value as text that keeps a float exactly; None is empty."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(float(value))
    return str(value)


def status_message(name: str, status: Status, values: Mapping[str, Any]) -> DiagnosticStatus:
    """Status of one tick. message is the status' text and remedy; values hold its label under `status`."""
    remedy = f" ({status.remedy})" if status.remedy else ""
    return DiagnosticStatus(
        level=LEVELS[status.severity], name=name, message=status.text + remedy, hardware_id="mimicik",
        values=[KeyValue(key=k, value=text(v)) for k, v in values.items()])


def status_values(message: DiagnosticStatus) -> dict[str, str]:
    """Values of a status message by key."""
    return {entry.key: entry.value for entry in message.values}


def input_times(inbox: Inbox) -> dict[str, float | None]:
    """Stamps and receipts of the newest inputs on the ROS clock; the joint stamp is the oldest of ours, None when incomplete."""
    stamps = inbox.joints.stamp_s
    return {
        "target_stamp_s": inbox.target_stamp_s,
        "target_receipt_s": inbox.target_receipt_ros_s,
        "joint_stamp_s": float(np.min(stamps)) if np.all(np.isfinite(stamps)) else None,
        "joint_receipt_s": inbox.joints_receipt_ros_s,
    }


def pacing_values(pacing: Pacing) -> dict[str, Any]:
    """Rate, lateness and missed deadlines."""
    median, largest = pacing.lateness_s()
    return {
        "rate_hz": pacing.rate_hz(), "ticks": pacing.ticks, "missed_deadlines": pacing.missed,
        "skipped_ticks": pacing.skipped, "lateness_median_s": median, "lateness_max_s": largest,
    }


def inbox_values(inbox: Inbox) -> dict[str, Any]:
    """Counts of received, rejected and ignored messages."""
    return {
        "joint_states_received": inbox.joints_received, "joint_states_rejected": inbox.joints_rejected,
        "targets_received": sum(inbox.targets_received.values()),
        **{f"{source}_targets_received": count for source, count in inbox.targets_received.items()},
        "gripper_targets_rejected": inbox.grippers_rejected, "ignored_joint_names": ", ".join(sorted(inbox.ignored_names)),
        "joint_states_order": ", ".join(inbox.order or ()),
    }


def card_values(card: ModelCard | None) -> dict[str, Any]:
    """What the model says of itself."""
    if card is None:
        return {"model": "none"}
    return {
        "model": card.robot_name, "model_created": card.created, "model_code_version": card.code_version,
        "model_kinematic_hash": card.kinematic_hash, **{f"model_{k}": v for k, v in card.metrics.items()},
    }


def diagnostic_array(name: str, status: Status, values: Mapping[str, Any], time: Time) -> DiagnosticArray:
    """The 1 Hz report."""
    out = DiagnosticArray(status=[status_message(name, status, values)])
    out.header.stamp = time
    return out
