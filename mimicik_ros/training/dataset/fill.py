"""What a recording leaves out is made from what it has: targets by FK, commands by the nearest joints or the next row."""

from __future__ import annotations

import numpy as np

from mimicik_ros.core import dls, se3
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.types import Array
from mimicik_ros.training.dataset.recording import Fault, Recording
from mimicik_ros.training.dataset.schema import Episode

STEPS, DAMPING, TOLERANCE = 60, 0.02, 1e-6
REACHED_M = 1e-3  # weighted error within which a target counts as reached by the joints found


def complete(recording: Recording, kinematics: Kinematics, source: str) -> tuple[Episode | None, list[Fault]]:
    """The recording as an episode, and what was lost on the way; None where nothing is left.

    - No commands, but targets: the joints that reach each target, found from those before (rows beyond reach end the episode).
    - Neither: the joints of the next row are the command, and the last row goes.
    - No targets: FK of the commands.
    """
    q, command, position, quat = recording.q, recording.q_command, recording.position_m, recording.quat_xyzw
    t_s, faults = recording.t_s, []
    if command is None and position is not None and quat is not None:
        command = _followed(kinematics, q[0], se3.pose_from_quat(position, quat))
        if len(command) < len(q):
            faults.append(Fault("reach", f"target beyond reach from row {len(command)} of {len(q)} on",
                                np.arange(len(q)) >= len(command)))
            t_s, q, position, quat = (x[: len(command)] for x in (t_s, q, position, quat))
    elif command is None:
        command, t_s, q = q[1:], t_s[:-1], q[:-1]
    if len(q) < 2:
        return None, faults
    if position is None or quat is None:
        T = kinematics.fk_batch(command)
        position, quat = T[:, :3, 3], se3.quat_from_rotation(T[:, :3, :3])
    return Episode(t_s, q, command, position, quat, source), faults


def _followed(kinematics: Kinematics, q: Array, targets: Array) -> Array:
    """Joints (j, n) for the first j targets (k, 4, 4) that can be reached one from the other."""
    found = []
    q = np.clip(q, kinematics.lower, kinematics.upper)
    for T in targets:
        step = dls.refine(kinematics, q, T, kinematics.lower, kinematics.upper, STEPS, DAMPING, TOLERANCE)
        if step.error > REACHED_M:
            break
        q = step.q
        found.append(q)
    return np.array(found).reshape(-1, kinematics.n)
