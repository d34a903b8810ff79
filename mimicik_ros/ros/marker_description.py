"""How the RViz handle looks: six degrees of freedom, a menu, and the colour and text of a status. Pure, over messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose, Quaternion
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import InteractiveMarker, InteractiveMarkerControl, Marker, MenuEntry

from mimicik_ros.core import se3
from mimicik_ros.core.status import Mode, Severity
from mimicik_ros.core.types import Array
from mimicik_ros.ros.conversions import pose_message
from mimicik_ros.ros.diagnostics import LEVELS

NAME = "tool"


class Entry(Enum):
    """An entry of the menu: (id, title). The ids travel in feedback."""

    ENABLE = (1, "Enable")
    HOLD = (2, "Hold")
    GO_HOME = (3, "Go home")
    RESET_MARKER = (4, "Reset marker")
    CLEAR_FAULT = (5, "Clear fault")

    def __init__(self, number: int, title: str) -> None:
        self.number = number
        self.title = title


@dataclass(frozen=True)
class ServoState:
    """What ~/status last said, or that it says nothing (mode None)."""

    mode: Mode | None = None
    severity: Severity = Severity.WARN
    label: str = "no status"


def servo_state(values: Mapping[str, str], level: bytes) -> ServoState:
    """State from the values and the level of a ~/status message; one without a known mode is no state."""
    mode = next((mode for mode in Mode if mode.value == values.get("mode")), None)
    severity = next((severity for severity, known in LEVELS.items() if known == level), Severity.ERROR)
    return ServoState(mode, severity, values.get("status", "")) if mode is not None else ServoState()


def colour(state: ServoState) -> tuple[float, float, float]:
    """Red: error or fault. Amber: warning. Green: follows. Blue: ramping up. Pale blue: does not move. Grey: no servo."""
    if state.mode is None:
        return (0.5, 0.5, 0.5)
    if state.mode is Mode.FAULT or state.severity is Severity.ERROR:
        return (0.9, 0.15, 0.15)
    if state.severity is Severity.WARN:
        return (1.0, 0.65, 0.0)
    return {Mode.TRACKING: (0.2, 0.8, 0.3), Mode.ENGAGING: (0.2, 0.45, 1.0)}.get(state.mode, (0.65, 0.75, 0.9))


def describe(frame_id: str, T: Array, scale_m: float, rgb: tuple[float, float, float], title: str) -> InteractiveMarker:
    """The handle as a message.

    Args:
        frame_id: frame of T, the base frame of the arm.
        T: pose (4, 4) of the handle.
        scale_m: size of the rings and arrows.
        rgb: colour of the ball in its middle.
        title: shown above it.
    """
    # Stamp 0 locks the handle to the frame: RViz then reports poses in it and not in its own fixed frame.
    stamped = pose_message(T, frame_id, Time())
    out = InteractiveMarker(header=stamped.header, pose=stamped.pose, name=NAME, description=title, scale=scale_m)
    ball = Marker(type=Marker.SPHERE, color=ColorRGBA(r=rgb[0], g=rgb[1], b=rgb[2], a=0.7))
    ball.scale.x = ball.scale.y = ball.scale.z = 0.3 * scale_m
    out.controls.append(InteractiveMarkerControl(
        name="free", interaction_mode=InteractiveMarkerControl.MOVE_3D, always_visible=True, markers=[ball]))
    for axis, direction in zip("xyz", np.eye(3), strict=True):
        orientation = _x_along(direction)
        for verb, mode in (("move", InteractiveMarkerControl.MOVE_AXIS), ("rotate", InteractiveMarkerControl.ROTATE_AXIS)):
            out.controls.append(InteractiveMarkerControl(
                name=f"{verb}_{axis}", interaction_mode=mode, orientation=orientation,
                orientation_mode=InteractiveMarkerControl.INHERIT))
    out.menu_entries = [
        MenuEntry(id=entry.number, title=entry.title, command_type=MenuEntry.FEEDBACK) for entry in Entry]
    return out


def status_text(frame_id: str, T: Array, scale_m: float, state: ServoState) -> Marker:
    """Mode and status as text above pose T (4, 4): unlike the handle it can change while the handle is dragged."""
    out = Marker(type=Marker.TEXT_VIEW_FACING, action=Marker.ADD, ns="status", text=state.label)
    if state.mode is not None:
        out.text = f"{state.mode.value}: {state.label}"
    out.header.frame_id = frame_id
    out.pose = Pose()
    out.pose.position.x, out.pose.position.y, out.pose.position.z = (float(v) for v in T[:3, 3])
    out.pose.position.z += 0.8 * scale_m
    out.scale.z = 0.15 * scale_m
    r, g, b = colour(state)
    out.color = ColorRGBA(r=r, g=g, b=b, a=1.0)
    return out


def _x_along(direction: Array) -> Quaternion:
    """Rotation that lays x, the axis of a control, along a base vector."""
    axis = np.cross([1.0, 0.0, 0.0], direction)
    x, y, z, w = se3.quat_from_rotation(se3.rotation_exp(np.pi / 2 * axis))
    return Quaternion(x=float(x), y=float(y), z=float(z), w=float(w))
