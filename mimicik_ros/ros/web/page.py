"""The page as a whole: viser behind the gate, the handle's decisions, and one tick that carries everything between them."""

from __future__ import annotations

import contextlib
import io
import queue
import random
import socket
from collections.abc import Callable
from typing import Any

import numpy as np
import viser

from mimicik_ros.config import Config
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.ros.web.gate import Gate
from mimicik_ros.ros.web.handle import Handle
from mimicik_ros.ros.web.history import History
from mimicik_ros.ros.web.link import WebLink
from mimicik_ros.ros.web.panel import Panel
from mimicik_ros.ros.web.scene import Scene

RATE_HZ = 20.0  # of targets and of the picture
FRESH_S = 0.5  # a pose that is older is not shown as live, nor started from
SHOWN_TARGET_S = 1.0
PANEL_EVERY = 4  # ticks: text and plots at 5 Hz
HOME_WITHOUT = "Home: this node offers no ~/go_home"
OPENING = "Press Enable, then drag the handle at the tool."


class PrivateServer(viser.ViserServer):
    """viser on an address of this machine that no page can guess, without its public tunnel.

    A web page that is open in some browser here may try to open a websocket to any port of 127.0.0.1, and viser would serve it.
    """

    def __init__(self) -> None:
        host = "127." + ".".join(str(random.SystemRandom().randrange(1, 255)) for _ in range(3))
        with socket.socket() as probe:  # viser would wait for ever for an address that cannot be had
            try:
                probe.bind((host, 0))
            except OSError as error:
                raise ConfigError(f"cannot listen on loopback address {host}: {error.strerror}; the page needs Linux") from error
        with contextlib.redirect_stdout(io.StringIO()):  # it would print an address that is nobody's concern
            super().__init__(host=host, port=0, verbose=False)
        self.address = (host, self.get_port())

    def stop(self) -> None:
        """Stop serving, in silence."""
        with contextlib.redirect_stdout(io.StringIO()):
            super().stop()

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse: a browser can ask for it, and it would lead past the gate."""
        return None


class Page:
    """One arm in the browser.

    Args:
        link: the ROS side; the tick runs as a timer of it.
        kinematics: of the arm.
        config: for the velocity limits.
        host, port: of the gate.

    Raises:
        ConfigError: the address cannot be bound.
    """

    def __init__(self, link: WebLink, kinematics: Kinematics, config: Config, host: str, port: int) -> None:
        self._link, self._kinematics, self._base = link, kinematics, config.robot.base_frame
        self._handle = Handle()
        self._history = History(np.array(config.robot.velocity_limits_rad_s))
        self._todo: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._ticks = 0
        self._server = PrivateServer()
        self._scene = Scene(self._server, kinematics, self.drag)
        self._panel = Panel(self._server, link.servo_name, kinematics.joint_names, self.press)
        if self._scene.stand_ins:
            link.get_logger().warning(f"meshes are not drawn; balls stand for {', '.join(self._scene.stand_ins)}")

        @self._server.on_client_disconnect
        async def _(client: Any) -> None:
            self.lost(client.client_id)

        try:
            self.gate = Gate(self._server.address, host, port)
        except ConfigError:
            self._server.stop()
            raise
        self._timer = link.create_timer(1.0 / RATE_HZ, self.tick)

    def close(self) -> None:
        """End the page; no target is sent any more."""
        self._timer.cancel()
        self.gate.close()
        self._server.stop()

    # --- from viser's thread: only noted, in order, for the next tick

    def drag(self, phase: str, client: int, T: Array) -> None:
        """A browser drags the handle: start, update or end, with its pose (4, 4)."""
        def take() -> None:
            if phase == "start":
                self._handle.press(client, self._link.steady_s(), self._link.node_view())
            self._handle.move(client, T)
            if phase == "end":
                self._handle.drop(client)

        self._todo.put(take)

    def press(self, action: str, client: int) -> None:
        """A browser presses a button of panel.ACTIONS."""
        self._todo.put(lambda: self._act(action, client))

    def lost(self, client: int) -> None:
        """The connection to a browser is gone."""
        self._todo.put(lambda: self._handle.lost(client))

    # --- the tick

    def tick(self) -> None:
        """Do what the browsers asked for, send the target where somebody leads, and show how it is."""
        link, now_s = self._link, self._link.steady_s()
        while not self._todo.empty():
            self._todo.get()()
        q, node = link.fresh_q(FRESH_S), link.node_view()
        step = self._handle.step(now_s, self._tool(q), node)
        if step.target is not None:
            link.publish_target(step.target)
        self._scene.show(q, link.fresh_target(SHOWN_TARGET_S), step.seat)
        self._history.add(now_s, link.joints, link.residual if not node.silent else None)
        if self._ticks % PANEL_EVERY == 0:
            self._panel.show_status(link.status, node, self.hint(), self.refusals())
            self._panel.show_plots(self._history)
        self._ticks += 1

    def _tool(self, q: Array | None) -> Array | None:
        """Where the handle may start: at the command in force, which a held arm sags below, else at the measured joints."""
        if q is None:
            return None
        T_command = self._link.fresh_command(FRESH_S)
        return T_command if T_command is not None else self._kinematics.fk(q)

    def _act(self, action: str, client: int) -> None:
        handle, link = self._handle, self._link
        handle.note = ""
        if action == "enable":
            if link.fresh_q(FRESH_S) is None:
                handle.note = "Enable refused: no fresh joint states"
                return
            handle.enable(client, link.steady_s())
            link.call("enable", lambda good, message: None if good else handle.release(f"Enable refused: {message}"))
        elif action == "reset_handle":
            handle.reset()
        else:
            handle.release("")
            service = {"hold": "hold", "home": "go_home", "clear_fault": "reset"}[action]
            link.call(service, lambda good, message: None if good else self._say(f"{service} refused: {message}"))

    def _say(self, note: str) -> None:
        self._handle.note = note

    # --- what the panel says

    @property
    def leader(self) -> int | None:
        """Browser that leads the arm."""
        return self._handle.leader

    def hint(self) -> str:
        """What to do, or why something was refused."""
        link, handle = self._link, self._handle
        if link.fresh_q(FRESH_S) is None:
            missing = link.missing_joints()
            return f"No joint states on {link.joints_topic}" + (f" for {', '.join(missing)}" if missing else " any more") + "."
        if handle.leader is not None:
            return "Drag the handle: the arm follows it."
        return f"Not leading: {handle.note}." if handle.note else OPENING

    def refusals(self) -> dict[str, str | None]:
        """By action, why it cannot be pressed: None = it can, empty = the status or the hint says it already."""
        gone = "" if self._link.node_view().silent else None
        blind = "" if self._link.fresh_q(FRESH_S) is None else None
        home = gone if gone is not None or self._link.offers("go_home") else HOME_WITHOUT
        return {"enable": gone if gone is not None else blind, "hold": gone, "home": home, "reset_handle": blind,
                "clear_fault": gone}
