"""When the handle of the page leads the arm, and when it sits on the tool. Time is an argument; neither ROS nor viser here.

Nobody leads: the handle sits on the tool and nothing is published. A browser leads from its press of enable, or from a drag while
the node is enabled: the handle's pose is the target at every tick, dragged or at rest, so a slow arm finishes its way. It ends
with hold, home, a node that stops following, or the loss of that browser: then targets cease, and the node holds by its timeout.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mimicik_ros.core.engage import BY_INTENT
from mimicik_ros.core.status import Mode, Status
from mimicik_ros.core.types import Array

STATUS_TIMEOUT_S = 1.0  # without ~/status for longer there is no node
SETTLE_S = 2.0  # a node that is told to enable, or gets its first targets, may take so long to follow
PATIENCE_S = 1.0  # a node that lacks an input for longer has lost it
_STOPPED = tuple(s.label for s in (*BY_INTENT, Status.OTHER_PUBLISHER))
_MOVING = (Mode.ENGAGING.value, Mode.TRACKING.value)
_CURED_BY_TARGETS = tuple(s.label for s in (Status.WAITING_FOR_TARGET, Status.STALE_TARGET, Status.TARGET_TOO_FAR))


@dataclass(frozen=True)
class NodeView:
    """The node as its last ~/status shows it. label and mode are empty before the first; age_s is that of the message."""

    label: str = ""
    mode: str = ""
    age_s: float = np.inf

    @property
    def silent(self) -> bool:
        """Whether no node speaks."""
        return self.age_s > STATUS_TIMEOUT_S

    @property
    def follows(self) -> bool:
        """Whether the node follows targets now."""
        return not self.silent and self.mode in _MOVING

    @property
    def listens(self) -> bool:
        """Whether the node follows targets, or would if it got good ones."""
        return self.follows or (not self.silent and self.label in _CURED_BY_TARGETS)

    @property
    def stopped(self) -> bool:
        """Whether somebody or a fault stopped it, so that targets alone do not start it again."""
        return self.mode == Mode.FAULT.value or self.label in _STOPPED

    @property
    def why_not(self) -> str:
        """Why it does not follow."""
        return "the node is silent" if self.silent else f"the node says {self.label}"


@dataclass(frozen=True)
class Step:
    """What a tick asks for: a target to publish and a pose to put the handle at, (4, 4) in the base frame; None = nothing."""

    target: Array | None = None
    seat: Array | None = None


@dataclass
class Handle:
    """State of the handle.

    Attributes:
        T: its pose (4, 4) in the base frame, None before the first joint states.
        leader: client whose pose is published, None = nobody leads.
        dragger: client whose pointer holds it; poses of others, and poses outside a drag, are not taken.
        note: the last reason why nobody leads.
    """

    T: Array | None = None
    leader: int | None = None
    dragger: int | None = None
    note: str = ""
    _seat_due: bool = field(default=True)
    _settled_s: float = 0.0  # until then the node need not follow yet
    _followed_s: float = 0.0  # when it last did

    # --- what browsers say

    def press(self, client: int, now_s: float, node: NodeView) -> None:
        """A drag begins. It leads where the node would follow, unless another browser is dragging."""
        if self.dragger is not None and self.dragger != client:
            return
        if self.leader is None and not node.listens:
            self.note = f"{node.why_not}: press Enable to lead it" if not node.silent else node.why_not
            return
        if self.leader is None:
            self._settled_s, self._seat_due = now_s + SETTLE_S, False  # it sits on the tool as it is
        self.leader = self.dragger = client

    def move(self, client: int, T: Array) -> None:
        """The handle was dragged to T (4, 4). Of many between two ticks the last counts."""
        if client == self.dragger and np.all(np.isfinite(T)):
            self.T = T

    def drop(self, client: int) -> None:
        """The drag ends; the browser goes on to lead."""
        if client == self.dragger:
            self.dragger = None

    def enable(self, client: int, now_s: float) -> None:
        """This browser asks the node to follow: back to the tool first, so that nothing jumps."""
        self.leader, self.dragger, self._seat_due, self.note = client, None, True, ""
        self._settled_s = now_s + SETTLE_S

    def reset(self) -> None:
        """Back to the tool; whoever leads goes on from there."""
        self.dragger, self._seat_due = None, True

    def release(self, note: str) -> None:
        """Nobody leads any more. A drag that is still held counts no longer."""
        self.leader, self.dragger, self._seat_due, self.note = None, None, True, note

    def lost(self, client: int) -> None:
        """The connection to a browser is gone."""
        if client in (self.leader, self.dragger):
            self.release("the browser that led is gone")

    # --- the tick

    def step(self, now_s: float, T_tool: Array | None, node: NodeView) -> Step:
        """Decide. T_tool (4, 4) is the pose of the tool, None while it is unknown or stale."""
        if node.follows:
            self._followed_s, self._settled_s = now_s, min(self._settled_s, now_s)
        lost = now_s - max(self._followed_s, self._settled_s) > PATIENCE_S
        if self.leader is not None and now_s > self._settled_s and not node.follows and (node.stopped or lost):
            self.release(node.why_not)
        if self.leader is not None and self._seat_due and T_tool is None:
            self.release("no fresh joint states, so there is no pose to start from")
        if self.leader is None:
            self.T = T_tool
            return Step(seat=T_tool)
        if self._seat_due:
            self.T, self._seat_due = T_tool, False
            return Step(self.T, self.T)
        return Step(self.T)
