"""What a policy's actions mean: rows of numbers to poses of the tool in the base frame, and the gripper beside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.types import Array
from mimicik_ros.ros.openpi.rotations import NOTATIONS

KINDS = ("absolute", "delta_start", "delta_step")
DELTA_FRAMES = ("base", "tool")


class ActionError(Exception):
    """Actions that do not have the form that was agreed, or hold what is no number."""


def choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """value.

    Raises:
        ConfigError: it is none of choices.
    """
    if value not in choices:
        raise ConfigError(f"{name} is '{value}'; choose {', '.join(choices)}")
    return value


@dataclass(frozen=True)
class ActionSpace:
    """A row is position (3), rotation (by its notation) and, if gripper, one value more. Nothing is guessed from its width.

    Attributes:
        kind: absolute poses in the base frame; delta_start: each row relative to the pose at the observation;
            delta_step: each row relative to the row before it, the first one to the pose at the observation.
        rotation: one of NOTATIONS.
        gripper: whether the last value is the gripper's.
        delta_frame: axes in which deltas are given: base (position and rotation about the base's axes) or tool.
        position_scale: metres per unit of position.
        rotation_scale: radians per unit of rotvec or rpy.
        gripper_scale, gripper_offset: target = offset + scale * value.

    Raises:
        ConfigError: one of them is not a valid choice.
    """

    kind: str = "absolute"
    rotation: str = "quat_xyzw"
    gripper: bool = False
    delta_frame: str = "base"
    position_scale: float = 1.0
    rotation_scale: float = 1.0
    gripper_scale: float = 1.0
    gripper_offset: float = 0.0

    def __post_init__(self) -> None:
        choice("action.kind", self.kind, KINDS)
        choice("action.rotation", self.rotation, tuple(NOTATIONS))
        choice("action.delta_frame", self.delta_frame, DELTA_FRAMES)
        scales = np.array([self.position_scale, self.rotation_scale, self.gripper_scale, self.gripper_offset])
        if not np.isfinite(scales).all():
            raise ConfigError(f"action scales and offsets must be finite, got {scales.tolist()}")
        if self.rotation_scale != 1.0 and not NOTATIONS[self.rotation].angles:
            raise ConfigError(f"action.rotation_scale only makes sense for rotvec and rpy, not for {self.rotation}")

    @property
    def width(self) -> int:
        """Values in a row."""
        return 3 + NOTATIONS[self.rotation].width + int(self.gripper)

    def decode(self, actions: object, T_base_tool: Array) -> tuple[Array, Array | None]:
        """Poses (n, 7) xyz + xyzw in the base frame, and gripper targets (n,) or None.

        Args:
            actions: (n, width) numbers as the server sent them.
            T_base_tool: (4, 4) the tool at the observation; deltas start there.

        Raises:
            ActionError: another shape, no numbers, NaN or infinite, or a rotation without direction.
        """
        rows = self._checked(actions)
        T = self._poses(rows)
        if self.kind == "delta_step":
            for i in range(len(T)):
                T[i] = self._apply(T_base_tool if i == 0 else T[i - 1], T[i])
        elif self.kind == "delta_start":
            T = self._apply(T_base_tool, T)
        gripper = self.gripper_offset + self.gripper_scale * rows[:, -1] if self.gripper else None
        return np.hstack([T[:, :3, 3], se3.quat_from_rotation(T[:, :3, :3])]), gripper

    def _checked(self, actions: object) -> Array:
        expected = (f"expected actions (n, {self.width}) - position 3, {self.rotation} {NOTATIONS[self.rotation].width}"
                    f"{', gripper 1' if self.gripper else ''} - and got")
        try:
            array = np.asarray(actions)
        except ValueError as error:
            raise ActionError(f"{expected} ragged rows") from error
        if array.dtype.kind not in "iuf" or array.ndim != 2 or array.shape[1] != self.width or not len(array):
            raise ActionError(f"{expected} {array.dtype} {array.shape}")
        rows = array.astype(float)
        bad = ~np.isfinite(rows).all(axis=1)
        if bad.any():
            raise ActionError(f"{int(bad.sum())} of {len(rows)} actions are not finite, the first is row {int(bad.argmax())}")
        return rows

    def _poses(self, rows: Array) -> Array:
        notation = NOTATIONS[self.rotation]
        values = rows[:, 3:3 + notation.width] * self.rotation_scale
        with np.errstate(divide="ignore", invalid="ignore"):
            R = notation.matrix(values)
        # A zero quaternion or two parallel vectors have no direction; almost none is no better, it is noise.
        weak = np.linalg.norm(values, axis=1) < 1e-3 if not notation.angles else np.zeros(len(rows), bool)
        bad = weak | ~np.isfinite(R).all(axis=(1, 2))
        if bad.any():
            raise ActionError(f"row {int(bad.argmax())} has no rotation: {self.rotation} {values[bad][0].tolist()}")
        return se3.pose(R, rows[:, :3] * self.position_scale)

    def _apply(self, T: Array, delta: Array) -> Array:
        if self.delta_frame == "tool":
            moved: Array = T @ delta
            return moved
        return se3.pose(delta[..., :3, :3] @ T[:3, :3], T[:3, 3] + delta[..., :3, 3])
