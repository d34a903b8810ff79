"""What each driver does with a command, and which ones it refuses, as its public source says (docs/drivers.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from mimicik_ros.ros.driver_model import DriverModel
from mimicik_ros.ros.trajectory_rules import TrajectoryRules


class Rules(Protocol):
    """One driver in front of an arm."""

    def take(self, message: Any, now_s: float) -> str | None:
        """Take a command at ROS time now_s. Returns None, or why it is refused."""

    def advance(self, now_s: float) -> None:
        """Before each step of the arm: bring its set-point up to ROS time now_s."""


class VendorRules:
    """The vendor's ROS 2 examples: JointState by index, names unread, velocity as a speed cap as it is (0 stands still).

    Args:
        model: the arm.
        least: positions that a message needs; longer ones are fine, and shorter ones are left unread.
    """

    def __init__(self, model: DriverModel, least: int) -> None:
        self._model, self._least = model, least

    def take(self, message: JointState, now_s: float) -> str | None:
        """See Rules."""
        if len(message.position) < self._least:
            return f"expected at least {self._least} positions, got {len(message.position)}"
        n = self._model.n
        caps = np.array(message.velocity[:n]) if len(message.velocity) >= n else None
        return self._model.command(np.array(message.position[:n]), caps)

    def advance(self, now_s: float) -> None:
        """The model itself runs at the speed cap."""


class ArrayRules:
    """Float64MultiArray by index, of exactly one length; the set-point jumps to it.

    Args:
        model: the arm.
        size: values of a message.
        deactivates: whether a message of another length ends it all (ros2_control) or is only left unread (simulators).
    """

    def __init__(self, model: DriverModel, size: int, deactivates: bool) -> None:
        self._model, self._size, self._deactivates = model, size, deactivates
        self.active = True

    def take(self, message: Float64MultiArray, now_s: float) -> str | None:
        """See Rules."""
        if not self.active:
            return "the controller was deactivated by a command of another length"
        if len(message.data) != self._size:
            self.active = not self._deactivates
            return f"expected exactly {self._size} values, got {len(message.data)}"
        if not np.all(np.isfinite(message.data)):
            return "a value is not finite"
        n = self._model.n
        return self._model.command(np.array(message.data[:n]), np.full(n, np.inf))

    def advance(self, now_s: float) -> None:
        """Nothing is due between commands."""


@dataclass(frozen=True)
class DriverKind:
    """How a driver looks from outside.

    Attributes:
        message_type: of its commands.
        make: (model, names of the arm's joints then the gripper if any, options) -> rules.
        prefix: before the arm's joint names on joint_states.
        gripper: name of the gripper joint, "" = none unless the node is told otherwise.
        others: further joints on joint_states, before the arm's.
        state_rate_hz: of joint_states.
    """

    message_type: type[Any]
    make: Callable[[DriverModel, list[str], dict[str, Any]], Rules]
    prefix: str = ""
    gripper: str = ""
    others: tuple[str, ...] = ()
    state_rate_hz: float = 250.0


def _trajectory(model: DriverModel, names: list[str], options: dict[str, Any]) -> Rules:
    return TrajectoryRules(model, names, **options)


_MMK2_OTHERS = ("slide_joint", "head_yaw_joint", "head_pitch_joint", *(f"right_arm_joint{i}" for i in range(1, 7)))

DRIVERS: dict[str, DriverKind] = {
    "vendor": DriverKind(JointState, lambda model, names, _: VendorRules(model, model.n)),
    "vendor_g2": DriverKind(JointState, lambda model, names, _: VendorRules(model, model.n + 1), gripper="eef"),
    "discoverse": DriverKind(Float64MultiArray, lambda model, names, _: ArrayRules(model, len(names), False),
                             gripper="gripper", state_rate_hz=30.0),
    "mmk2": DriverKind(Float64MultiArray, lambda model, names, _: ArrayRules(model, len(names), False), prefix="left_arm_",
                       gripper="left_arm_eef_gripper_joint", others=_MMK2_OTHERS, state_rate_hz=30.0),
    "forward": DriverKind(Float64MultiArray, lambda model, names, _: ArrayRules(model, len(names), True)),
    "trajectory": DriverKind(JointTrajectory, _trajectory),
}
