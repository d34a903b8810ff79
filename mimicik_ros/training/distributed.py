"""Where a process trains: its device, and its place among the processes that torchrun started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from mimicik_ros.core.errors import ConfigError

DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True)
class Place:
    """One of `processes` training processes and its device."""

    device: torch.device
    rank: int = 0
    processes: int = 1

    @property
    def part(self) -> tuple[int, int]:
        """(rank, processes): which rows of a batch are this process's."""
        return self.rank, self.processes

    def parallel(self, module: nn.Module) -> nn.Module:
        """The module, with gradients averaged over the processes in every backward pass."""
        if self.processes == 1:
            return module
        return nn.parallel.DistributedDataParallel(module)

    def agreed(self, value: float) -> float:
        """The first process's value, so that all take the same decision."""
        if self.processes == 1:
            return value
        shared = torch.tensor([value], dtype=torch.float64, device=self.device)
        dist.broadcast(shared, src=0)
        return float(shared)

    def mean(self, values: Tensor) -> Tensor:
        """The mean of detached values over the processes."""
        if self.processes > 1:
            values = values.clone()
            dist.all_reduce(values)
        return values / self.processes


@contextmanager
def joined(device: str) -> Iterator[Place]:
    """This process's place; under torchrun, a member of its group (gloo on CPU, NCCL on GPU) until the block ends.

    Args:
        device: cpu, cuda or auto, which takes the GPU where there is one.

    Raises:
        ConfigError: an unknown device, CUDA asked for and not had, or fewer GPUs than processes on this machine.
    """
    if device not in DEVICES:
        raise ConfigError(f"--device: unknown '{device}'; one of {', '.join(DEVICES)}")
    cuda = torch.cuda.is_available()
    if device == "cuda" and not cuda:
        why = "this torch is built without CUDA" if torch.version.cuda is None else "torch sees no GPU"
        raise ConfigError(f"--device: cuda asked for, but {why}; install a CUDA build of torch and its driver, or use cpu")
    kind = "cuda" if cuda and device != "cpu" else "cpu"
    if not dist.is_torchelastic_launched():  # not under torchrun
        yield Place(torch.device(kind))
        return
    local = int(os.environ["LOCAL_RANK"])
    if kind == "cuda" and local >= torch.cuda.device_count():
        raise ConfigError(f"--device: process {local} has no GPU of its own, there are {torch.cuda.device_count()} here; "
                          "give torchrun as many processes as there are GPUs")
    if kind == "cuda":
        torch.cuda.set_device(local)
    dist.init_process_group("nccl" if kind == "cuda" else "gloo")
    try:
        yield Place(torch.device(kind, local) if kind == "cuda" else torch.device(kind), dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
