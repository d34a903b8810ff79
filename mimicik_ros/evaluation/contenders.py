"""Who is compared: the tick as shipped and its halves, the classical solvers, and exported policies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mimicik_ros.config import Config
from mimicik_ros.core.errors import ConfigError, ModelError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.policy import PROVIDERS, Policy
from mimicik_ros.core.servo import SOLVERS, IKServo
from mimicik_ros.evaluation.baselines import registry
from mimicik_ros.evaluation.rollout import without_step_guard
from mimicik_ros.share import share_path


@dataclass(frozen=True)
class Contender:
    """One row of the table.

    Attributes:
        name: of the row.
        kind: tick (whole tick), model (shipped model alone), classical or policy (an exported file).
        servo: what follows the streams; None where it cannot run.
        policy, seed: of an exported policy, from its model card.
        skipped: why it cannot run; empty if it can.
    """

    name: str
    kind: str
    servo: IKServo | None
    policy: str = ""
    seed: int | None = None
    skipped: str = ""

    @property
    def label(self) -> str:
        """Name in plots: seeds of one policy share a line."""
        return self.policy or self.name

    @property
    def on_gpu(self) -> bool:
        """Whether its network runs on a graphics card."""
        policy = self.servo.policy if self.servo else None
        return policy is not None and policy.provider != PROVIDERS["cpu"]


def known() -> tuple[str, ...]:
    """Names that --solvers may give."""
    return (*SOLVERS, *registry.NAMES)


def classical(name: str, kinematics: Kinematics, config: Config) -> IKServo:
    """A servo that a classical solver drives, without the tick's guard against branch jumps.

    Raises:
        ConfigError: there is no such solver, or it cannot run here.
        RobotError: its library cannot read the URDF.
    """
    free = without_step_guard(config)
    return IKServo(kinematics, None, free, name if name == "dls" else registry.make(name, kinematics, free))


def contenders(kinematics: Kinematics, config: Config, solvers: tuple[str, ...], models: tuple[Path, ...]) -> list[Contender]:
    """The rows of a table, in the order asked for.

    Raises:
        ConfigError: a solver is unknown or named twice, or two models have one name, or one policy and seed.
        MimicIKError: a model is missing, broken or of another robot.
    """
    unknown = [s for s in solvers if s not in known()]
    if unknown:
        raise ConfigError(f"--solvers: unknown '{unknown[0]}'; one of {', '.join(known())}")
    if len(set(solvers)) < len(solvers):
        raise ConfigError("--solvers: a name stands more than once")
    shipped = load_policy(share_path(config.policy.model), kinematics, config) if {"servo", "model"} & set(solvers) else None
    rows = [_solver(name, kinematics, config, shipped) for name in solvers]
    rows += [_exported(path, kinematics, config) for path in models]
    _check_distinct(rows)
    return rows


def load_policy(path: Path, kinematics: Kinematics, config: Config) -> Policy:
    """A policy, checked against the robot. Raises ModelError or ProviderError."""
    policy = Policy.load(path, config.policy.provider, config.policy.threads)
    policy.card.check_against(kinematics, config.servo.rate_hz, str(path))
    return policy


def _solver(name: str, kinematics: Kinematics, config: Config, shipped: Policy | None) -> Contender:
    if name in ("servo", "model"):
        return Contender(name, "tick" if name == "servo" else "model", IKServo(kinematics, shipped, config, name))
    reason = None if name == "dls" else registry.unavailable(name)
    if reason is not None:
        return Contender(name, "classical", None, skipped=reason)
    return Contender(name, "classical", classical(name, kinematics, config))


def _exported(path: Path, kinematics: Kinematics, config: Config) -> Contender:
    policy = load_policy(path, kinematics, config)
    name, seed = policy_of(policy.card.data.get("spec", {}), str(path))
    return Contender(path.stem, "policy", IKServo(kinematics, policy, config, "model"), name, seed)


def policy_of(spec: object, origin: str) -> tuple[str, int]:
    """Name and seed of a policy from the training specification in its card; a run without FK loss is a policy of its own.

    Raises:
        ModelError: they are no text and whole number.
    """
    values = spec if isinstance(spec, dict) else {}
    name, seed = values.get("policy", "mip"), values.get("seed", 0)
    if not isinstance(name, str) or not isinstance(seed, int):
        raise ModelError(f"{origin}: model card: spec.policy '{name}' or spec.seed '{seed}' has the wrong type; export it again")
    return (f"{name} --fk-weight 0" if values.get("fk_weight") == 0 else name), seed


def _check_distinct(rows: list[Contender]) -> None:
    """Seeds that are one and the same run would make a spread look small."""
    names: set[str] = set()
    runs: dict[tuple[str, int | None], str] = {}
    for row in rows:
        if row.name in names:
            raise ConfigError(f"--models: two rows would be called '{row.name}'; rename one file")
        names.add(row.name)
        other = runs.setdefault((row.policy, row.seed), row.name) if row.policy else row.name
        if other != row.name:
            raise ConfigError(f"--models: {other} and {row.name} are both {row.policy}, seed {row.seed}; give one of them")
