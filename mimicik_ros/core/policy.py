"""The exported two-step flow policy in ONNX Runtime, with its provider checked and its contract verified at load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from mimicik_ros.core.errors import ModelError, ProviderError
from mimicik_ros.core.model_card import METADATA_KEY, ModelCard
from mimicik_ros.core.types import Array, Float32Array

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider", "tensorrt": "TensorrtExecutionProvider"}
AUTO = ("cuda", "cpu")  # TensorRT compiles for minutes, so it is taken only when asked for
GOLDEN_TOLERANCE_RAD = 1e-4
WARM_UP = 3


class Policy:
    """A loaded policy. Build it with `load`.

    Attributes:
        card: the model card.
        provider: name of the execution provider really in use.
    """

    def __init__(self, session: Any, card: ModelCard, provider: str) -> None:
        self._session, self.card, self.provider = session, card, provider
        self._batch_of_one: Float32Array = np.zeros((1, len(card.observation_low)), dtype=np.float32)

    @classmethod
    def load(cls, path: str | Path, provider: str = "auto", threads: int = 1) -> Policy:
        """Load, check against the card's golden vectors and warm up.

        Args:
            path: ONNX file.
            provider: auto, cpu, cuda or tensorrt. auto falls back to the CPU; the others do not.
            threads: intra-op threads; never spinning.

        Raises:
            ModelError: the file is missing, broken, without card or does not compute what its card says.
            ProviderError: the provider asked for is not to be had.
        """
        path = Path(path)
        if not path.is_file():
            raise ModelError(f"policy.model: no file '{path}'; give an ONNX file, or make one with `mimicik train` and `export`")
        session, used = _session(path, provider, threads)
        text = session.get_modelmeta().custom_metadata_map.get(METADATA_KEY)
        if text is None:
            raise ModelError(f"{path}: no model card in its metadata; export it with `mimicik export`")
        card = ModelCard.from_json(text, str(path))
        n = len(card.joint_names)
        _check_signature(session, n, path)
        policy = cls(session, card, used)
        golden = np.array(card.golden_observation, dtype=np.float32)
        expected = np.array(card.golden_delta_q)
        if len(golden) != len(expected):
            raise ModelError(f"{path}: {len(golden)} golden observations but {len(expected)} steps; export the model again")
        difference = float(np.abs(policy.predict_batch(golden) - expected).max())
        if not difference <= GOLDEN_TOLERANCE_RAD:
            raise ModelError(f"{path}: on {used} the golden vectors differ by {difference:.2g} rad; export it again or use cpu")
        for _ in range(WARM_UP):
            policy.predict(golden[0])
        return policy

    def predict(self, observation: Float32Array) -> Array:
        """Joint step (n,) rad for one observation (n + 6,)."""
        self._batch_of_one[0] = observation
        result: Array = self._session.run(["delta_q"], {"observation": self._batch_of_one})[0][0].astype(np.float64)
        return result

    def predict_batch(self, observations: Float32Array) -> Array:
        """Joint steps (B, n) rad for observations (B, n + 6)."""
        result: Array = self._session.run(["delta_q"], {"observation": observations})[0].astype(np.float64)
        return result


def _session(path: Path, provider: str, threads: int) -> tuple[Any, str]:
    if provider != "auto" and provider not in PROVIDERS:
        raise ProviderError(f"policy.provider: unknown '{provider}'; one of auto, {', '.join(PROVIDERS)}")
    available = ort.get_available_providers()
    if provider != "auto" and PROVIDERS[provider] not in available:
        raise ProviderError(
            f"policy.provider: {provider} asked for, but this onnxruntime offers {', '.join(available)}; "
            "pip uninstall -y onnxruntime, then pip install onnxruntime-gpu; or set policy.provider to auto or cpu")
    names = AUTO if provider == "auto" else (provider, "cpu")
    wanted = [PROVIDERS[name] for name in dict.fromkeys(names) if PROVIDERS[name] in available]
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    for key in ("session.intra_op.allow_spinning", "session.inter_op.allow_spinning"):
        options.add_session_config_entry(key, "0")
    try:
        session = ort.InferenceSession(str(path), options, providers=wanted)
    except Exception as error:  # onnxruntime raises a different class for each kind of broken file
        raise ModelError(f"{path}: ONNX Runtime cannot load it: {(str(error).splitlines() or ['?'])[0][:200]}") from error
    used = session.get_providers()[0]
    if provider not in ("auto", "cpu") and used != PROVIDERS[provider]:
        raise ProviderError(
            f"policy.provider: {provider} asked for, but the session runs on {used}; see the log of ONNX Runtime "
            "(often a missing CUDA library); set policy.provider to auto or cpu")
    return session, used


def _check_signature(session: Any, n: int, path: Path) -> None:
    for ends, name, width in ((session.get_inputs(), "observation", n + 6), (session.get_outputs(), "delta_q", n)):
        got = [(end.name, end.type, end.shape[-1] if end.shape else None) for end in ends]
        if len(ends) != 1 or ends[0].name != name or ends[0].type != "tensor(float)":
            raise ModelError(f"{path}: expected one float tensor '{name}', got {got}; export it with `mimicik export`")
        if len(ends[0].shape) != 2 or (ends[0].shape[1] not in (width, None) and not isinstance(ends[0].shape[1], str)):
            raise ModelError(f"{path}: '{name}' has shape {ends[0].shape}, expected (batch, {width}); export the model again")
