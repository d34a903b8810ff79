"""From what the target topics say to the one target of a tick: chosen source, pose now, and why there is none."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from mimicik_ros.config import Config
from mimicik_ros.core import chunk, playback, se3, source, target_filter, twist
from mimicik_ros.core.freshness import pose_fault
from mimicik_ros.core.playback import Output, Playback
from mimicik_ros.core.source import Choice
from mimicik_ros.core.status import Status
from mimicik_ros.core.target_filter import Filtered
from mimicik_ros.core.target_inputs import Moment, PathSample, TargetInputs, TwistSample
from mimicik_ros.core.types import Array, TargetSample

LONGEST_TICKS = 2.0  # a twist is integrated over at most this many periods


@dataclass(frozen=True)
class FeedState:
    """All that is remembered between ticks; replaced, never changed.

    Attributes:
        pose, twist: newest of their kind; twist_fault is why the twist cannot be used.
        playback: the chunks; path_fault is the newest path's fault, as a target.
        choice: which source counts.
        last: the last target, before the filter.
        filtered: the filter after the last target of the source that counts.
        steady_s: the last tick.
    """

    pose: TargetSample | None = None
    twist: TwistSample | None = None
    twist_fault: TargetSample | None = None
    playback: Playback = dataclasses.field(default_factory=Playback)
    path_fault: TargetSample | None = None
    choice: Choice = dataclasses.field(default_factory=Choice)
    last: Output | None = None
    filtered: Filtered | None = None
    steady_s: float | None = None


class TargetFeed:
    """Holds the settings and the state. `next` never raises: what fails is the target's fault, and the arm holds.

    Attributes:
        config: may be replaced between ticks.
        state: what the last tick left behind.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.state = FeedState()

    @property
    def source(self) -> str:
        """The source that counts: pose, path, twist, or none."""
        return self.state.choice.selected or "none"

    @property
    def filter_lag_s(self) -> float:
        """How far the filter is behind a steady motion; 0 without one."""
        return self.state.filtered.lag_s if self.state.filtered is not None else 0.0

    def next(self, inputs: TargetInputs, moment: Moment) -> TargetSample | None:
        """The target of this tick, from this feed's state, which is replaced."""
        try:
            self.state, sample = self.step(self.state, inputs, moment)
        except Exception as error:  # an exception here would end the loop that holds the arm
            return _faulty(Status.INTERNAL_ERROR, f"target: {type(error).__name__}: {error}", moment.steady_s)
        return sample

    def step(self, state: FeedState, inputs: TargetInputs, moment: Moment) -> tuple[FeedState, TargetSample | None]:
        """One tick: a function of its arguments and the settings alone."""
        state = self._heard(state, inputs, moment)
        choice = source.choose(state.choice, self._live(state, moment), moment.steady_s, self.config.target.source)
        if choice.selected != "path":
            state = dataclasses.replace(state, playback=playback.paused(state.playback))
        if choice.selected != state.choice.selected:
            state = dataclasses.replace(state, filtered=None)
        state = dataclasses.replace(state, choice=choice)
        if choice.selected == "path":
            state, sample = self._path(state, moment)
        elif choice.selected == "twist":
            state, sample = self._twist(state, moment)
        else:
            state, sample = self._pose(state, moment)
        state, sample = self._smoothed(state, sample, inputs.poses if choice.selected == "pose" else ())
        return dataclasses.replace(state, steady_s=moment.steady_s), sample

    def _heard(self, state: FeedState, inputs: TargetInputs, moment: Moment) -> FeedState:
        if inputs.poses:
            state = dataclasses.replace(state, pose=inputs.poses[-1])
        if inputs.path is not None:
            state = self._heard_path(state, inputs.path, moment)
        if inputs.twist is not None:
            found = twist.fault(inputs.twist, moment.now_s, self.config)
            sample = None if found is None else _faulty(*found, inputs.twist.receipt_s)
            state = dataclasses.replace(state, twist=inputs.twist, twist_fault=sample)
        return state

    def _heard_path(self, state: FeedState, path: PathSample, moment: Moment) -> FeedState:
        config = self.config
        made, status, detail = chunk.read(path, moment.now_s, config.robot.base_frame_id, config.target, config.freshness)
        if made is None:  # the newest path counts: one that cannot be followed ends those before it
            assert status is not None
            return dataclasses.replace(state, playback=Playback(count=state.playback.count),
                                       path_fault=_faulty(status, detail, path.receipt_s))
        return dataclasses.replace(state, playback=playback.add(state.playback, made, config.target), path_fault=None)

    def _live(self, state: FeedState, moment: Moment) -> frozenset[str]:
        timeout = self.config.freshness.target_timeout_s
        live = set()
        if state.pose is not None and moment.steady_s - state.pose.receipt_s <= timeout:
            live.add("pose")
        if state.path_fault is not None:
            if moment.steady_s - state.path_fault.receipt_s <= timeout:
                live.add("path")
        elif state.playback.chunks:
            end = max(one.end_s for one in state.playback.chunks) - self.config.target.lookahead_s
            if moment.now_s - end <= timeout:
                live.add("path")
        if state.twist is not None:
            age = twist.age_s(state.twist, moment.now_s, moment.steady_s)
            if twist.over_s(age, self.config.target) <= 0.0:
                live.add("twist")
        return frozenset(live)

    def _pose(self, state: FeedState, moment: Moment) -> tuple[FeedState, TargetSample | None]:
        sample = state.pose
        if sample is None or not self._usable(sample):
            return dataclasses.replace(state, last=None), sample
        return self._handed(state, se3.pose_from_quat(sample.position_m, sample.quat_xyzw), moment), sample

    def _path(self, state: FeedState, moment: Moment) -> tuple[FeedState, TargetSample | None]:
        if state.path_fault is not None or not state.playback.chunks:
            return dataclasses.replace(state, last=None), state.path_fault
        config = self.config
        timeout = config.freshness.target_timeout_s
        played, T, over_s = playback.step(state.playback, moment.now_s, state.last, config.target, timeout)
        state = dataclasses.replace(state, playback=played)
        if over_s > timeout:
            ended = _faulty(Status.STALE_TARGET, f"the path ended {over_s:.3f} s ago", moment.steady_s - over_s)
            return dataclasses.replace(state, last=None), ended
        return self._handed(state, T, moment), self._sample(T, moment)

    def _twist(self, state: FeedState, moment: Moment) -> tuple[FeedState, TargetSample | None]:
        if state.twist is None or state.twist_fault is not None:
            return dataclasses.replace(state, last=None), state.twist_fault
        age = twist.age_s(state.twist, moment.now_s, moment.steady_s)
        if twist.over_s(age, self.config.target) > 0.0:
            silent = _faulty(Status.STALE_TARGET, f"twist silent for {age:.3f} s", moment.steady_s - age)
            return dataclasses.replace(state, last=None), silent
        T_tool = moment.T_base_tool
        if T_tool is None:
            return dataclasses.replace(state, last=None), None
        T = T_tool
        if moment.engaged and state.last is not None and state.steady_s is not None:
            dt_s = min(max(moment.steady_s - state.steady_s, 0.0), LONGEST_TICKS * self.config.dt_s)
            T = twist.advance(state.last.T, state.twist, age, dt_s, T_tool, self.config)
        return self._handed(state, T, moment), self._sample(T, moment)

    def _smoothed(self, state: FeedState, sample: TargetSample | None,
                  poses: tuple[TargetSample, ...]) -> tuple[FeedState, TargetSample | None]:
        """The target after the filter. All poses since the last tick count: at the tick's rate alone tremor would alias."""
        if self.config.target.filter == "none" or sample is None or not self._usable(sample):
            return dataclasses.replace(state, filtered=None), sample
        filtered = state.filtered
        for one in (*(pose for pose in poses[:-1] if self._usable(pose)), sample):
            T = se3.pose_from_quat(one.position_m, one.quat_xyzw)
            time_s = one.stamp_s if one.stamp_s != 0.0 else one.receipt_s
            filtered = target_filter.step(filtered, T, time_s, self.config.target, self.config.freshness.target_timeout_s)
        assert filtered is not None
        smooth = dataclasses.replace(sample, position_m=filtered.T[:3, 3], quat_xyzw=se3.quat_from_rotation(filtered.T[:3, :3]))
        return dataclasses.replace(state, filtered=filtered), smooth

    def _usable(self, sample: TargetSample) -> bool:
        """Whether it is a pose in the base frame; its age is judged in the tick."""
        empty = sample.frame_id == "" and self.config.freshness.assume_base_frame
        return (sample.fault is None and (empty or sample.frame_id == self.config.robot.base_frame_id)
                and pose_fault(sample.position_m, sample.quat_xyzw) is None)

    @staticmethod
    def _handed(state: FeedState, T: Array, moment: Moment) -> FeedState:
        """The state with T as what was handed over, at the velocity since the last."""
        last, velocity = state.last, np.zeros(6)
        if last is not None and moment.now_s > last.time_s:
            velocity = se3.difference(T, last.T) / (moment.now_s - last.time_s)
        return dataclasses.replace(state, last=Output(T, velocity, moment.now_s))

    def _sample(self, T: Array, moment: Moment) -> TargetSample:
        return TargetSample(T[:3, 3], se3.quat_from_rotation(T[:3, :3]), self.config.robot.base_frame_id, moment.now_s,
                            moment.steady_s)


def _faulty(status: Status, detail: str, receipt_s: float) -> TargetSample:
    """A target that is nothing but its fault."""
    nowhere = np.full(3, np.nan)
    return TargetSample(nowhere, np.array([0.0, 0.0, 0.0, 1.0]), "", 0.0, receipt_s, status, detail)
