"""What has been received. Callbacks only copy into here; the tick takes a snapshot."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Path
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from mimicik_ros.core.joints import merge
from mimicik_ros.core.target_inputs import PathSample, TargetInputs, TwistSample
from mimicik_ros.core.types import JointSnapshot, TargetSample
from mimicik_ros.ros.conversions import path_sample, seconds, target_sample, twist_sample

MOST_POSES = 64  # kept between two ticks


@dataclass
class Inbox:
    """Latest inputs and their counts.

    Attributes:
        joint_names: the n joints of ours.
        steady_s, ros_s: the two clocks.
        warn: takes one line about a rejected joint_states; expected to throttle.
        gripper_joint: name on joint_states under which the gripper's position comes.
        gripper: last value of ~/target_gripper, None before the first; gripper_measured likewise, of joint_states.
        joints_receipt_ros_s, target_receipt_ros_s: receipt on the ROS clock, None before the first.
        target_stamp_s: stamp of the newest target message of any kind, None before the first.
        targets_received: by source.
        ignored_names: names on joint_states that are not ours, with their counts.
    """

    joint_names: tuple[str, ...]
    steady_s: Callable[[], float]
    ros_s: Callable[[], float]
    warn: Callable[[str], None]
    gripper_joint: str = ""
    joints: JointSnapshot = field(init=False)
    gripper: float | None = None
    gripper_measured: float | None = None
    joints_receipt_ros_s: float | None = None
    target_receipt_ros_s: float | None = None
    target_stamp_s: float | None = None
    joints_received: int = 0
    joints_rejected: int = 0
    targets_received: dict[str, int] = field(default_factory=lambda: {"pose": 0, "path": 0, "twist": 0, "gripper": 0})
    grippers_rejected: int = 0
    ignored_names: dict[str, int] = field(default_factory=dict)
    order: tuple[str, ...] | None = None  # names of the first message that was taken

    def __post_init__(self) -> None:
        self.joints = JointSnapshot.empty(len(self.joint_names))
        self._poses: deque[TargetSample] = deque(maxlen=MOST_POSES)
        self._path: PathSample | None = None
        self._twist: TwistSample | None = None

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
        if self.gripper_joint in names:
            position = float(message.position[names.index(self.gripper_joint)])
            self.gripper_measured = position if math.isfinite(position) else None
        for name in names:
            if name not in self.joint_names:
                self.ignored_names[name] = self.ignored_names.get(name, 0) + 1

    def take_pose(self, message: PoseStamped) -> None:
        """Keep a target pose, unchecked."""
        self._poses.append(target_sample(message, self._heard("pose", message)))

    def take_path(self, message: Path) -> None:
        """Keep the newest path, unchecked."""
        self._path = path_sample(message, self._heard("path", message), self.ros_s())

    def take_twist(self, message: TwistStamped) -> None:
        """Keep the newest twist, unchecked."""
        self._twist = twist_sample(message, self._heard("twist", message))

    def take_gripper(self, message: Float64) -> None:
        """Keep the newest gripper target; one that is not finite changes nothing but its count."""
        self.targets_received["gripper"] += 1
        if math.isfinite(message.data):
            self.gripper = float(message.data)
        else:
            self.grippers_rejected += 1

    def drain(self) -> TargetInputs:
        """What the target topics have said since the last call."""
        out = TargetInputs(tuple(self._poses), self._path, self._twist)
        self._poses.clear()
        self._path = self._twist = None
        return out

    def _heard(self, source: str, message: PoseStamped | Path | TwistStamped) -> float:
        """Count a target message and note its times. Returns its receipt on the steady clock."""
        self.targets_received[source] += 1
        self.target_stamp_s, self.target_receipt_ros_s = seconds(message.header.stamp), self.ros_s()
        return self.steady_s()
