"""Forward kinematics of one serial chain, base_frame -> tool_frame, joints by name, on a reduced Pinocchio model."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from mimicik_ros.core import se3
from mimicik_ros.core.errors import RobotError
from mimicik_ros.core.types import Array, Residual
from mimicik_ros.core.urdf import JointDescription, read_joints

if not hasattr(pin, "buildModelFromXML"):
    raise RobotError("the installed `pinocchio` is an unrelated package; fix: pip uninstall pinocchio; pip install pin")


@dataclass(frozen=True)
class JointTable:
    """The chain as plain numbers, for batched FK here and in torch.

    Attributes:
        placements: (n, 4, 4) pose of each joint in its parent joint (the first in the base frame), at q = 0.
        axes: (n, 3) unit joint axis in the joint frame.
        prismatic: (n,) bool.
        tool: (4, 4) tool frame in the last joint's frame.
    """

    placements: Array
    axes: Array
    prismatic: np.ndarray[Any, np.dtype[np.bool_]]
    tool: Array


class Kinematics:
    """FK, Jacobian and position limits of a serial chain of n one-degree joints.

    Args:
        urdf: path of a URDF file, or its XML as bytes.
        base_frame: frame in which poses are given.
        tool_frame: frame that is posed.
        joint_names: n names in chain order, base to tool. Every other joint is locked at its neutral position.

    Raises:
        RobotError: the URDF cannot be read, or a name does not exist, or the joints are no serial chain.
    """

    def __init__(self, urdf: str | Path | bytes, base_frame: str, tool_frame: str, joint_names: tuple[str, ...]) -> None:
        xml, origin = _read(urdf)
        described = read_joints(xml, origin)
        full = _build(xml, origin)
        joints = [_require(described, name, origin) for name in joint_names]
        if len(set(joint_names)) != len(joint_names) or not joint_names:
            raise RobotError(f"{origin}: robot.joint_names must be distinct and not empty, got {list(joint_names)}")
        for frame in (base_frame, tool_frame):
            if not full.existFrame(frame):
                known = sorted(f.name for f in full.frames if f.type == pin.FrameType.BODY)
                raise RobotError(f"{origin}: no frame named '{frame}'; links: {', '.join(known)}")
        locked = [full.getJointId(name) for name in list(full.names)[1:] if name not in joint_names]
        self._model: Any = pin.buildReducedModel(full, locked, pin.neutral(full))
        self._data: Any = self._model.createData()
        self._tool: int = self._model.getFrameId(tool_frame)
        self._base: int = self._model.getFrameId(base_frame)
        self._check_chain(joint_names, base_frame, tool_frame, origin)
        base = self._model.frames[self._base]
        self._T_base_world: Array = np.linalg.inv(base.placement.homogeneous)
        self.n = len(joint_names)
        self.joint_names = tuple(joint_names)
        self.base_frame, self.tool_frame, self.origin = base_frame, tool_frame, origin
        self.joints: tuple[JointDescription, ...] = tuple(joints)
        self.lower: Array = np.array([j.lower for j in joints])
        self.upper: Array = np.array([j.upper for j in joints])
        self.table = self._joint_table(joints)

    def _check_chain(self, names: tuple[str, ...], base: str, tool: str, origin: str) -> None:
        if tuple(self._model.names)[1:] != tuple(names):
            order = ", ".join(list(self._model.names)[1:])
            raise RobotError(f"{origin}: robot.joint_names must follow the chain from base to tool: {order}")
        if list(self._model.parents)[1:] != list(range(len(names))):
            raise RobotError(f"{origin}: joints {list(names)} are not one serial chain")
        if self._model.frames[self._base].parentJoint != 0:
            raise RobotError(f"{origin}: base frame '{base}' moves with joint_names; choose a frame below the first joint")
        if self._model.frames[self._tool].parentJoint != len(names):
            raise RobotError(f"{origin}: tool frame '{tool}' is not moved by the last joint '{names[-1]}'")

    def _joint_table(self, joints: list[JointDescription]) -> JointTable:
        placements = np.stack([self._model.jointPlacements[i + 1].homogeneous for i in range(self.n)])
        placements[0] = self._T_base_world @ placements[0]
        return JointTable(
            placements,
            np.array([j.axis for j in joints]),
            np.array([j.type == "prismatic" for j in joints]),
            self._model.frames[self._tool].placement.homogeneous,
        )

    def fk(self, q: Array) -> Array:
        """Tool pose (4, 4) in the base frame for q (n,) rad."""
        pin.forwardKinematics(self._model, self._data, q)
        placement = pin.updateFramePlacement(self._model, self._data, self._tool)
        T: Array = self._T_base_world @ placement.homogeneous
        return T

    def link_poses(self, q: Array, links: Sequence[str]) -> Array:
        """Poses (k, 4, 4) of k links in the base frame for q (n,) rad. Raises RobotError for a name that is no frame."""
        pin.framesForwardKinematics(self._model, self._data, q)
        T_world_link = np.array([self._data.oMf[self._frame_id(link)].homogeneous for link in links]).reshape(-1, 4, 4)
        T: Array = self._T_base_world @ T_world_link
        return T

    def moves_with_tool(self, link: str) -> bool:
        """Whether a link is fixed to the tool frame. Raises RobotError for a name that is no frame."""
        return bool(self._model.frames[self._frame_id(link)].parentJoint == self.n)

    def _frame_id(self, name: str) -> int:
        if not self._model.existFrame(name):
            raise RobotError(f"{self.origin}: no frame named '{name}'")
        return int(self._model.getFrameId(name))

    def jacobian(self, q: Array) -> Array:
        """Body Jacobian (6, n) of the tool, linear rows (m) above angular rows (rad), in the tool frame."""
        J: Array = pin.computeFrameJacobian(self._model, self._data, q, self._tool, pin.ReferenceFrame.LOCAL)
        return J

    def sigma_min(self, q: Array) -> float:
        """Smallest singular value of the body Jacobian (mixed units: m/rad and rad/rad)."""
        return float(np.linalg.svd(self.jacobian(q), compute_uv=False)[-1])

    def fk_batch(self, q: Array) -> Array:
        """Tool poses (..., 4, 4) in the base frame for q (..., n) rad."""
        T = np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4))
        for i in range(self.n):
            w = self.table.axes[i] * q[..., i : i + 1]
            if self.table.prismatic[i]:
                motion = se3.pose(np.broadcast_to(np.eye(3), (*q.shape[:-1], 3, 3)), w)
            else:
                motion = se3.pose(se3.rotation_exp(w), np.zeros_like(w))
            T = T @ self.table.placements[i] @ motion
        return T @ self.table.tool

    def pinocchio_model(self) -> Any:
        """A copy of the reduced Pinocchio model, for solvers that want one; its world is the URDF's root."""
        return pin.Model(self._model)

    def kinematic_hash(self) -> str:
        """SHA-256 (first 16 hex digits) of names, frames, joint table and limits, rounded to 1e-5."""
        digest = hashlib.sha256("|".join((*self.joint_names, self.base_frame, self.tool_frame)).encode())
        table = self.table
        for values in (table.placements, table.axes, table.prismatic, table.tool, self.lower, self.upper):
            digest.update((np.round(np.asarray(values, dtype=float), 5) + 0.0).tobytes())
        return digest.hexdigest()[:16]


def residual(T_actual: Array, T_wanted: Array) -> Residual:
    """Euclidean position error (m) and geodesic rotation error (rad) between two poses (4, 4)."""
    offset = T_actual[:3, 3] - T_wanted[:3, 3]
    turn = pin.log3(T_actual[:3, :3].T @ T_wanted[:3, :3])
    return Residual(math.sqrt(offset @ offset), math.sqrt(turn @ turn))


def _read(urdf: str | Path | bytes) -> tuple[bytes, str]:
    if isinstance(urdf, bytes):
        return urdf, "URDF"
    path = Path(urdf)
    try:
        return path.read_bytes(), str(path)
    except OSError as error:
        raise RobotError(f"robot.urdf: cannot read '{path}': {error.strerror}; give the path of a URDF file") from error


def _build(xml: bytes, origin: str) -> Any:
    try:
        return pin.buildModelFromXML(xml.decode("utf-8", errors="replace"))
    except (RuntimeError, ValueError) as error:
        raise RobotError(f"{origin}: Pinocchio cannot build a model: {str(error).splitlines()[0]}") from error


def _require(joints: dict[str, JointDescription], name: str, origin: str) -> JointDescription:
    if name not in joints:
        raise RobotError(f"{origin}: no movable joint named '{name}'; movable joints: {', '.join(joints) or 'none'}")
    joint = joints[name]
    if joint.mimic is not None:
        raise RobotError(f"{origin}: joint '{name}' mimics '{joint.mimic}' and cannot be commanded")
    if joint.type not in ("revolute", "prismatic"):
        raise RobotError(f"{origin}: joint '{name}' is {joint.type}; supported: revolute, prismatic")
    if not joint.lower < joint.upper:
        raise RobotError(f"{origin}: joint '{name}' has no position range (lower {joint.lower}, upper {joint.upper})")
    return joint
