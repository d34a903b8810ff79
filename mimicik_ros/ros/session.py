"""One activation of the node: the tick, from the inbox through the core to the ports, and its bookkeeping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from mimicik_ros.config import Config
from mimicik_ros.core.servo import IKServo
from mimicik_ros.core.status import Mode, Status
from mimicik_ros.core.types import TickInput, TickResult
from mimicik_ros.ros import diagnostics
from mimicik_ros.ros.conversions import stamp
from mimicik_ros.ros.gripper import GripperValue
from mimicik_ros.ros.inbox import Inbox
from mimicik_ros.ros.pacing import Pacing
from mimicik_ros.ros.ports import Ports
from mimicik_ros.ros.target_intake import TargetIntake


class Session:
    """What lives from activation to deactivation.

    Attributes:
        enable: level of ~/enable; starts at engage.auto_enable.
        hold: set by ~/hold, by another commander and by whatever ends the way home, cleared by ~/enable.
        home: set by ~/go_home; going there or there.
        targets: where the target of a tick comes from.
        blocked: another commander is there; once braked, nothing more is sent.
    """

    def __init__(self, servo: IKServo, config: Config, inbox: Inbox, targets: TargetIntake, ports: Ports, pacing: Pacing,
                 steady_s: Callable[[], float], ros_s: Callable[[], float]) -> None:
        self.servo, self.inbox, self.targets, self.pacing = servo, inbox, targets, pacing
        self._config = config
        self._gripper = GripperValue()
        self._ports, self._steady_s, self._ros_s = ports, steady_s, ros_s
        self.enable = config.engage.auto_enable
        self.hold = False
        self.home = False
        self.blocked = False
        self.counts: Counter[str] = Counter()
        self.last: TickResult | None = None
        self._reset = False
        self._enable_asked = False

    def reconfigure(self, servo: IKServo, config: Config) -> None:
        """Go on with other settings from the next tick on."""
        self.servo, self._config, self.targets.feed.config = servo, config, config
        self.pacing.deadline_s = config.node.deadline_s

    def request_enable(self, enable: bool) -> None:
        """Level of ~/enable from the next tick on; it ends the way home, and enabling ends a hold."""
        self.enable = self._enable_asked = enable
        self.home = False
        if enable:
            self.hold = False

    def request_hold(self) -> None:
        """Brake and hold from the next tick on."""
        self.hold, self.home = True, False

    def request_home(self) -> str | None:
        """Go home from the next tick on. Returns why that is refused, or None."""
        if self.servo.home_refusal is not None:
            return self.servo.home_refusal
        if self.blocked:
            return Status.OTHER_PUBLISHER.text
        if self.servo.state.mode is Mode.FAULT:
            return "a fault; call ~/reset first"
        if not self.enable:
            return "not enabled; call ~/enable with data: true first"
        self.hold, self.home = False, True
        return None

    def request_reset(self) -> None:
        """Clear a fault at the next tick."""
        self._reset = True

    @property
    def status(self) -> Status:
        """Status of the last tick as published."""
        if self.blocked:
            return Status.OTHER_PUBLISHER
        return self.last.status if self.last is not None else Status.DISABLED

    @property
    def moving(self) -> bool:
        """Whether the last command had a velocity."""
        velocity = self.servo.state.velocity_rad_s
        return velocity is not None and bool(np.any(np.abs(velocity) > 1e-9))

    def tick(self) -> TickResult:
        """Decide and publish one command."""
        start_steady_s, start_ros_s = self._steady_s(), self._ros_s()
        due_s = self.pacing.start(start_steady_s)
        target = self.targets.next(self.servo, start_ros_s, start_steady_s)
        result = self.servo.tick(TickInput(
            start_ros_s, start_steady_s, self.inbox.joints, target, enable=self.enable, enable_request=self._enable_asked,
            hold_request=self.hold, home_request=self.home, reset_request=self._reset))
        self._reset, self._enable_asked, self.last = False, False, result
        if self.home and result.status not in (Status.HOMING, Status.AT_HOME):
            self.request_hold()  # the arm does not set out again by itself
        publish_ros_s = self._ros_s()
        time = stamp(publish_ros_s)
        sent = result.q_command is not None and (self.moving or not self.blocked)
        follows = result.mode in (Mode.ENGAGING, Mode.TRACKING)
        gripper = self._gripper.step(self.inbox, self._config, follows) if sent else self._gripper.position
        if sent:
            self._ports.publish_command(result, gripper, time)
        lateness_s = self.pacing.published(due_s, self._steady_s())
        self.counts[self.status.label] += 1
        self._ports.publish_poses(result, time)
        self._ports.publish_status(self.status, {
            **result.as_values(), "status": self.status.label, **diagnostics.input_times(self.inbox),
            "tick_start_s": start_ros_s, "publish_s": publish_ros_s if sent else None, "lateness_s": lateness_s,
            "missed_deadlines": self.pacing.missed, "gripper": gripper, **self.targets.values(),
        })
        return result

    def report(self, extra: dict[str, Any]) -> None:
        """Send the 1 Hz report with extra values."""
        failures = self.last.consecutive_failures if self.last is not None else 0
        self._ports.publish_diagnostics(self.status, {
            "status": self.status.label, "mode": self.servo.state.mode.value, "consecutive_failures": failures,
            **diagnostics.pacing_values(self.pacing), **diagnostics.inbox_values(self.inbox), **extra,
            **{f"count_{label}": count for label, count in sorted(self.counts.items())},
        }, stamp(self._ros_s()))
