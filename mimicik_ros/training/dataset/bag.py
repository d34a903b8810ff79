"""rosbag2 recordings (mcap or sqlite3): joints by name, with the command or target in force at each joint state."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.highlevel import AnyReader, AnyReaderError
from rosbags.rosbag2 import ReaderError
from rosbags.typesys import Stores, get_typestore

from mimicik_ros.core.errors import DataError
from mimicik_ros.core.joints import merge
from mimicik_ros.core.types import Array, JointSnapshot
from mimicik_ros.training.dataset.recording import Fault, Recording

STALE_S = 0.5  # a command or target older than this is not taken for the one in force
JOINT_TYPES = ("sensor_msgs/msg/JointState", "std_msgs/msg/Float64MultiArray", "trajectory_msgs/msg/JointTrajectory")
POSE_TYPE = "geometry_msgs/msg/PoseStamped"


@dataclass(frozen=True)
class Topics:
    """Names of topics; one without a slash stands for any topic that ends with it."""

    joint_states: str = "joint_states"
    joint_command: str = "joint_command"
    target_pose: str = "target_pose"


@dataclass
class Track:
    """Messages of one topic: header stamps (NaN or 0 where there is none), log times, values; and how many were refused."""

    topic: str
    stamps: list[float] = field(default_factory=list)
    logged: list[float] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)

    def refuse(self, why: str) -> None:
        self.refused[why] = self.refused.get(why, 0) + 1


def recording(path: Path, topics: Topics, joint_names: tuple[str, ...], degrees: bool) -> tuple[Recording, str]:
    """One bag as a recording, and the clock it was aligned by: a row for every joint state that has a command or a target.

    Args:
        path: a bag's folder, or a .mcap or .db3 file.
        topics: names.
        joint_names: of the robot, in its order; other joints are left out.
        degrees: take joints for degrees.

    Raises:
        DataError: a topic is missing or of another type.
    """
    try:
        with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
            tracks = _tracks(reader, _chosen(reader, path, topics), joint_names)
    except DataError:
        raise
    except Exception as error:  # a damaged bag raises anything from sqlite3.Error to struct.error
        reason = (str(error).splitlines() or [type(error).__name__])[0][:100]
        return Recording.unusable(str(path), "truncated", f"cannot be read ({reason}); `ros2 bag reindex` may mend it"), ""
    return _aligned(str(path), tracks, degrees)


def _chosen(reader: AnyReader, path: Path, topics: Topics) -> dict[str, tuple[str, str]]:
    """Role -> (topic, type) of those that are there; joint_states and one of the others must be."""
    kinds = {c.topic: c.msgtype for c in reader.connections}
    chosen: dict[str, tuple[str, str]] = {}
    for role, types in (("joint_states", JOINT_TYPES[:1]), ("joint_command", JOINT_TYPES), ("target_pose", (POSE_TYPE,))):
        name = getattr(topics, role)
        fitting = [t for t in kinds if t == name] or [t for t in kinds if not name.startswith("/") and t.endswith("/" + name)]
        option = "--" + role.replace("_", "-")
        if len(fitting) > 1:
            raise DataError(f"{path}: {', '.join(sorted(fitting))} all end with '{name}'; name one with {option}")
        if fitting and kinds[fitting[0]] not in types:
            raise DataError(f"{path}: {fitting[0]} is {kinds[fitting[0]]}, expected {' or '.join(types)}; name one with {option}")
        if fitting:
            chosen[role] = (fitting[0], kinds[fitting[0]])
    known = ", ".join(f"{t} ({k.split('/')[-1]})" for t, k in sorted(kinds.items())) or "none"
    if "joint_states" not in chosen:
        raise DataError(f"{path}: no topic '{topics.joint_states}'; topics: {known}; name it with --joint-states")
    if len(chosen) == 1:
        raise DataError(f"{path}: neither '{topics.joint_command}' nor '{topics.target_pose}'; topics: {known}; "
                        "name one with --joint-command or --target-pose")
    return chosen


def _tracks(reader: AnyReader, chosen: dict[str, tuple[str, str]], joint_names: tuple[str, ...]) -> dict[str, Track]:
    tracks = {role: Track(topic) for role, (topic, _) in chosen.items()}
    roles = {topic: role for role, (topic, _) in chosen.items()}
    snapshots = {role: JointSnapshot.empty(len(joint_names)) for role in tracks}
    connections = [c for c in reader.connections if c.topic in roles]
    for connection, logged_ns, raw in reader.messages(connections):
        role = roles[connection.topic]
        track = tracks[role]
        try:
            message: Any = reader.deserialize(raw, connection.msgtype)
        except (AnyReaderError, ReaderError):
            track.refuse("damaged")
            continue
        header = getattr(message, "header", None)
        stamp_s = header.stamp.sec + 1e-9 * header.stamp.nanosec if header is not None else float("nan")
        if role == "target_pose":
            p, o = message.pose.position, message.pose.orientation
            value, why = np.array([p.x, p.y, p.z, o.x, o.y, o.z, o.w]), None
        else:
            snapshots[role], value, why = _joints(message, connection.msgtype, snapshots[role], joint_names)
        if why:
            track.refuse(why)
        elif value is not None:
            track.stamps.append(stamp_s)
            track.logged.append(1e-9 * logged_ns)
            track.values.append(value)
    return tracks


def _joints(message: Any, kind: str, snapshot: JointSnapshot,
            joint_names: tuple[str, ...]) -> tuple[JointSnapshot, Array | None, str | None]:
    """Joints (n,) after a message, or None while some of ours are unknown or none is named, or why the message is refused."""
    n = len(joint_names)
    if kind == JOINT_TYPES[0]:
        names, positions = list(message.name), np.asarray(message.position)
    elif kind == JOINT_TYPES[1]:
        names, positions = [], np.asarray(message.data)
    elif not message.points:
        return snapshot, None, "a trajectory without points"
    else:
        names, positions = list(message.joint_names), np.asarray(message.points[0].positions)
    if not names:  # without names the order is ours, with a gripper after the joints at most
        if len(positions) not in (n, n + 1):
            return snapshot, None, f"{len(positions)} values without names, expected {n}"
        names, positions = list(joint_names), positions[:n]
    changed, why = merge(snapshot, joint_names, names, positions, 0.0, 0.0)
    if why or changed is snapshot or not np.isfinite(changed.stamp_s).all():
        return changed, None, why
    return changed, changed.q, None


def _aligned(name: str, tracks: dict[str, Track], degrees: bool) -> tuple[Recording, str]:
    for track in tracks.values():
        if not track.values:
            why = "; ".join(track.refused) or "no message names all joints of the robot"
            return Recording.unusable(name, "length" if track.refused else "names", f"{track.topic}: {why}"), ""
    unstamped = [t.topic for t in tracks.values() if not np.all(np.nan_to_num(np.array(t.stamps)) > 0.0)]
    clock = f"log times, since {' and '.join(unstamped)} came without stamps" if unstamped else "header stamps"
    times = {role: np.array(t.logged if unstamped else t.stamps) for role, t in tracks.items()}
    t_s = times["joint_states"]
    good = np.ones(len(t_s), dtype=bool)
    held: dict[str, Array] = {}
    faults = [Fault("length" if "values" in why or "positions" in why else "message",
                    f"{t.topic}: {count} messages refused ({why})", np.zeros(len(t_s), dtype=bool))
              for t in tracks.values() for why, count in t.refused.items()]
    for role in set(tracks) - {"joint_states"}:
        known = times[role]
        rising = known > np.concatenate([[-np.inf], np.maximum.accumulate(known)[:-1]])
        if not rising.all():
            faults.append(Fault("stamps", f"{tracks[role].topic}: {int((~rising).sum())} messages not later than those before",
                                np.zeros(len(t_s), dtype=bool)))
        known, values = known[rising], np.stack(tracks[role].values)[rising]
        place = np.searchsorted(known, t_s, side="right") - 1
        good &= (place >= 0) & (t_s - known[np.maximum(place, 0)] <= STALE_S)
        held[role] = values[np.maximum(place, 0)]
    q, command, pose = np.stack(tracks["joint_states"].values), held.get("joint_command"), held.get("target_pose")
    if degrees:
        q, command = np.deg2rad(q), None if command is None else np.deg2rad(command)
    whole = Recording(name, t_s, q, command, None if pose is None else pose[:, :3], None if pose is None else pose[:, 3:])
    inside = whole.taken(np.flatnonzero(good))
    if not good.any():
        why = f"no joint state within {STALE_S:g} s after a command or target ({clock})"
        return Recording.unusable(name, "stamps", why), clock
    kept = [Fault(f.kind, f.text, np.zeros(int(good.sum()), dtype=bool)) for f in faults]
    return dataclasses.replace(inside, faults=kept), clock


def recordings(paths: list[Path], topics: Topics, joint_names: tuple[str, ...], degrees: bool,
               clocks: dict[str, str]) -> Iterator[Recording]:
    """Several bags, one at a time; the clock of each goes into `clocks`."""
    for path in paths:
        if not path.exists():
            raise DataError(f"{path}: no such bag; give a folder with metadata.yaml, or a .mcap or .db3 file")
        found, clocks[str(path)] = recording(path, topics, joint_names, degrees)
        yield found
