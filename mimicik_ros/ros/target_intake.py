"""From the inbox to the one target of a tick: frames resolved, then the core's feed."""

from __future__ import annotations

import dataclasses

import numpy as np

from mimicik_ros.core.servo import IKServo
from mimicik_ros.core.status import Mode, Status
from mimicik_ros.core.target_feed import TargetFeed
from mimicik_ros.core.target_inputs import Moment, TargetInputs
from mimicik_ros.core.types import Array, TargetSample
from mimicik_ros.ros.frames import Frames
from mimicik_ros.ros.inbox import Inbox


class TargetIntake:
    """Target side of one activation.

    Attributes:
        feed: the core's part, with its state.
    """

    def __init__(self, feed: TargetFeed, inbox: Inbox, frames: Frames) -> None:
        self.feed = feed
        self._inbox, self._frames = inbox, frames
        self._waiting = TargetInputs()  # for a transform, as received

    def next(self, servo: IKServo, now_s: float, steady_s: float) -> TargetSample | None:
        """The target of a tick.

        Args:
            servo: whose last command says where the tool is.
            now_s, steady_s: ROS clock and steady clock.
        """
        state = servo.state
        engaged = state.mode in (Mode.ENGAGING, Mode.TRACKING)
        return self.feed.next(self._inputs(), Moment(now_s, steady_s, self._tool(servo), engaged))

    def values(self) -> dict[str, str | float]:
        """For ~/status: where targets come from and how far the filter is behind."""
        return {"target_source": self.feed.source, "filter_lag_s": self.feed.filter_lag_s}

    def _inputs(self) -> TargetInputs:
        """What is new, in the base frame. What waits for a transform comes again until something newer of its kind does."""
        new, old = self._inbox.drain(), self._waiting
        raw = TargetInputs(new.poses or old.poses, new.path or old.path, new.twist or old.twist)
        poses = tuple(self._frames.pose(pose) for pose in raw.poses)
        path = self._frames.path(raw.path) if raw.path is not None else None
        twist = self._frames.twist(raw.twist) if raw.twist is not None else None
        waits = [sample is not None and sample.fault is Status.NO_TRANSFORM for sample in (*poses[-1:], path, twist)]
        self._waiting = TargetInputs(raw.poses[-1:] if poses and waits[0] else (), raw.path if waits[-2] else None,
                                     raw.twist if waits[-1] else None)
        return dataclasses.replace(raw, poses=poses, path=path, twist=twist)

    def _tool(self, servo: IKServo) -> Array | None:
        """Pose (4, 4) of the last command, of the measured joints where none is in force, None where these are incomplete."""
        q = servo.state.q_ref if servo.state.q_ref is not None else self._inbox.joints.q
        return servo.kinematics.fk(q) if np.isfinite(q).all() else None
