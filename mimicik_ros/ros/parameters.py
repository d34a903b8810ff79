"""ROS parameters from the one schema in mimicik_ros.config: declared with ranges, judged as a whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter

from mimicik_ros import config as schema
from mimicik_ros.core.errors import ConfigError

# Groups that describe what is loaded or created while configuring; the rest may change at run time.
_FIXED_GROUPS = ("robot", "mount", "policy", "marker")
_FIXED = frozenset({"servo.rate_hz", "output.type", "output.append_gripper", "output.gripper_joint",
                    "output.gripper_topic", "output.command_rate_hz", "output.end_velocity", "node.autostart"})
_FOREIGN = ("use_sim_time", "start_type_description_service", "qos_overrides.")


def is_read_only(name: str) -> bool:
    """Whether a parameter only takes effect while configuring, so that a change at run time makes no sense."""
    return name in _FIXED or name.split(".", 1)[0] in _FIXED_GROUPS


def descriptor(name: str, spec: dataclasses.Field[Any]) -> ParameterDescriptor:
    """Descriptor with the text, range and choices of the schema. Array ranges go into the constraints' text."""
    meta = spec.metadata
    out = ParameterDescriptor(name=name, description=meta["text"], read_only=is_read_only(name))
    if meta["choices"]:
        out.additional_constraints = f"one of: {', '.join(meta['choices'])}"
    if meta["low"] is None:
        return out
    if isinstance(spec.default, tuple):
        out.additional_constraints = f"each in [{meta['low']:g}, {meta['high']:g}] {meta['unit']}".rstrip()
    elif isinstance(spec.default, int):
        out.integer_range = [IntegerRange(from_value=int(meta["low"]), to_value=int(meta["high"]), step=0)]
    else:
        out.floating_point_range = [FloatingPointRange(from_value=meta["low"], to_value=meta["high"], step=0.0)]
    return out


def given_overrides(node: Node) -> dict[str, Any]:
    """Values given by parameter files, command line or constructor, without those that rclpy itself owns."""
    overrides: Mapping[str, Parameter] = node._parameter_overrides  # rclpy offers no public accessor
    return {name: p.value for name, p in overrides.items() if not name.startswith(_FOREIGN)}


def declare(node: Node) -> ConfigError | None:
    """Declare every parameter of the schema on node, from the overrides when they are good as a whole.

    Returns:
        None, or why the overrides were refused; the defaults are declared then and the node must not configure.
    """
    error: ConfigError | None = None
    try:
        config = schema.from_flat(given_overrides(node), origin="parameters")
    except ConfigError as refused:
        config, error = schema.Config(), refused
    for name, spec in schema.parameters().items():
        node.declare_parameter(name, _plain(_value(config, name)), descriptor(name, spec), ignore_override=True)
    return error


def current(node: Node) -> schema.Config:
    """Config from the parameters that node holds now."""
    return with_changes(node, ())


def with_changes(node: Node, changes: Sequence[Parameter]) -> schema.Config:
    """Config from node's parameters with some replaced; nothing is set.

    Raises:
        ConfigError: the whole would be invalid.
    """
    values = {name: node.get_parameter(name).value for name in schema.parameters()}
    values.update({p.name: p.value for p in changes if not p.name.startswith(_FOREIGN)})
    return schema.from_flat(values, origin="parameters")


def _value(config: schema.Config, name: str) -> Any:
    group, key = name.split(".", 1)
    return getattr(getattr(config, group), key)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
