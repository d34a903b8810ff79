"""The only parameter schema: ROS parameters, YAML files and docs/parameters.md all come from these dataclasses.

A parameter's full name is `group.field` (for example `servo.rate_hz`).
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import yaml

from mimicik_ros import parameter_file, parameter_rules, parameter_value
from mimicik_ros.core.errors import ConfigError

T = TypeVar("T")


def _p(default: Any, text: str, low: float | None = None, high: float | None = None, *,
       choices: tuple[str, ...] = (), unit: str = "") -> Any:
    metadata = {"text": text, "low": low, "high": high, "choices": choices, "unit": unit}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class RobotConfig:
    urdf: str = _p("urdf/airbot_play_g2.urdf", "URDF file; a relative path is looked up beside the package's files")
    base_frame: str = _p("base_link", "frame in which targets and poses are given")
    frame_prefix: str = _p(
        "", "stands before base_frame and tool_frame in every frame_id, as robot_state_publisher's frame_prefix does: left/")
    tool_frame: str = _p("end_link", "frame that is posed")
    joint_names: tuple[str, ...] = _p(
        ("joint1", "joint2", "joint3", "joint4", "joint5", "joint6"), "commanded joints in chain order")
    driver_prefix: str = _p("", "what the driver puts before these names on joint_states and expects in commands, e.g. left_arm_")
    velocity_limits_rad_s: tuple[float, ...] = _p(
        (1.57,) * 6, "per joint; the vendor's URDF gives 0 = not given; 1.57 is a public OCS2 configuration's value",
        1e-3, 100.0, unit="rad/s")
    acceleration_limits_rad_s2: tuple[float, ...] = _p(
        (10.0,) * 6, "per joint; none is published, this value is ours (a real log peaks at 2.7)",
        1e-2, float("inf"), unit="rad/s^2")
    position_margin_rad: float = _p(0.01, "commands stay this far inside the URDF's position limits", 0.0, 0.5, unit="rad")

    @property
    def base_frame_id(self) -> str:
        """Name of the base frame in messages and tf."""
        return self.frame_prefix + self.base_frame

    @property
    def tool_frame_id(self) -> str:
        """Name of the tool frame in messages and tf."""
        return self.frame_prefix + self.tool_frame


@dataclass(frozen=True)
class MountConfig:
    """Where the arm stands. The launch files publish it as a static transform; the tick does not need it."""

    frame: str = _p("", "frame that the base is mounted in, for example world; empty: no transform is published")
    xyz_m: tuple[float, ...] = _p((0.0, 0.0, 0.0), "position of the base in it", -100.0, 100.0, unit="m")
    rpy_rad: tuple[float, ...] = _p((0.0, 0.0, 0.0), "roll, pitch, yaw of the base in it", -6.2832, 6.2832, unit="rad")


@dataclass(frozen=True)
class PolicyConfig:
    model: str = _p("models/airbot_play_g2.onnx", "ONNX model; a relative path is looked up beside the package's files")
    provider: str = _p("auto", "execution provider; auto takes the best that works and reports it",
                       choices=("auto", "cpu", "cuda", "tensorrt"))
    threads: int = _p(1, "intra-op threads of ONNX Runtime", 1, 64)


@dataclass(frozen=True)
class ServoConfig:
    rate_hz: float = _p(20.0, "tick rate; must equal the period that the model was trained for", 1.0, 1000.0, unit="Hz")
    max_linear_speed_m_s: float = _p(0.8, "governor: linear speed towards the target", 0.001, 10.0, unit="m/s")
    max_angular_speed_rad_s: float = _p(3.0, "governor: angular speed towards the target", 0.001, 30.0, unit="rad/s")
    position_tolerance_m: float = _p(
        1e-4, "residual to the governed target above which refinement runs", 1e-7, 0.1, unit="m")
    rotation_tolerance_rad: float = _p(5e-4, "likewise for rotation", 1e-7, 1.0, unit="rad")
    strict_position_m: float = _p(1e-3, "REACHED, and OK against NOT_CONVERGED: position", 1e-6, 0.1, unit="m")
    strict_rotation_rad: float = _p(0.0034907, "likewise for rotation (0.2 deg)", 1e-6, 1.0, unit="rad")
    refine_max_steps: int = _p(6, "damped least-squares steps at most, per tick", 0, 100)
    refine_damping: float = _p(0.02, "largest damping of a refinement step, as a singular value", 1e-6, 1.0)
    max_joint_step_rad: float = _p(
        0.5, "a proposal that moves any joint further in one tick is a branch jump", 1e-3, 3.2, unit="rad")
    max_lead_rad: float = _p(
        0.15, "largest lead of the command over the measured joints per joint, 0 = unbounded", 0.0, 3.2, unit="rad")


@dataclass(frozen=True)
class FreshnessConfig:
    joints_timeout_s: float = _p(0.2, "joint states older than this stop the motion", 0.001, 10.0, unit="s")
    target_timeout_s: float = _p(0.25, "targets older than this stop the motion", 0.001, 10.0, unit="s")
    future_tolerance_s: float = _p(0.1, "stamps further in the future are refused", 0.0, 10.0, unit="s")
    accept_zero_stamp: bool = _p(False, "judge messages with stamp 0 by their receipt alone")
    assume_base_frame: bool = _p(False, "take an empty frame_id for the base frame")
    on_timeout: str = _p("hold", "output while an input is stale", choices=("hold", "stop_publishing"))


@dataclass(frozen=True)
class EngageConfig:
    auto_enable: bool = _p(False, "engage without a call of ~/enable as soon as the inputs are complete and near")
    max_first_step_rad: float = _p(0.05, "the first command lies this near to the measured joints", 1e-4, 1.0, unit="rad")
    max_distance_m: float = _p(0.3, "engage only when the target is this near to the tool", 0.001, 10.0, unit="m")
    max_angle_rad: float = _p(1.6, "likewise for rotation", 0.01, 3.2, unit="rad")
    resume_distance_m: float = _p(
        0.05, "after a loss of input, resume by itself only this near to the target", 0.0, 10.0, unit="m")
    ramp_s: float = _p(1.0, "speed grows from 10 % to 100 % over this time after engaging", 0.0, 30.0, unit="s")
    max_tracking_error_rad: float = _p(
        0.5, "measured joints further from the command than this are a fault", 0.01, 6.3, unit="rad")
    max_pause_s: float = _p(
        0.5, "after a longer pause between ticks, re-anchor on the measured joints", 0.01, 60.0, unit="s")


@dataclass(frozen=True)
class TargetConfig:
    source: str = _p("newest", "whose targets count: newest = the source that began last, among those that are not silent",
                     choices=("newest", "pose", "path", "twist"))
    chunk_period_s: float = _p(0.05, "time between the poses of a path that have no stamps of their own", 1e-3, 10.0, unit="s")
    chunk_start: str = _p("stamp", "when a path begins: where its stamps lie, so that its past is skipped, or at its receipt",
                          choices=("stamp", "receipt"))
    chunk_max_lead_s: float = _p(1.0, "a path that begins later than this from now is refused", 0.0, 60.0, unit="s")
    lookahead_s: float = _p(0.0, "a path is read this much ahead of now, to make up for the arm's lag", 0.0, 1.0, unit="s")
    chunk_blend: str = _p("seam", "where paths overlap: seam = the newest, ensemble = their weighted mean",
                          choices=("seam", "ensemble"))
    ensemble_decay: float = _p(0.01, "weight of the i-th path of an ensemble, oldest first: exp(-decay i)", 0.0, 10.0)
    blend_linear_speed_m_s: float = _p(0.4, "a seam adds at most this to a new path's own speed", 1e-3, 10.0, unit="m/s")
    blend_angular_speed_rad_s: float = _p(1.5, "likewise for rotation", 1e-3, 30.0, unit="rad/s")
    blend_linear_acceleration_m_s2: float = _p(2.0, "a seam adds at most this to a new path's own acceleration",
                                               1e-2, 100.0, unit="m/s^2")
    blend_angular_acceleration_rad_s2: float = _p(8.0, "likewise for rotation", 1e-2, 1000.0, unit="rad/s^2")
    twist_timeout_s: float = _p(0.15, "a twist holds this long after it was sent", 0.001, 10.0, unit="s")
    twist_decay_s: float = _p(0.3, "after that its velocity goes to zero evenly over this time", 0.0, 10.0, unit="s")
    twist_lead_m: float = _p(0.05, "the integrated target stays this near to the tool's commanded pose", 0.001, 1.0, unit="m")
    twist_lead_rad: float = _p(0.3, "likewise for rotation", 0.01, 3.0, unit="rad")
    filter: str = _p("none", "filter against tremor, before the tick; its lag is filter_lag_s of ~/status (docs/targets.md)",
                     choices=("none", "one_euro", "second_order"))
    filter_cutoff_hz: float = _p(2.0, "cut-off frequency; of one_euro: at rest", 0.01, 100.0, unit="Hz")
    filter_beta_linear: float = _p(20.0, "one_euro: the cut-off rises by this per m/s of the target", 0.0, 1000.0, unit="Hz s/m")
    filter_beta_angular: float = _p(5.0, "one_euro: likewise per rad/s", 0.0, 1000.0, unit="Hz s/rad")
    gripper_lower: float = _p(0.0, "least value of ~/target_gripper that is passed on", -1000.0, 1000.0)
    gripper_upper: float = _p(0.072, "largest value; the G2 gripper's stroke in m", -1000.0, 1000.0)
    gripper_speed: float = _p(0.1, "the gripper's value changes at most this fast", 1e-4, 1000.0, unit="1/s")


@dataclass(frozen=True)
class HomeConfig:
    q_rad: tuple[float, ...] = _p(
        (0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708), "joints to which ~/go_home moves", -6.3, 6.3, unit="rad")
    speed_rad_s: float = _p(0.5, "no joint moves faster than this on the way", 0.001, 10.0, unit="rad/s")


@dataclass(frozen=True)
class OutputConfig:
    type: str = _p("joint_state", "message type of joint_command",
                   choices=("joint_state", "float64_multi_array", "joint_trajectory"))
    append_gripper: bool = _p(False, "append the gripper's value to the command (drivers that want 7 values)")
    gripper_topic: bool = _p(False, "publish the gripper's value on gripper_command (std_msgs/Float64)")
    gripper_joint: str = _p("gripper", "name of the appended value where the message carries names")
    gripper_position: float = _p(0.0, "the gripper's value until ~/target_gripper is heard", 0.0, 1.0)
    end_velocity: bool = _p(
        False, "give a JointTrajectory's point the velocity of the command; ros2_control's default is to reject that in motion")
    command_rate_hz: float = _p(
        0.0, "rate of joint_command, smoothly between the ticks and at least their rate; 0 = one at each tick", 0.0, 250.0,
        unit="Hz")
    other_publisher: str = _p(
        "error", "reaction to a second publisher on joint_command", choices=("error", "warn", "ignore"))


@dataclass(frozen=True)
class MarkerConfig:
    scale_m: float = _p(0.2, "size of the RViz handle", 0.01, 2.0, unit="m")
    timeout_s: float = _p(
        10.0, "this long after the last drag the handle stops sending targets and returns to the tool", 0.5, 3600.0, unit="s")


@dataclass(frozen=True)
class NodeConfig:
    autostart: bool = _p(True, "configure and activate at start")
    deadline_s: float = _p(
        0.05, "a command later than this after its due time counts as a missed deadline", 1e-4, 10.0, unit="s")


@dataclass(frozen=True)
class Config:
    """Everything that can be set. Build one with `from_mapping` or `load`; both validate."""

    robot: RobotConfig = field(default_factory=RobotConfig)
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    servo: ServoConfig = field(default_factory=ServoConfig)
    freshness: FreshnessConfig = field(default_factory=FreshnessConfig)
    engage: EngageConfig = field(default_factory=EngageConfig)
    target: TargetConfig = field(default_factory=TargetConfig)
    home: HomeConfig = field(default_factory=HomeConfig)
    output: OutputConfig = field(default_factory=OutputConfig)
    mount: MountConfig = field(default_factory=MountConfig)
    marker: MarkerConfig = field(default_factory=MarkerConfig)
    node: NodeConfig = field(default_factory=NodeConfig)

    @property
    def dt_s(self) -> float:
        """Tick period in seconds."""
        return 1.0 / self.servo.rate_hz

    @property
    def command_period_s(self) -> float:
        """Time between two messages on joint_command in seconds."""
        return 1.0 / self.output.command_rate_hz if self.output.command_rate_hz else self.dt_s

    @property
    def driver_joint_names(self) -> tuple[str, ...]:
        """Our joints under the driver's names, in the order of robot.joint_names."""
        return tuple(self.robot.driver_prefix + name for name in self.robot.joint_names)


def parameters() -> dict[str, dataclasses.Field[Any]]:
    """Every parameter by full name, in order of declaration; metadata holds text, low, high, choices, unit."""
    groups = get_type_hints(Config)
    return {f"{group}.{f.name}": f for group, cls in groups.items() for f in fields(cls)}


def from_flat(values: Mapping[str, Any], origin: str = "configuration") -> Config:
    """Config from full names (`servo.rate_hz`) to values; what is not named keeps its default.

    Raises:
        ConfigError: a name is unknown (the nearest is named), a value has the wrong type or lies out of its range.
    """
    known = parameters()
    nested: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.5)
            hint = f"; did you mean '{near[0]}'?" if near else f"; groups: {', '.join(get_type_hints(Config))}"
            raise ConfigError(f"{origin}: unknown parameter '{name}'{hint}")
        group, key = name.split(".", 1)
        nested.setdefault(group, {})[key] = parameter_value.checked(name, value, known[name], origin)
    groups = {g: cls(**nested.get(g, {})) for g, cls in get_type_hints(Config).items()}
    config = Config(**groups)
    parameter_rules.check(config, origin)
    return config


def from_mapping(values: Mapping[str, Any], origin: str = "configuration") -> Config:
    """Config from nested groups ({servo: {rate_hz: 20}}) or full names, mixed freely. Raises ConfigError."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat.update({f"{key}.{k}": v for k, v in value.items()})
        else:
            flat[str(key)] = value
    return from_flat(flat, origin)


def load(path: str | Path, node: str = "/mimicik") -> Config:
    """Config from a YAML file: a ROS parameter file (`/**: ros__parameters:`) or the bare groups.

    Args:
        path: the file.
        node: fully qualified name of the node; of a ROS parameter file only its sections count.

    Raises:
        ConfigError: the file cannot be read, is no YAML mapping, has no section for the node, or holds a bad parameter.
    """
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read '{path}': {error.strerror}; give the path of a YAML file") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not a YAML file: {str(error).splitlines()[0]}") from error
    if content is None:
        content = {}
    if not isinstance(content, Mapping):
        raise ConfigError(f"{path}: expected groups such as 'servo:', got {type(content).__name__}")
    if not parameter_file.is_parameter_file(content):
        return from_mapping(content, str(path))
    own = parameter_file.for_node(content, node)
    if own is None:
        names = ", ".join(parameter_file.section_names(content))
        raise ConfigError(f"{path}: no section for the node {node}, only {names}; add '/**:'")
    return from_flat(own, str(path))
