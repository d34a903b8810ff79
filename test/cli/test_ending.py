"""A verb that is ended by a signal leaves no half file and no process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mimicik_ros.cli.ending import ending_cleanly


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_signal_is_an_interrupt_within_the_block_and_what_it_was_after_it(number):
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), ending_cleanly():
        os.kill(os.getpid(), number)
        time.sleep(5.0)  # cut short by the interrupt
    assert signal.getsignal(number) is before


def children_of(pid):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            continue
        if parent == pid:
            found.append(int(status.parent.name))
    return found


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def eventually(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_dataset_ended_by_a_service_manager_leaves_no_half_file_and_no_worker(tmp_path):
    pytest.importorskip("pyarrow", reason="the data extra is not installed")
    process = subprocess.Popen([sys.executable, "-m", "mimicik_ros.cli.main", "dataset", "synth", str(tmp_path / "a.parquet"),
                                "--episodes", "1000000", "--workers", "2"], stderr=subprocess.PIPE, text=True)
    try:
        half = tmp_path / "a.parquet.partial"
        eventually(lambda: half.exists() and half.stat().st_size > 4096)  # the workers deliver
        workers = children_of(process.pid)
        assert len(workers) >= 2
        process.terminate()
        _, said = process.communicate(timeout=60)
        assert process.returncode == 2 and "interrupted" in said
        eventually(lambda: not any(map(alive, workers)))
        assert not list(tmp_path.iterdir())
    finally:
        process.kill()
