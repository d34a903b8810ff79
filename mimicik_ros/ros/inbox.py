"""What has been received. Callbacks only copy into here; the tick takes a snapshot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState

from mimicik_ros.core.joints import merge
from mimicik_ros.core.types import JointSnapshot, TargetSample
from mimicik_ros.ros.conversions import seconds, target_sample


@dataclass
class Inbox:
    """Latest inputs and their counts.

    Attributes:
        joint_names: the n joints of ours.
        steady_s, ros_s: the two clocks.
        warn: takes one line about a rejected message; expected to throttle.
        joints_receipt_ros_s, target_receipt_ros_s: receipt on the ROS clock, None before the first.
        ignored_names: names on joint_states that are not ours, with their counts.
    """

    joint_names: tuple[str, ...]
    steady_s: Callable[[], float]
    ros_s: Callable[[], float]
    warn: Callable[[str], None]
    joints: JointSnapshot = field(init=False)
    target: TargetSample | None = None
    joints_receipt_ros_s: float | None = None
    target_receipt_ros_s: float | None = None
    joints_received: int = 0
    joints_rejected: int = 0
    targets_received: int = 0
    ignored_names: dict[str, int] = field(default_factory=dict)
    order: tuple[str, ...] | None = None  # names of the first message that was taken

    def __post_init__(self) -> None:
        self.joints = JointSnapshot.empty(len(self.joint_names))

    def take_joints(self, message: JointState) -> None:
        """Merge a joint_states message by name; a rejected one changes nothing but its count."""
        self.joints_received += 1
        names = tuple(message.name)
        self.joints, reason = merge(
            self.joints, self.joint_names, names, np.asarray(message.position, dtype=float),
            seconds(message.header.stamp), self.steady_s())
        if reason is not None:
            self.joints_rejected += 1
            self.warn(reason)
            return
        self.joints_receipt_ros_s = self.ros_s()
        self.order = self.order or names
        for name in names:
            if name not in self.joint_names:
                self.ignored_names[name] = self.ignored_names.get(name, 0) + 1

    def take_target(self, message: PoseStamped) -> None:
        """Keep the newest target, unchecked."""
        self.targets_received += 1
        self.target = target_sample(message, self.steady_s())
        self.target_receipt_ros_s = self.ros_s()
