"""Energy counters of the machine: RAPL for processor packages, NVML for graphics cards. No counter, no figure.

RAPL is read where Linux shows it (power capping framework, docs.kernel.org/power/powercap): `energy_uj` counts microjoules up to
`max_energy_range_uj`, then begins again at 0. Only package domains are summed: cores lie inside them, and `psys` contains them.
NVML counts millijoules since the driver was loaded (nvmlDeviceGetTotalEnergyConsumption).
Both count everything that runs on the machine, not this process alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

POWERCAP = Path("/sys/class/powercap")
NOT_MEASURED = "not measured"


class Counter(Protocol):
    """A counter of energy."""

    @property
    def label(self) -> str:
        """What it counts."""

    def read(self) -> int:
        """Counts so far, in units of the counter."""

    def joules(self, before: int, after: int) -> float:
        """Energy between two readings (J), at most one wrap apart."""


@dataclass(frozen=True)
class RaplDomain:
    """One processor package: folder of the domain, its name and its range in microjoules."""

    folder: Path
    label: str
    range_uj: int

    def read(self) -> int:
        """Microjoules."""
        return int((self.folder / "energy_uj").read_text(encoding="ascii"))

    def joules(self, before: int, after: int) -> float:
        """See Counter."""
        return 1e-6 * (after - before if after >= before else after + self.range_uj - before)


@dataclass(frozen=True)
class GpuCounter:
    """One graphics card by NVML."""

    nvml: Any
    handle: Any
    label: str

    def read(self) -> int:
        """Millijoules since the driver was loaded."""
        return int(self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.handle))

    def joules(self, before: int, after: int) -> float:
        """See Counter."""
        return 1e-3 * (after - before)


class EnergyMeter:
    """Joules between `start` and `stop`, of every counter that this machine lets us read.

    Attributes:
        source: what is counted, or `not measured` and why.
    """

    def __init__(self, counters: Sequence[Counter], reason: str) -> None:
        self._counters = counters
        self._before: list[int] = []
        labels = " + ".join(c.label for c in counters)
        self.source = f"{labels}, everything on the machine counted" if counters else f"{NOT_MEASURED}: {reason}"

    @classmethod
    def of_machine(cls, gpu_in_use: bool, powercap: Path = POWERCAP) -> EnergyMeter:
        """The meter of this machine. A graphics card counts only where the solver runs on it."""
        domains, reason = rapl_domains(powercap)
        if not gpu_in_use:
            return cls([*domains], reason)
        cards, why = gpu_counters()
        if not cards:  # the packages alone would be a part of the energy, sold as all of it
            return cls([], why)
        return cls([*domains, *cards], reason)

    def start(self) -> None:
        """Remember the present readings."""
        self._before = [c.read() for c in self._counters]

    def stop(self) -> float | None:
        """Joules since `start`; None where nothing can be read."""
        if not self._counters:
            return None
        return sum(c.joules(b, c.read()) for c, b in zip(self._counters, self._before, strict=True))


def rapl_domains(powercap: Path) -> tuple[list[RaplDomain], str]:
    """Readable package domains below a powercap folder; else none, and why."""
    domains: list[RaplDomain] = []
    reason = "no RAPL domain (a virtual machine or another kind of processor)"
    for folder in sorted(powercap.glob("intel-rapl:*")):
        try:
            name = (folder / "name").read_text(encoding="ascii").strip()
            if not name.startswith("package"):
                continue
            domain = RaplDomain(folder, f"RAPL {name}", int((folder / "max_energy_range_uj").read_text(encoding="ascii")))
            domain.read()
        except PermissionError as error:
            return [], f"{error.filename} may be read by root only"
        except (OSError, ValueError) as error:
            reason = f"RAPL domain {folder.name} cannot be read ({error})"
            continue
        domains.append(domain)
    return domains, reason


def gpu_counters() -> tuple[list[GpuCounter], str]:
    """A counter for each graphics card; else none, and why."""
    try:
        pynvml = importlib.import_module("pynvml")
    except ImportError:
        return [], "a GPU is in use but pynvml is not installed (pip install nvidia-ml-py)"
    try:
        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
        found = [GpuCounter(pynvml, handle, f"NVML GPU {i}") for i, handle in enumerate(handles)]
        for counter in found:
            counter.read()
    except pynvml.NVMLError as error:
        return [], f"NVML cannot read the GPU ({error})"
    return found, "no GPU found by NVML"
