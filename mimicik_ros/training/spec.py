"""What one training run is: the network, the data mix, the losses and the schedule; with named presets."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from mimicik_ros.core.errors import ConfigError


@dataclass(frozen=True)
class TrainSpec:
    """All that decides a run.

    Attributes:
        policy: name in `policies.POLICIES`.
        width, blocks: size of the residual MLP; a policy with another network has about as many parameters.
        sampler_steps: evaluations of the network by a policy that samples (flow, unet); 0 takes the policy's own number.
        steps: optimiser steps; the learning rate follows a cosine over them.
        minutes: upper bound on the run's wall time (0 = none); the cosine follows whichever ends first.
        bf16_share: share of the run, from its start, whose blocks compute in bfloat16; the rest is float32.
        batch: samples per optimiser step, all of them new, over all processes together.
        learning_rate: Muon's on the matrices of the blocks; AdamW's on all other parameters is learning_rate / 10.
        weight_decay: of both.
        ema: decay of the averaged weights that are exported.
        t_star: time of the second step of the two-step policies (MIP: 0.9).
        flow_weight: weight of the flow-matching loss beside the FK loss.
        fk_weight: weight of the FK-consistency loss; 0 trains without it.
        fk_position_m, fk_rotation_rad: scale at which the robust FK loss turns from quadratic to logarithmic.
        closed_loop: weight of closed-loop training (closed_loop.py) beside the losses above; 0 leaves it out.
        arms, ticks: arms that follow courses side by side, and ticks an optimiser step takes them through.
        step_rad: uniform joint step of the random motions, per joint and period.
        mix: shares of the sources random, singular, smooth, teleop (teleop falls to random where there are no streams).
        seed: of everything drawn.
        threads: CPU threads of each process.
        workers: processes beside each training process that make its batches; 0 makes them in between.
    """

    policy: str = "mip"
    width: int = 192
    blocks: int = 3
    sampler_steps: int = 0
    steps: int = 30_000
    minutes: float = 0.0
    bf16_share: float = 0.75
    batch: int = 1024
    learning_rate: float = 0.02
    weight_decay: float = 1e-5
    ema: float = 0.995
    t_star: float = 0.9
    flow_weight: float = 0.02
    fk_weight: float = 1.0
    fk_position_m: float = 1e-4
    fk_rotation_rad: float = 7e-4
    closed_loop: float = 0.0
    arms: int = 256
    ticks: int = 3
    step_rad: float = 0.06
    mix: tuple[float, float, float, float] = (0.60, 0.15, 0.15, 0.10)
    seed: int = 0
    threads: int = 1
    workers: int = 0


# Above these torch, or the machine, ends the process with no word of the option.
MOST = {"seed": 2**63 - 1, "threads": 1024, "workers": 1024, "width": 16_384, "blocks": 1024, "sampler_steps": 1024,
        "batch": 2**24, "steps": 10**9}

PRESETS: dict[str, TrainSpec] = {
    "default": TrainSpec(),
    "calm": TrainSpec(batch=512, learning_rate=0.004, closed_loop=1.0),
    "tiny": TrainSpec(width=64, blocks=2, steps=300, batch=512),
}


def preset(name: str, **changes: float | int | str | None) -> TrainSpec:
    """A preset with changes (None leaves a field alone). Raises ConfigError for an unknown name or a value that cannot be."""
    if name not in PRESETS:
        raise ConfigError(f"--preset: unknown '{name}'; one of {', '.join(PRESETS)}")
    return checked(dataclasses.replace(PRESETS[name], **{k: v for k, v in changes.items() if v is not None}))  # type: ignore[arg-type]


def checked(spec: TrainSpec) -> TrainSpec:
    """The same, if a run can have it. Raises ConfigError."""
    for key in ("width", "blocks", "steps", "batch", "threads", "learning_rate"):
        if not getattr(spec, key) > 0:  # NaN included
            raise ConfigError(f"--{key.replace('_', '-')}: must be positive, got {getattr(spec, key)}")
    for key in ("minutes", "fk_weight", "workers", "sampler_steps", "seed"):
        if not getattr(spec, key) >= 0:
            raise ConfigError(f"--{key.replace('_', '-')}: must not be negative, got {getattr(spec, key)}")
    for key, most in MOST.items():
        if getattr(spec, key) > most:
            raise ConfigError(f"--{key.replace('_', '-')}: must be at most {most:g}, got {getattr(spec, key)}")
    if len(spec.mix) != 4 or min(spec.mix) < 0.0 or not 0.0 < sum(spec.mix) < float("inf"):
        raise ConfigError(f"mix: expected four shares, none of them negative, got {spec.mix}")
    if not 0.0 <= spec.bf16_share <= 1.0:
        raise ConfigError(f"--bf16-share: must lie in [0, 1], got {spec.bf16_share}")
    return spec
