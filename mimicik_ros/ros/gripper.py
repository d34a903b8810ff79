"""The gripper beside the arm: what is asked for, and the limited value that goes out with each command."""

from __future__ import annotations

from mimicik_ros.config import Config
from mimicik_ros.core.gripper import advance
from mimicik_ros.ros.inbox import Inbox


class GripperValue:
    """The gripper's value of one activation. It begins where joint_states says the gripper is, where they say it.

    Attributes:
        position: last value, None before the first or where the gripper is not driven.
    """

    def __init__(self) -> None:
        self.position: float | None = None

    def step(self, inbox: Inbox, config: Config, moves: bool) -> float | None:
        """The value of this tick, None where none is to be sent.

        Args:
            inbox: target and measured position.
            config: output and limits.
            moves: whether the arm follows its target; else the gripper stays where it is.
        """
        output = config.output
        asked = inbox.gripper
        if asked is None and output.append_gripper:
            asked = output.gripper_position  # the driver wants a value with every command
        if asked is None or not (output.append_gripper or output.gripper_topic):
            return None
        if self.position is None:
            self.position = inbox.gripper_measured if inbox.gripper_measured is not None else output.gripper_position
        self.position = advance(self.position, asked if moves else self.position, config.dt_s, config.target)
        return self.position
