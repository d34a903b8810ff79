"""The order of the data: the batch and the noise of every optimiser step, from the seed and the step alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from mimicik_ros.training.distributed import Place
from mimicik_ros.training.objective import Sample
from mimicik_ros.training.spec import TrainSpec
from mimicik_ros.training.synthesis import Synthesis


class _Steps(Dataset[Sample]):
    """Sample of an optimiser step by its index; the action is still delta_q in rad."""

    def __init__(self, synthesis: Synthesis, size: int, part: tuple[int, int]) -> None:
        self._synthesis, self._size, self._part = synthesis, size, part

    def __getitem__(self, step: int) -> Sample:
        batch = self._synthesis.batch(self._size, step, self._part)
        return Sample(_tensor(batch.observation), _tensor(batch.delta_q), _tensor(batch.q), _tensor(batch.T_target[:, :3, :3]),
                      _tensor(batch.T_target[:, :3, 3]), self._part)


def samples(synthesis: Synthesis, spec: TrainSpec, first: int, place: Place, action_scale: torch.Tensor) -> Iterator[Sample]:
    """Samples of the steps from `first` on, in order, on the device; made by `spec.workers` processes ahead of time."""
    loader = DataLoader(_Steps(synthesis, spec.batch, place.part), batch_size=None, sampler=range(first, spec.steps),
                        num_workers=spec.workers, multiprocessing_context="fork" if spec.workers else None)
    for sample in loader:
        on_device = (x.to(place.device, non_blocking=True) for x in
                     (sample.observation, sample.action, sample.q, sample.target_R, sample.target_p))
        moved = Sample(*on_device, sample.part)
        yield dataclasses.replace(moved, action=moved.action / action_scale)


def step_generator(seed: int, step: int) -> torch.Generator:
    """The random numbers of one optimiser step."""
    state = np.random.SeedSequence([seed, step + 1]).generate_state(2, np.uint32)
    return torch.Generator().manual_seed(int(state[0]) << 31 | int(state[1]) >> 1)


def _tensor(x: np.ndarray[Any, Any]) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(x, dtype=np.float32))
