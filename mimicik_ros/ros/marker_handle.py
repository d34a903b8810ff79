"""When the handle leads the arm and when it sits on the tool. Time is an argument; nothing here knows of ROS.

It sits on the tool until it is dragged or the arm is enabled from its menu. Then its pose is the target, sent once a tick
however fast RViz reports drags, until hold, go home, reset, a stop by anyone else or `timeout_s` without a drag.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mimicik_ros.core import se3
from mimicik_ros.core.engage import BY_INTENT
from mimicik_ros.core.status import Mode
from mimicik_ros.core.types import Array
from mimicik_ros.ros.marker_description import Entry, ServoState

SEAT_PERIOD_S = 0.5  # between two moves of a handle that follows the tool
SEAT_M, SEAT_RAD = 1e-3, 0.01  # below this it need not follow
_BY_INTENT = frozenset(status.label for status in BY_INTENT)
_MOVING = (Mode.ENGAGING, Mode.TRACKING)


@dataclass(frozen=True)
class Step:
    """What a tick asks for: a target to send, a pose to put the handle at (None = nothing), services to call."""

    target: Array | None = None
    seat: Array | None = None
    calls: tuple[Entry, ...] = ()


@dataclass
class Handle:
    """State of the handle.

    Attributes:
        timeout_s: from the last drag to the return to the tool.
        T: pose (4, 4) of the handle in the base frame, None before the first joint states.
        leading: whether T is sent as the target.
        dragger: client whose mouse holds the handle; poses of others, and poses outside a drag, are not taken.
    """

    timeout_s: float
    T: Array | None = None
    leading: bool = False
    dragger: str | None = None
    refused: str | None = None  # why the last menu entry was not followed
    _state: ServoState = field(default_factory=ServoState)
    _stood_by_intent: bool = True
    _last_drag_s: float = 0.0
    _last_seat_s: float = -np.inf
    _seat_due: bool = True
    _settle_due: bool = False
    _chosen: list[Entry] = field(default_factory=list)

    # --- what RViz says

    def mouse_down(self, client: str, now_s: float) -> None:
        """A drag begins. It takes no control before the handle moves."""
        if self.dragger is None:
            self.dragger, self._last_drag_s = client, now_s

    def moved(self, client: str, T: Array, now_s: float) -> None:
        """The handle was dragged to T (4, 4). Only the last of many between two ticks counts."""
        if client == self.dragger:
            self.T, self.leading, self._last_drag_s = T, True, now_s

    def mouse_up(self, client: str, T: Array | None, now_s: float) -> None:
        """The drag ends at T (4, 4), None = unusable. RViz now shows the last pose that it was sent: send it the right one."""
        if client != self.dragger:
            return
        if self.leading and T is not None:
            self.moved(client, T, now_s)
        self.dragger, self._settle_due = None, True

    def select(self, entry: Entry, now_s: float) -> None:
        """An entry of the menu was chosen; it is followed at the next tick, in order."""
        self._chosen.append(entry)
        self._last_drag_s = now_s

    # --- what the servo says

    def servo(self, state: ServoState) -> None:
        """Take over the state of the servo. Enabled by anyone: back to the tool first. Stopped by anyone: no longer lead."""
        before, self._state = self._state, state
        stopped = state.mode is Mode.FAULT or state.label in _BY_INTENT
        moved = before.mode in _MOVING
        if state.mode in _MOVING and not moved and self._stood_by_intent and self.dragger is None:
            self._seat_due = True
        if stopped and moved:
            self._return()
        if state.mode is not None:
            self._stood_by_intent = state.mode in (Mode.WAITING, Mode.READY) or stopped

    # --- the tick

    def tick(self, T_tool: Array | None, now_s: float) -> Step:
        """Decide. T_tool (4, 4) is the pose of the tool by its joints, None while they are unknown or stale."""
        self.refused = None
        if self.leading and now_s - self._last_drag_s > self.timeout_s:
            self._return()
        chosen, self._chosen = self._chosen, []
        calls = tuple(entry for entry in chosen if self._follow(entry, T_tool))
        seat = self._seat(T_tool, now_s)
        return Step(self.T if self.leading else None, seat, calls)

    def _follow(self, entry: Entry, T_tool: Array | None) -> bool:
        """Follow an entry of the menu. Returns whether the servo has to be called."""
        if entry is Entry.ENABLE and T_tool is None:
            self.refused = "enable refused: no fresh joint states, so there is no pose to start from; check the driver"
            return False
        if entry is not Entry.CLEAR_FAULT:
            self._return()
        self.leading = self.leading or entry is Entry.ENABLE
        return entry is not Entry.RESET_MARKER

    def _return(self) -> None:
        """Stop sending, and go to the tool. A drag that is still held counts no longer."""
        self.leading, self.dragger, self._seat_due = False, None, True

    def _seat(self, T_tool: Array | None, now_s: float) -> Array | None:
        """Pose to put the handle at, if any. Never during a drag: RViz would snap back to it afterwards."""
        if self.dragger is not None:
            return None
        follow = not self.leading and now_s - self._last_seat_s >= SEAT_PERIOD_S and self._away(T_tool)
        if (self._seat_due or follow) and T_tool is not None:
            self.T = T_tool
        elif not self._settle_due:
            return None
        self._seat_due, self._settle_due, self._last_seat_s = self._seat_due and T_tool is None, False, now_s
        return self.T

    def _away(self, T_tool: Array | None) -> bool:
        if T_tool is None or self.T is None:
            return T_tool is not None
        gap = se3.inverse(self.T) @ T_tool
        return bool(np.linalg.norm(gap[:3, 3]) > SEAT_M or se3.rotation_angle(gap[:3, :3]) > SEAT_RAD)
