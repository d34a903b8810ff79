"""Training in two real processes (gloo, loopback) against training in one, and devices that are not there."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from mimicik_ros.cli.main import main
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.training.checkpoint import load_checkpoint
from mimicik_ros.training.distributed import joined

SCRIPT = Path(__file__).with_name("two_processes.py")
RUN = ("--preset", "tiny", "--steps", "8", "--batch", "64", "--device", "cpu", "--bf16-share", "0")


def torchrun(folder, *options):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(SCRIPT), str(folder),
               "train", "--out", str(folder / "two.pt"), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False,
                          env={**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"})


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    done = torchrun(folder, *RUN)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_both_processes_end_with_the_very_same_weights(two):
    first, second = (torch.load(two[0] / f"rank{rank}.pt", weights_only=True) for rank in (0, 1))
    assert all(torch.equal(first[key], second[key]) for key in first)


def test_two_processes_with_half_the_batch_each_train_as_one_with_the_whole(two, tmp_path):
    assert main(["train", *RUN, "--out", str(tmp_path / "one.pt")]) == 0
    one, both = load_checkpoint(tmp_path / "one.pt")["policy"], load_checkpoint(two[0] / "two.pt")["policy"]
    start = tmp_path / "start.pt"
    assert main(["train", *RUN, "--learning-rate", "1e-12", "--out", str(start)]) == 0
    before = load_checkpoint(start)["policy"]
    for key in one:
        moved = float((one[key] - before[key]).norm())
        # Muon turns a gradient into a rotation in bfloat16, which blows up the rounding of the sum over the batch.
        share = 0.25 if ".up.weight" in key or ".down.weight" in key else 0.01
        assert float((one[key] - both[key]).norm()) <= share * moved, key
    assert float((one["network.inlet.weight"] - before["network.inlet.weight"]).norm()) > 0.01


def test_the_first_process_alone_speaks_and_writes(two):
    folder, said = two
    assert said.count("8 steps of mip") == 1 and "2 processes on cpu" in said
    with (folder / "two.csv").open() as file:
        assert [row["step"] for row in csv.DictReader(file)] == ["8"]
    assert {p.name for p in folder.iterdir()} == {"two.pt", "two.csv", "rank0.pt", "rank1.pt"}


def test_a_batch_that_does_not_divide_is_refused_by_name(tmp_path):
    done = torchrun(tmp_path, "--preset", "tiny", "--batch", "63", "--device", "cpu")
    assert "error: --batch: 63 samples do not divide by 2 processes; give a multiple" in done.stderr
    assert done.returncode != 0 and not (tmp_path / "two.pt").exists()


def test_cuda_asked_for_and_not_had_is_refused_with_the_remedy(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match=r"--device: cuda asked for, but .*; install a CUDA build of torch"), joined("cuda"):
        pass


def test_auto_takes_the_cpu_where_there_is_no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with joined("auto") as place:
        assert (place.device.type, place.rank, place.processes) == ("cpu", 0, 1)


def test_auto_takes_the_gpu_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with joined("auto") as place:
        assert place.device.type == "cuda"


def test_an_unknown_device_lists_the_known_ones():
    with pytest.raises(ConfigError, match=r"--device: unknown 'tpu'; one of auto, cpu, cuda"), joined("tpu"):
        pass
