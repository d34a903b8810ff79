"""Energy is read from counters that are there, or said not to be measured."""

import sys

import pytest

from mimicik_ros.evaluation import energy
from mimicik_ros.evaluation.energy import EnergyMeter, RaplDomain, rapl_domains


def domain(folder, index, name, value, range_uj=1_000_000):
    path = folder / f"intel-rapl:{index}"
    path.mkdir(parents=True)
    for key, content in (("name", name), ("energy_uj", value), ("max_energy_range_uj", range_uj)):
        (path / key).write_text(f"{content}\n")
    return path / "energy_uj"


def test_joules_are_the_difference_of_the_packages(tmp_path):
    first, second = domain(tmp_path, 0, "package-0", 100), domain(tmp_path, 1, "package-1", 500)
    meter = EnergyMeter.of_machine(gpu_in_use=False, powercap=tmp_path)
    meter.start()
    first.write_text("250100\n")
    second.write_text("100500\n")
    assert meter.stop() == pytest.approx(0.35)
    assert meter.source == "RAPL package-0 + RAPL package-1, everything on the machine counted"


def test_a_counter_that_wraps_gives_the_energy_and_not_a_negative_number(tmp_path):
    counter = domain(tmp_path, 0, "package-0", 900_000, range_uj=1_000_000)
    meter = EnergyMeter.of_machine(gpu_in_use=False, powercap=tmp_path)
    meter.start()
    counter.write_text("50000\n")
    assert meter.stop() == pytest.approx(0.15)


def test_what_lies_in_a_package_or_contains_it_is_not_counted_twice(tmp_path):
    domain(tmp_path, 0, "package-0", 0)
    domain(tmp_path, "0:0", "core", 0)
    domain(tmp_path, 1, "psys", 0)
    assert [d.label for d in rapl_domains(tmp_path)[0]] == ["RAPL package-0"]


def test_a_machine_without_counters_is_not_measured(tmp_path):
    meter = EnergyMeter.of_machine(gpu_in_use=False, powercap=tmp_path / "none")
    meter.start()
    assert meter.stop() is None
    assert meter.source.startswith("not measured: no RAPL domain")


def test_a_counter_for_root_only_says_so(tmp_path, monkeypatch):
    path = domain(tmp_path, 0, "package-0", 0)

    def refuse(_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(RaplDomain, "read", refuse)
    meter = EnergyMeter.of_machine(gpu_in_use=False, powercap=tmp_path)
    assert meter.stop() is None and "root only" in meter.source


def test_a_counter_that_holds_no_number_is_not_measured(tmp_path):
    domain(tmp_path, 0, "package-0", "unknown")
    meter = EnergyMeter.of_machine(gpu_in_use=False, powercap=tmp_path)
    assert meter.stop() is None and "cannot be read" in meter.source


class Nvml:
    """Two cards that count what the test says."""

    class NVMLError(Exception):
        pass

    counts = (1000, 5000)

    def nvmlInit(self):
        pass

    def nvmlDeviceGetCount(self):
        return len(self.counts)

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetTotalEnergyConsumption(self, handle):
        return self.counts[handle]


def test_a_graphics_card_in_use_is_counted_beside_the_packages(tmp_path, monkeypatch):
    counter, nvml = domain(tmp_path, 0, "package-0", 0), Nvml()
    monkeypatch.setattr(energy.importlib, "import_module", lambda name: nvml)
    meter = EnergyMeter.of_machine(gpu_in_use=True, powercap=tmp_path)
    meter.start()
    counter.write_text("200000\n")
    nvml.counts = (1500, 5100)
    assert meter.stop() == pytest.approx(0.2 + 0.6)
    assert "NVML GPU 1" in meter.source


def test_a_card_that_cannot_be_read_leaves_the_energy_unmeasured(tmp_path, monkeypatch):
    domain(tmp_path, 0, "package-0", 0)
    monkeypatch.setitem(sys.modules, "pynvml", None)
    meter = EnergyMeter.of_machine(gpu_in_use=True, powercap=tmp_path)
    assert meter.stop() is None and "pip install nvidia-ml-py" in meter.source
