"""Where shipped files (urdf, models, config, launch) lie: ament index, installation prefix, then the checkout."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mimicik_ros.core.errors import ConfigError


def share_roots() -> list[Path]:
    """Folders that may hold the shipped files, first match wins."""
    prefixes = [Path(p) for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    checkout = Path(__file__).resolve().parent.parent
    shares = [p / "share" / "mimicik_ros" for p in (*prefixes, Path(sys.prefix))]
    return [*shares, checkout] if not (checkout / "package.xml").exists() else [checkout, *shares]


def share_path(relative: str) -> Path:
    """Path of a file: absolute and existing relative paths as they are, else looked up in `share_roots`.

    Raises:
        ConfigError: no such file, with the places that were tried.
    """
    path = Path(relative).expanduser()
    candidates = [path] if path.is_absolute() else [path, *(root / path for root in share_roots())]
    for candidate in candidates:
        if candidate.exists():
            return candidate.resolve()
    raise ConfigError(f"no file '{relative}'; tried {', '.join(str(c) for c in candidates)}")
