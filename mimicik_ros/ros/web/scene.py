"""The picture: the arm at its joints, a ghost of the tool at the target, and the handle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import viser

from mimicik_ros.core import se3
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.core.visuals import Shape, read_shapes

CAMERA_POSITION_M, CAMERA_LOOK_AT_M, CAMERA_FOV_RAD = (0.95, -0.85, 0.62), (0.12, 0.0, 0.26), 0.85
PORTRAIT_LOOK_AT_M, PORTRAIT_DISTANCE = (0.18, 0.0, -0.02), 1.9  # arm in the upper half, the phone's panel below it
HANDLE_SCALE_M = 0.16
GHOST_RGB, GHOST_OPACITY = (255, 140, 0), 0.4
SAME_M, SAME_QUAT = 1e-5, 1e-6  # below this nothing is sent to the browsers

Drag = Callable[[str, int, Array], None]  # phase (start, update, end), client, pose (4, 4) in the base frame


class Scene:
    """Everything that is drawn, in the base frame.

    Args:
        server: viser's.
        kinematics: of the arm; its file is drawn.
        dragged: called in viser's thread, in the order of the events.
    """

    def __init__(self, server: viser.ViserServer, kinematics: Kinematics, dragged: Drag) -> None:
        self._server, self._kinematics = server, kinematics
        shapes = read_shapes(Path(kinematics.origin).read_bytes())
        self.stand_ins = tuple(shape.link for shape in shapes if shape.stand_in)
        self._links = tuple(dict.fromkeys(shape.link for shape in shapes))
        server.initial_camera.position = CAMERA_POSITION_M
        server.initial_camera.look_at = CAMERA_LOOK_AT_M
        server.initial_camera.fov = CAMERA_FOV_RAD
        scene = server.scene
        scene.add_grid("/ground", width=2.0, height=2.0, cell_size=0.1, section_size=0.5, cell_color=(225, 228, 232),
                       section_color=(195, 200, 208))
        scene.add_frame("/base", axes_length=0.1, axes_radius=0.002, origin_radius=0.004)
        self._frames = [scene.add_frame(f"/arm/{link}", show_axes=False, visible=False) for link in self._links]
        for i, shape in enumerate(shapes):
            _draw(scene, f"/arm/{shape.link}/{i}", shape, tuple(round(255 * c) for c in shape.rgb), None)
        self._ghost = scene.add_frame("/ghost", axes_length=0.05, axes_radius=0.0015, visible=False)
        self._draw_ghost(shapes)
        self._gizmo = scene.add_transform_controls("/handle", scale=HANDLE_SCALE_M, line_width=3.5, depth_test=False,
                                                   visible=False)

        @server.on_client_connect
        async def _(client: viser.ClientHandle) -> None:
            if client.camera.aspect < 1.0:
                look_at = np.array(PORTRAIT_LOOK_AT_M)
                client.camera.position = look_at + PORTRAIT_DISTANCE * (np.array(CAMERA_POSITION_M) - CAMERA_LOOK_AT_M)
                client.camera.look_at = look_at

        @self._gizmo.on_update
        async def _(event: Any) -> None:  # a coroutine: viser keeps the order of those
            dragged(event.phase, event.client_id, _pose_of(self._gizmo))

    def _draw_ghost(self, shapes: tuple[Shape, ...]) -> None:
        """What is fixed to the tool, once more, relative to the tool."""
        k = self._kinematics
        for i, shape in enumerate(shapes):
            if k.moves_with_tool(shape.link):
                T_tool_link = se3.inverse(k.link_poses(np.zeros(k.n), [k.tool_frame])[0]) @ k.link_poses(
                    np.zeros(k.n), [shape.link])[0]
                moved = Shape(shape.link, shape.kind, shape.size_m, T_tool_link @ shape.T_link_shape, shape.rgb)
                _draw(self._server.scene, f"/ghost/{i}", moved, GHOST_RGB, GHOST_OPACITY)

    def show(self, q: Array | None, T_target: Array | None, seat: Array | None) -> None:
        """Bring the picture up to date.

        Args:
            q: joints (n,) rad, None = leave the arm as it is.
            T_target: (4, 4) pose of the ghost, None = hide it.
            seat: (4, 4) pose to put the handle at, None = leave it to whoever drags it.
        """
        with self._server.atomic():
            if q is not None:
                for frame, T in zip(self._frames, self._kinematics.link_poses(q, self._links), strict=True):
                    _place(frame, T)
            if T_target is not None:
                _place(self._ghost, T_target)
            elif self._ghost.visible:
                self._ghost.visible = False
            if seat is not None:
                _place(self._gizmo, seat)


def _draw(scene: viser.SceneApi, name: str, shape: Shape, colour: tuple[int, ...], opacity: float | None) -> None:
    T = shape.T_link_shape
    common: dict[str, Any] = {"color": colour, "opacity": opacity, "position": T[:3, 3], "wxyz": _wxyz(T)}
    if shape.kind == "box":
        scene.add_box(name, dimensions=shape.size_m, **common)
    elif shape.kind == "cylinder":
        scene.add_cylinder(name, radius=shape.size_m[0], height=shape.size_m[1], **common)
    else:
        scene.add_icosphere(name, radius=shape.size_m[0], **common)


def _wxyz(T: Array) -> Array:
    return np.roll(se3.quat_from_rotation(T[:3, :3]), 1)


def _pose_of(node: Any) -> Array:
    return se3.pose_from_quat(np.asarray(node.position, dtype=float), np.roll(np.asarray(node.wxyz, dtype=float), -1))


def _place(node: Any, T: Array) -> None:
    """Move a node, only where it is not there already: each change is a message to every browser."""
    wxyz = _wxyz(T)
    if np.abs(np.asarray(node.position) - T[:3, 3]).max() > SAME_M:
        node.position = T[:3, 3]
    if min(np.abs(np.asarray(node.wxyz) - wxyz).max(), np.abs(np.asarray(node.wxyz) + wxyz).max()) > SAME_QUAT:
        node.wxyz = wxyz
    if not node.visible:
        node.visible = True
