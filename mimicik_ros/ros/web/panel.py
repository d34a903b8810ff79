"""The panel beside the picture: what the node says, buttons, plots."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import viser

from mimicik_ros.core.types import Array
from mimicik_ros.ros.web.handle import NodeView
from mimicik_ros.ros.web.history import History
from mimicik_ros.ros.web.link import StatusSeen

LEVEL_COLOURS = ("#2b8a3e", "#e67700", "#c92a2a")  # ok, warn, error
SILENT_COLOUR = "#868e96"
SERIES_COLOURS = ("#1971c2", "#e8590c", "#2f9e44", "#9c36b5", "#c2255c", "#0c8599", "#5f3dc4", "#846358")
PLOT_HEIGHT_PX = 104
VELOCITY_RANGE_PERCENT = 120.0
LEAST_MM, LEAST_DEG = 0.1, 0.01  # top of an axis that shows nothing larger

# name of the action, label, icon, colour
ACTIONS = (("enable", "Enable", "player-play", (43, 138, 62)), ("hold", "Hold", "hand-stop", (201, 42, 42)),
           ("home", "Home", "home", (25, 113, 194)), ("reset_handle", "Reset handle", "focus-centered", (73, 80, 87)),
           ("clear_fault", "Clear fault", "alert-triangle", (190, 75, 0)))

Press = Callable[[str, int], None]  # action, client


class Panel:
    """Everything that is written and pressed.

    Args:
        server: viser's.
        arm: its name, for the head.
        joint_names: the n joints, for the legend.
        pressed: called in viser's thread.
    """

    def __init__(self, server: viser.ViserServer, arm: str, joint_names: tuple[str, ...], pressed: Press) -> None:
        self._server, gui = server, server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium", brand_color=(25, 113, 194))
        gui.set_panel_label(f"mimicik: {arm}")
        gui.main_panel.dock_right()
        self._tops: tuple[float, ...] = (LEAST_MM, LEAST_DEG)
        self._status = gui.add_html(status_html(None, NodeView()))
        self._buttons = {name: _button(gui, name, label, icon, colour, pressed) for name, label, icon, colour in ACTIONS}
        self._buttons["clear_fault"].visible = False
        self._hint = gui.add_html("")
        self._draw_plots(gui, joint_names)

    def _draw_plots(self, gui: Any, joint_names: tuple[str, ...]) -> None:
        """A panel of its own: on a phone it starts closed, so that the arm stays in sight."""
        series = {"width": 1.5, "points": {"show": False}}
        axis = {"labelSize": 16, "size": 42}
        joints = tuple({**series, "label": name, "stroke": _colour(i)} for i, name in enumerate(joint_names))
        limit = {"label": "limit", "stroke": LEVEL_COLOURS[2], "width": 1, "dash": (4, 4), "points": {"show": False}}
        unseen = {**series, "label": "top", "width": 0, "stroke": "transparent"}  # spans an axis; new scales would blank the plot
        common = {"height": PLOT_HEIGHT_PX, "legend": {"show": False}}
        plots = gui.add_panel()
        with plots.add_tab("Plots"):
            self._residual = gui.add_uplot(
                (np.zeros(1),) * 5, title="residual of the command: mm, deg", axes=(
                    {}, {**axis, "label": "mm", "stroke": _colour(0)},
                    {**axis, "label": "deg", "stroke": _colour(1), "scale": "deg", "side": 1, "grid": {"show": False}}),
                series=({}, {**series, "label": "mm", "stroke": _colour(0)},
                        {**series, "label": "deg", "stroke": _colour(1), "scale": "deg"}, unseen, {**unseen, "scale": "deg"}),
                scales={"x": {"time": False}, "y": {"range": (0.0, None)}, "deg": {"range": (0.0, None)}},
                padding=(8, 4, 0, 0), **common)
            self._velocity = gui.add_uplot(
                (np.zeros(1),) * (3 + len(joints)), title="joint velocity, % of its limit", series=({}, limit, limit, *joints),
                scales={"x": {"time": False}, "y": {"range": (-VELOCITY_RANGE_PERCENT, VELOCITY_RANGE_PERCENT)}},
                axes=({}, {**axis, "label": "%", "splits": (-100.0, 0.0, 100.0)}), padding=(8, 16, 0, 0), **common)
            gui.add_html(_legend(joint_names))
        plots.dock_below(gui.main_panel)

    def show_status(self, status: StatusSeen | None, node: NodeView, hint: str, refusals: dict[str, str | None]) -> None:
        """Bring text and buttons up to date.

        Args:
            status: last of the node.
            node: how it shows.
            hint: what to do, or why something was refused.
            refusals: by action, why it cannot be pressed now; None = it can.
        """
        _set(self._status, "content", status_html(status, node))
        reasons = [hint] if hint else []
        for name, reason in refusals.items():
            _set(self._buttons[name], "disabled", reason is not None)
            if reason:
                reasons.append(reason)
        _set(self._buttons["clear_fault"], "visible", node.mode == "FAULT" and not node.silent)
        _set(self._hint, "content", _lines(tuple(dict.fromkeys(reasons))))

    def show_plots(self, history: History) -> None:
        """Draw the history."""
        age_s = history.age_s
        if len(age_s) < 2:
            return
        limit = np.full(len(age_s), 100.0)
        mm, deg = history.residual_mm_deg
        tops = tuple(axis_top(old, values, least)
                     for old, values, least in zip(self._tops, (mm, deg), (LEAST_MM, LEAST_DEG), strict=True))
        self._tops = tops
        with self._server.atomic():
            self._residual.data = (age_s, mm, deg, *(np.full(len(age_s), top) for top in tops))
            self._velocity.data = (age_s, limit, -limit, *np.ascontiguousarray(history.velocity_percent.T))


def status_html(status: StatusSeen | None, node: NodeView) -> str:
    """The node's status as HTML, coloured by its level. What the node says is escaped."""
    if status is None or node.silent:
        colour, head, text = SILENT_COLOUR, "no status", "the node is silent: is it running, in this domain and namespace?"
    else:
        colour = LEVEL_COLOURS[min(status.level, 2)]
        head, text = node.label.replace("_", " "), status.text
    mode = f"<span style='float:right;opacity:0.85;font-weight:400'>{escape(node.mode)}</span>" if not node.silent else ""
    return (f"<div style='margin:0.5em 0.75em;border-radius:6px;background:{colour};color:#fff;padding:0.45em 0.7em;"
            f"font-size:0.9em;line-height:1.4'><div style='font-weight:700'>{escape(head)}{mode}</div>"
            f"<div style='min-height:2.8em'>{escape(text)}</div></div>")


def axis_top(old: float, values: Array, least: float) -> float:
    """Top of an axis: 1, 2 or 5 times a power of ten at or above the values and least; NaN is ignored.

    It stays at old until that is too small, or ten times too large: an axis that moves all the time cannot be read.
    """
    largest = max(least, float(np.nanmax(values))) if np.any(np.isfinite(values)) else least
    power = 10.0 ** np.floor(np.log10(largest))
    new = float(next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= largest * (1.0 - 1e-9)))
    return old if new <= old <= 10.0 * new else new


def _colour(i: int) -> str:
    return SERIES_COLOURS[i % len(SERIES_COLOURS)]


def _button(gui: Any, name: str, label: str, icon: str, colour: tuple[int, int, int], pressed: Press) -> Any:
    button = gui.add_button(label, icon=icon, color=colour)

    @button.on_click
    async def _(event: Any) -> None:
        pressed(name, event.client_id)

    return button


def _set(element: Any, name: str, value: Any) -> None:
    """Change an element, only where it changes: each change is a message to every browser."""
    if getattr(element, name) != value:
        setattr(element, name, value)


def _lines(lines: tuple[str, ...]) -> str:
    body = "<br>".join(escape(line) for line in lines)
    return f"<div style='margin:0.2em 0.9em;font-size:0.8em;line-height:1.4;opacity:0.75;min-height:2.8em'>{body}</div>"


def _legend(joint_names: tuple[str, ...]) -> str:
    parts = [f"<span style='color:{_colour(i)};white-space:nowrap'>&#9632; {escape(name)}</span>"
             for i, name in enumerate(joint_names)]
    style = "margin:0 0.9em 0.6em;font-size:0.75em;display:flex;flex-wrap:wrap;gap:0.1em 0.7em"
    return f"<div style='{style}'>{''.join(parts)}</div>"
