"""A value given for a parameter, judged by the parameter's type, range and choices."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from mimicik_ros.core.errors import ConfigError


def checked(name: str, value: Any, spec: dataclasses.Field[Any], origin: str) -> Any:
    """The value as its parameter holds it. Raises ConfigError where its type, range or choice is not the parameter's."""
    default, meta = spec.default, spec.metadata
    if isinstance(default, tuple):
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            raise ConfigError(f"{origin}: {name} must be a list, got {value!r}")
        return tuple(_scalar(name, v, default[0], meta, origin) for v in value)
    return _scalar(name, value, default, meta, origin)


def _scalar(name: str, value: Any, like: Any, meta: Mapping[str, Any], origin: str) -> Any:
    if isinstance(like, bool) or isinstance(value, bool):
        ok = isinstance(like, bool) and isinstance(value, bool)
    elif isinstance(like, float):
        ok = isinstance(value, (int, float))
        value = float(value) if ok else value
    else:
        ok = isinstance(value, type(like))
    if not ok:
        raise ConfigError(f"{origin}: {name} must be {type(like).__name__}, got {value!r}")
    if meta["choices"] and value not in meta["choices"]:
        raise ConfigError(f"{origin}: {name} must be one of {', '.join(meta['choices'])}, got {value!r}")
    low, high = meta["low"], meta["high"]
    if low is not None and not low <= value <= high:
        raise ConfigError(f"{origin}: {name} must lie in [{low:g}, {high:g}] {meta['unit']}".rstrip() + f", got {value!r}")
    return value
