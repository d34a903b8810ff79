"""A ROS parameter file: which of its sections belong to a node, chosen as rcl does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_KEY = "ros__parameters"


def is_parameter_file(content: Mapping[Any, Any]) -> bool:
    """Whether the content has sections with ros__parameters, at any depth of namespaces."""
    return next(_sections(content), None) is not None


def section_names(content: Mapping[Any, Any]) -> list[str]:
    """Node patterns of the file, such as /** or /left/mimicik, in its order."""
    return [name for name, _ in _sections(content)]


def for_node(content: Mapping[Any, Any], node: str) -> dict[str, Any] | None:
    """Parameters by full name that a node of this fully qualified name gets: a later matching section wins.

    Returns:
        None where no section matches, which is not the same as a section without parameters.
    """
    found: dict[str, Any] | None = None
    for pattern, parameters in _sections(content):
        if matches(pattern, node):
            found = {**(found or {}), **_flat(parameters)}
    return found


def matches(pattern: str, node: str) -> bool:
    """Whether a pattern names a node: * stands for one token of the name, ** for any number, none included."""
    parts = [r"(/\w+)*" if token == "**" else "/" + re.escape(token).replace(r"\*", r"\w+")
             for token in pattern.strip("/").split("/")]
    return re.fullmatch("".join(parts), node) is not None


def _sections(content: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[Any, Any]]]:
    for key, value in content.items():
        if not isinstance(value, Mapping):
            continue
        name = f"{prefix}/{str(key).strip('/')}"
        if _KEY in value:
            yield name, value[_KEY] or {}
        else:
            yield from _sections(value, name)


def _flat(parameters: Mapping[Any, Any], prefix: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in parameters.items():
        if isinstance(value, Mapping):
            out.update(_flat(value, f"{prefix}{key}."))
        else:
            out[f"{prefix}{key}"] = value
    return out
