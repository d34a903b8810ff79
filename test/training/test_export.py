"""The ONNX file: the trained policy, for any batch size, with its contract."""

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from mimicik_ros.core.model_card import METADATA_KEY, ModelCard
from mimicik_ros.training.export import export, write_metrics


@pytest.fixture(scope="module")
def exported(kinematics, synthesis, tiny_run, tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "tiny.onnx"
    return path, export(tiny_run[0], kinematics, synthesis, 0.05, "test arm", path)


def run(path, observation):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["delta_q"], {"observation": observation})[0]


@pytest.mark.parametrize("size", [1, 2, 33])
def test_it_computes_what_torch_computes_for_any_batch_size(exported, synthesis, tiny_run, size):
    observation = synthesis.batch(size).observation
    with torch.no_grad():
        expected = tiny_run[0].policy(torch.from_numpy(observation)).numpy()
    np.testing.assert_allclose(run(exported[0], observation), expected, atol=2e-6)


def test_the_card_in_the_file_is_the_card_returned(exported):
    metadata = {p.key: p.value for p in onnx.load(exported[0]).metadata_props}
    assert ModelCard.from_json(metadata[METADATA_KEY], "tiny.onnx") == ModelCard.from_json(exported[1].to_json(), "card")


def test_the_card_fits_its_own_robot(exported, kinematics):
    exported[1].check_against(kinematics, 20.0, "tiny.onnx")


def test_golden_vectors_are_reproduced(exported):
    path, card = exported
    golden = np.array(card.golden_observation, dtype=np.float32)
    np.testing.assert_allclose(run(path, golden), np.array(card.golden_delta_q), atol=1e-6)


def test_the_two_deployed_steps_are_unrolled_by_hand(exported, tiny_run, synthesis):
    policy, observation = tiny_run[0].policy, torch.from_numpy(synthesis.batch(4).observation)
    with torch.no_grad():
        a0 = policy.network(torch.zeros(4, 6), 0.0, observation)
        a1 = policy.network(a0, 0.9, observation)
    np.testing.assert_allclose(run(exported[0], observation.numpy()), (a1 * 0.06 / 3**0.5).numpy(), atol=2e-6)


def test_metrics_are_added_without_touching_the_graph(exported, synthesis, tmp_path):
    path, card = exported
    observation = synthesis.batch(3).observation
    before = run(path, observation)
    copy = tmp_path / "scored.onnx"
    copy.write_bytes(path.read_bytes())
    assert write_metrics(copy, card, {"position_mean_mm": 1.23456}).metrics == {"position_mean_mm": 1.235}
    np.testing.assert_array_equal(run(copy, observation), before)
