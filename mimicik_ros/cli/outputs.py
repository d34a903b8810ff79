"""Files that a verb writes: refused before any work where they cannot be, and never left half written."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mimicik_ros.core.errors import ConfigError

STDOUT = "-"


def check_outputs(written: Mapping[str, str | Path | None], read: Iterable[str | Path] = ()) -> None:
    """Refuse files that cannot be written, or that would fall on another file of the same call.

    Args:
        written: option or argument -> file; None and "-" (standard output) are none.
        read: files that the verb reads.

    Raises:
        ConfigError: a file is a folder, its folder cannot be written to, or it is read or written twice.
    """
    inputs = {Path(path).resolve() for path in read}
    taken: dict[Path, str] = {}
    for option, name in written.items():
        if name is None or str(name) == STDOUT:
            continue
        path = Path(name)
        if path.is_dir():
            raise ConfigError(f"{option}: '{path}' is a folder; give the name of a file")
        place = path.resolve()
        if place in inputs:
            raise ConfigError(f"{option}: '{path}' is read as well and would be lost; give another name")
        if place in taken:
            raise ConfigError(f"{option}: '{path}' is written by {taken[place]} already; give another name")
        taken[place] = option
        check_folder(option, path.parent)


def check_folder(option: str, folder: Path) -> None:
    """Refuse a folder that is not there and cannot be made, or cannot be written to. Raises ConfigError."""
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    if not there.is_dir():
        raise ConfigError(f"{option}: '{there}' is a file, not a folder; give another path")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ConfigError(f"{option}: no permission to write to '{there}'; give another path")


def json_text(values: Any) -> str:
    """Plain values as JSON, null where a number is none that JSON has."""
    return json.dumps(_finite(values), indent=2, allow_nan=False)


def write_json(target: str | Path | None, values: Any) -> None:
    """The value of --json: standard output for "-", a file, or None for nothing. Raises OSError."""
    if target is None:
        return
    if str(target) == STDOUT:
        print(json_text(values))
    else:
        write_text(target, json_text(values) + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, its folder made where it is missing; what was there stays until the new text is whole."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():  # a device or a pipe
        path.write_text(text, encoding="utf-8")
        return
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
