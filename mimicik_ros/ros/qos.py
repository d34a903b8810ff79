"""Quality of service of every topic, and the report of peers that cannot match it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy

# Best effort hears reliable and best-effort publishers alike; only the newest target counts.
TARGET_QOS = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)

# Two drivers may share joint_states with partial messages: with a depth of 1 one of them could be overwritten every time.
JOINTS_QOS = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)

# Reliable serves reliable and best-effort subscribers alike; an old command must never be delivered late, hence depth 1.
COMMAND_QOS = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=1, reliability=ReliabilityPolicy.RELIABLE)

REPORT_QOS = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=10, reliability=ReliabilityPolicy.RELIABLE)


def publisher_events(topic: str, report: Callable[[str], None]) -> PublisherEventCallbacks:
    """Callbacks that report each subscriber of topic that cannot hear us, by one line."""
    return PublisherEventCallbacks(
        incompatible_qos=lambda event: report(_line(topic, "a subscriber", event)), use_default_callbacks=False)


def subscription_events(topic: str, report: Callable[[str], None]) -> SubscriptionEventCallbacks:
    """Callbacks that report each publisher of topic that we cannot hear, by one line."""
    return SubscriptionEventCallbacks(
        incompatible_qos=lambda event: report(_line(topic, "a publisher", event)), use_default_callbacks=False)


def _line(topic: str, peer: str, event: Any) -> str:
    policy = getattr(event.last_policy_kind, "name", event.last_policy_kind)
    policy = str(policy).removeprefix("RMW_QOS_POLICY_")
    return (f"{topic}: {peer} has an incompatible QoS policy {policy} ({event.total_count} so far); "
            "no message passes between it and this node until both sides agree")
