"""What an exported model says of itself, and the check of it against the robot that it is to drive."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mimicik_ros.core.errors import ModelError
from mimicik_ros.core.kinematics import Kinematics

METADATA_KEY = "mimicik_card"
FORMAT_VERSION = 1


@dataclass(frozen=True)
class ModelCard:
    """Contract and provenance, carried as JSON in the ONNX file's metadata under METADATA_KEY.

    Attributes:
        lower, upper: (n,) position limits of the robot that was trained on (rad).
        period_s: control period; delta_q is the step of one period.
        action_scale: (n,) rad per unit of the network's normalised action.
        t_star: time of the last evaluation of the network (mip: t*).
        observation_low, observation_high: (n + 6,) range of the training observations (0.5 and 99.5 percentiles).
        golden_observation, golden_delta_q: vectors to reproduce after loading, (k, n + 6) and (k, n).
        metrics: held-out figures of the model alone, by the command named in data["evaluated_by"].
        data: what it was trained on, seeds and the command.
    """

    robot_name: str
    joint_names: tuple[str, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    base_frame: str
    tool_frame: str
    kinematic_hash: str
    period_s: float
    action_scale: tuple[float, ...]
    t_star: float
    observation_low: tuple[float, ...]
    observation_high: tuple[float, ...]
    golden_observation: tuple[tuple[float, ...], ...]
    golden_delta_q: tuple[tuple[float, ...], ...]
    code_version: str
    created: str
    metrics: dict[str, float] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    format_version: int = FORMAT_VERSION

    def to_json(self) -> str:
        """JSON text of the card."""
        return json.dumps(dataclasses.asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str, origin: str) -> ModelCard:
        """Card from JSON text; origin names the file in errors. Raises ModelError."""
        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise ModelError(f"{origin}: the model card is no JSON ({error.msg}); export the model again") from error
        if not isinstance(values, dict) or values.get("format_version") != FORMAT_VERSION:
            got = values.get("format_version") if isinstance(values, dict) else None
            raise ModelError(f"{origin}: model card format {got}, this version reads {FORMAT_VERSION}; export the model again")
        names = {f.name for f in dataclasses.fields(cls)}
        if set(values) != names:
            raise ModelError(f"{origin}: model card fields differ: {sorted(set(values) ^ names)}; export the model again")
        wrong = _wrong_types(values)
        if wrong:
            raise ModelError(f"{origin}: model card fields of wrong type or length: {', '.join(wrong)}; export the model again")
        return cls(**{key: _tupled(value) for key, value in values.items()})

    def check_against(self, kinematics: Kinematics, rate_hz: float, origin: str) -> None:
        """Refuse a robot other than the one trained for.

        Raises:
            ModelError: names every difference (joint names and order, frames, limits, kinematics, period).
        """
        differences = []
        for name, ours, theirs in (
            ("joint_names", self.joint_names, kinematics.joint_names),
            ("base_frame", self.base_frame, kinematics.base_frame),
            ("tool_frame", self.tool_frame, kinematics.tool_frame),
            ("lower", _rounded(self.lower), _rounded(kinematics.lower)),
            ("upper", _rounded(self.upper), _rounded(kinematics.upper)),
            ("kinematic_hash", self.kinematic_hash, kinematics.kinematic_hash()),
            ("period_s", round(self.period_s, 6), round(1.0 / rate_hz, 6)),
        ):
            if ours != theirs:
                differences.append(f"{name}: model {ours}, robot {theirs}")
        if differences:
            raise ModelError(
                f"{origin}: trained for another robot ({'; '.join(differences)}); "
                f"set policy.model to a model of this robot and tool, or train one with `mimicik train`"
            )


def _wrong_types(values: dict[str, Any]) -> list[str]:
    """Names of the fields whose value is not what the card declares."""
    names = values["joint_names"]
    if not (isinstance(names, list) and names and all(isinstance(name, str) for name in names)):
        return ["joint_names"]
    n = len(names)
    texts = ("robot_name", "base_frame", "tool_frame", "kinematic_hash", "code_version", "created")
    wrong = [key for key in texts if not isinstance(values[key], str)]
    wrong += [key for key in ("metrics", "data") if not isinstance(values[key], dict)]
    wrong += [key for key in ("period_s", "t_star") if not _is_number(values[key])]
    widths = {"lower": n, "upper": n, "action_scale": n, "observation_low": n + 6, "observation_high": n + 6}
    wrong += [key for key, width in widths.items() if not _is_row(values[key], width)]
    for key, width in (("golden_observation", n + 6), ("golden_delta_q", n)):
        rows = values[key]
        if not (isinstance(rows, list) and rows and all(_is_row(row, width) for row in rows)):
            wrong.append(key)
    return wrong


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_row(value: Any, width: int) -> bool:
    return isinstance(value, list) and len(value) == width and all(_is_number(v) for v in value)


def _tupled(value: Any) -> Any:
    return tuple(_tupled(v) for v in value) if isinstance(value, list) else value


def _rounded(values: Any) -> tuple[float, ...]:
    return tuple(float(v) for v in np.round(np.asarray(values, dtype=float), 5))
