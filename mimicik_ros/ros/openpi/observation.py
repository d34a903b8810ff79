"""What a policy is sent: the robot's state in the order that it was trained with, camera images and a prompt, by its keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sensor_msgs.msg import CompressedImage, Image, JointState

from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.ros.openpi.images import fit, rgb
from mimicik_ros.ros.openpi.rotations import NOTATIONS

STATE_PARTS = ("joints", "position", *NOTATIONS, "gripper")


class NotYet(Exception):
    """Something that the policy must see has not come, or is too old; the message names it."""


@dataclass
class Observer:
    """Latest inputs; callbacks copy into here, from one thread, and `state` and `images` are taken from another.

    Attributes:
        kinematics: of the arm; its joints are needed for every observation.
        parts: of the state vector, in order: joints (rad), position (m) and a rotation of the tool in the base frame, gripper.
        gripper_joint: its name on joint_states.
        image_keys: keys of the images that must have come.
        size_px: edge of the images.
        max_age_s: inputs older than this do not count.

    Raises:
        ConfigError: an unknown part.
    """

    kinematics: Kinematics
    parts: Sequence[str] = ("joints",)
    gripper_joint: str = "gripper"
    image_keys: Sequence[str] = ()
    size_px: int = 224
    max_age_s: float = 0.5
    _joints: dict[str, tuple[float, float]] = field(default_factory=dict)  # name -> position, receipt
    _images: dict[str, tuple[Image | CompressedImage, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = [part for part in self.parts if part not in STATE_PARTS]
        if unknown:
            raise ConfigError(f"state has the unknown part '{unknown[0]}'; choose from {', '.join(STATE_PARTS)}")

    def take_joints(self, message: JointState, now_s: float) -> None:
        """By name; messages may be partial. One whose lengths differ is left out, and its joints grow old."""
        if len(message.name) == len(message.position):
            self._joints.update({name: (position, now_s) for name, position in zip(message.name, message.position, strict=True)})

    def take_image(self, key: str, message: Image | CompressedImage, now_s: float) -> None:
        """The newest image of a key, unread."""
        self._images[key] = (message, now_s)

    def q(self, now_s: float) -> Array:
        """Measured joints (n,) rad.

        Raises:
            NotYet: one is missing, too old or not finite.
        """
        return self._positions(self.kinematics.joint_names, now_s)

    def state(self, now_s: float) -> Array:
        """The state vector as parts say.

        Raises:
            NotYet: a joint that it needs is missing, too old or not finite.
        """
        q = self.q(now_s)
        T = self.kinematics.fk(q)

        def part(name: str) -> Array:
            if name == "joints":
                return q
            if name == "gripper":
                return self._positions((self.gripper_joint,), now_s)
            return T[:3, 3] if name == "position" else NOTATIONS[name].values(T[:3, :3])

        return np.concatenate([part(name) for name in self.parts]) if self.parts else np.zeros(0)

    def images(self, now_s: float) -> dict[str, Any]:
        """(size_px, size_px, 3) uint8 RGB by key.

        Raises:
            NotYet: one is missing or too old.
            ImageError: one cannot be read.
        """
        late = [key for key in self.image_keys if now_s - self._images.get(key, (None, -np.inf))[1] > self.max_age_s]
        if late:
            raise NotYet(f"no image for {', '.join(late)} within {self.max_age_s:g} s")
        return {key: fit(rgb(self._images[key][0]), self.size_px) for key in self.image_keys}

    def _positions(self, names: Sequence[str], now_s: float) -> Array:
        heard = [self._joints.get(name, (np.nan, -np.inf)) for name in names]
        late = [name for name, (_, then_s) in zip(names, heard, strict=True) if now_s - then_s > self.max_age_s]
        if late:
            raise NotYet(f"no joint_states for {', '.join(late)} within {self.max_age_s:g} s")
        q = np.array([position for position, _ in heard])
        if not np.isfinite(q).all():
            raise NotYet(f"joint_states has no finite position for {names[int(np.isfinite(q).argmin())]}")
        return q
