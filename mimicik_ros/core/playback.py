"""Chunks played one after the other: which are in force, how they are joined, and where the target is now."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from mimicik_ros.config import TargetConfig
from mimicik_ros.core import se3
from mimicik_ros.core import seam as seams
from mimicik_ros.core.chunk import Chunk
from mimicik_ros.core.seam import Seam
from mimicik_ros.core.types import Array

MOST_CHUNKS = 64  # kept at once
MEAN_STEPS = 3  # of the mean rotation; its error falls by about the square of the spread in each


@dataclass(frozen=True)
class Output:
    """The target as it was last handed over: pose (4, 4), velocity (6,) m/s, rad/s in the base frame, and when."""

    T: Array
    velocity: Array
    time_s: float


@dataclass(frozen=True)
class Playback:
    """The chunks, and how the target lies to them.

    Attributes:
        chunks: known, oldest first.
        playing: those that made the last pose; none where another source had the say.
        seam: between the last pose and what they say.
        time_s: of the last pose.
        count: chunks so far.
    """

    chunks: tuple[Chunk, ...] = ()
    playing: tuple[Chunk, ...] = ()
    seam: Seam = field(default_factory=Seam.none)
    time_s: float = 0.0
    count: int = 0


def add(playback: Playback, chunk: Chunk, config: TargetConfig) -> Playback:
    """A chunk more. It replaces the others from its first pose on; in an ensemble it joins them."""
    kept = playback.chunks
    if config.chunk_blend == "seam":
        kept = tuple(old for old in kept if old.begin_s < chunk.begin_s)
    numbered = dataclasses.replace(chunk, number=playback.count)
    return dataclasses.replace(playback, chunks=(*kept, numbered)[-MOST_CHUNKS:], count=playback.count + 1)


def paused(playback: Playback) -> Playback:
    """Another source has the say: the chunks go on in the background, and begin with a seam from that source's target."""
    return dataclasses.replace(playback, playing=(), seam=Seam.none())


def step(playback: Playback, now_s: float, last: Output | None, config: TargetConfig,
         longest_s: float) -> tuple[Playback, Array, float]:
    """Target pose (4, 4) at a time, and how long ago the chunks ended (0 while they last).

    A change of the chunks in force leaves the target's pose and velocity as they are: what lies between becomes the seam.

    Args:
        playback: with at least one chunk.
        now_s: ROS clock.
        last: the last output of any source; None where there is none to continue.
        config: settings.
        longest_s: an output older than this is not continued.
    """
    time_s = now_s + config.lookahead_s
    chunks = _in_force(playback.chunks, time_s, config)
    T_plan, velocity = _mean([chunk.at(time_s) for chunk in chunks], config.ensemble_decay)
    seam = Seam.none()
    if last is not None and 0.0 < now_s - last.time_s <= longest_s:
        seam = seams.advance(playback.seam, now_s - playback.time_s, config) if playback.playing else seam
        if [chunk.number for chunk in chunks] != [chunk.number for chunk in playback.playing]:
            seam = seams.rebased(seam, *_before(playback, now_s, last, config), T_plan, velocity)
    oldest = min(chunk.number for chunk in chunks)
    kept = tuple(chunk for chunk in playback.chunks if chunk.number >= oldest)
    after = dataclasses.replace(playback, chunks=kept, playing=chunks, seam=seam, time_s=now_s)
    return after, se3.shifted(T_plan, seam.offset), max(0.0, time_s - max(chunk.end_s for chunk in chunks))


def _before(playback: Playback, now_s: float, last: Output, config: TargetConfig) -> tuple[Array, Array]:
    """Pose and velocity now of what was in force: the chunks, where one that has just ended goes on, or another source."""
    if not playback.playing:
        return se3.shifted(last.T, last.velocity * (now_s - last.time_s)), last.velocity
    before_s, time_s = playback.time_s + config.lookahead_s, now_s + config.lookahead_s
    return _mean([chunk.beyond(time_s) if chunk.end_s >= before_s else chunk.at(time_s) for chunk in playback.playing],
                 config.ensemble_decay)


def _in_force(chunks: tuple[Chunk, ...], time_s: float, config: TargetConfig) -> tuple[Chunk, ...]:
    """Seam: the newest that has begun. Ensemble: all that cover the time. Where none has, the first to come."""
    begun = tuple(chunk for chunk in chunks if chunk.begin_s <= time_s)
    if not begun:
        return (min(chunks, key=lambda chunk: chunk.begin_s),)
    covering = tuple(chunk for chunk in begun if time_s <= chunk.end_s) if config.chunk_blend == "ensemble" else ()
    return covering or begun[-1:]


def _mean(read: list[tuple[Array, Array]], decay: float) -> tuple[Array, Array]:
    """Weighted mean of poses (4, 4) and of velocities (6,); weights exp(-decay i), oldest first (Zhao et al. 2023, ACT).

    The mean rotation is the one from which the weighted rotation vectors to the others add up to zero.
    """
    if len(read) == 1:
        return read[0]
    weights = np.exp(-decay * np.arange(len(read)))
    weights /= weights.sum()
    poses, velocities = np.stack([T for T, _ in read]), np.stack([v for _, v in read])
    T = poses[-1]
    for _ in range(MEAN_STEPS):
        T = se3.shifted(T, weights @ se3.difference(poses, T))
    mean_velocity: Array = weights @ velocities
    return T, mean_velocity
