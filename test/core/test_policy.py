"""A model is used only if it is whole, computes what its card says and runs where it was asked to."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from mimicik_ros import config
from mimicik_ros.core.errors import ModelError, ProviderError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.model_card import METADATA_KEY, ModelCard
from mimicik_ros.core.policy import Policy

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "models/airbot_play_g2.onnx"
NAMES = config.Config().robot.joint_names


@pytest.fixture(scope="module")
def policy():
    return Policy.load(MODEL, "cpu")


def test_the_shipped_model_fits_the_shipped_arm_and_tells_its_provider(policy):
    kinematics = Kinematics(ROOT / "urdf/airbot_play_g2.urdf", "base_link", "end_link", NAMES)
    policy.card.check_against(kinematics, 20.0, "model")
    assert policy.provider == "CPUExecutionProvider"


def test_one_and_a_batch_give_the_same_steps(policy):
    observations = np.array(policy.card.golden_observation, dtype=np.float32)
    batch = policy.predict_batch(observations)
    assert batch.dtype == np.float64
    assert np.allclose(batch, [policy.predict(o) for o in observations], atol=1e-5)


@pytest.mark.parametrize("tool", ["e2b", "bare"])
def test_another_tool_is_refused_with_what_differs(policy, tool):
    kinematics = Kinematics(ROOT / f"urdf/airbot_play_{tool}.urdf", "base_link", "end_link", NAMES)
    with pytest.raises(ModelError, match="kinematic_hash: model") as caught:
        policy.card.check_against(kinematics, 20.0, "model")
    assert "\n" not in str(caught.value)


def test_another_rate_is_refused(policy):
    kinematics = Kinematics(ROOT / "urdf/airbot_play_g2.urdf", "base_link", "end_link", NAMES)
    with pytest.raises(ModelError, match=r"period_s: model 0\.05, robot 0\.02"):
        policy.card.check_against(kinematics, 50.0, "model")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelError, match=r"policy\.model: no file .*absent\.onnx"):
        Policy.load(tmp_path / "absent.onnx")


@pytest.mark.parametrize("content", [b"", b"no model", MODEL.read_bytes()[:5000]], ids=["empty", "text", "cut off"])
def test_a_broken_file_is_refused_in_one_line_that_names_it(tmp_path, content):
    path = tmp_path / "broken.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"broken\.onnx") as caught:
        Policy.load(path, "cpu")
    assert "\n" not in str(caught.value)


def test_a_model_that_no_longer_computes_its_golden_vectors_is_refused(tmp_path):
    onnx = pytest.importorskip("onnx", reason="onnx comes with the train extra")
    model = onnx.load(MODEL)
    weights = max(model.graph.initializer, key=lambda t: len(t.raw_data))
    values = np.frombuffer(weights.raw_data, dtype=np.float32) * np.float32(1.5)
    weights.raw_data = values.tobytes()
    path = tmp_path / "changed.onnx"
    onnx.save(model, path)
    with pytest.raises(ModelError, match="golden vectors differ"):
        Policy.load(path, "cpu")


def test_a_model_without_a_card_is_refused(tmp_path):
    onnx = pytest.importorskip("onnx", reason="onnx comes with the train extra")
    model = onnx.load(MODEL)
    del model.metadata_props[:]
    path = tmp_path / "bare.onnx"
    onnx.save(model, path)
    with pytest.raises(ModelError, match="no model card"):
        Policy.load(path, "cpu")


def linear(path, names=("observation", "delta_q"), width=12, joints=6, gain=0.1, card=True):
    """A tiny model on disk: delta_q = gain * the first joints of the observation."""
    onnx = pytest.importorskip("onnx", reason="onnx comes with the train extra")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    weight = np.zeros((width, joints), dtype=np.float32)
    weight[:joints] = gain * np.eye(joints)
    graph = helper.make_graph(
        [helper.make_node("MatMul", [names[0], "weight"], [names[1]])], "tiny",
        [helper.make_tensor_value_info(names[0], kind, ["batch", width])],
        [helper.make_tensor_value_info(names[1], kind, ["batch", joints])],
        [onnx.numpy_helper.from_array(weight, "weight")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    golden = tuple(float(x) for x in np.arange(12))
    six, twelve = (0.0,) * 6, (1.0,) * 12
    text = ModelCard("tiny", NAMES, six, six, "base_link", "end_link", "0", 0.05, six, 0.9, six * 2, twelve, (golden,),
                     (tuple(0.1 * x for x in golden[:6]),), "0", "today").to_json()
    if card:
        onnx.helper.set_model_props(model, {METADATA_KEY: text})
    onnx.save(model, path)
    return path


def test_a_tiny_model_is_loaded_and_computes_by_hand(tmp_path):
    policy = Policy.load(linear(tmp_path / "tiny.onnx"), "cpu")
    assert policy.card.robot_name == "tiny"
    assert np.allclose(policy.predict(np.arange(12, dtype=np.float32)), [0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert policy.predict_batch(np.ones((3, 12), dtype=np.float32)).shape == (3, 6)


@pytest.mark.parametrize(("change", "message"), [
    ({"names": ("obs", "delta_q")}, "expected one float tensor 'observation'"),
    ({"names": ("observation", "dq")}, "expected one float tensor 'delta_q'"),
    ({"width": 14}, r"'observation' has shape .*expected \(batch, 12\)"),
    ({"joints": 5}, r"'delta_q' has shape .*expected \(batch, 6\)"),
    ({"gain": 0.2}, "golden vectors differ"),
    ({"gain": np.nan}, "golden vectors differ"),
    ({"card": False}, "no model card"),
])
def test_a_model_of_another_shape_or_without_its_contract_is_refused_in_one_line(tmp_path, change, message):
    with pytest.raises(ModelError, match=message) as caught:
        Policy.load(linear(tmp_path / "tiny.onnx", **change), "cpu")
    assert "\n" not in str(caught.value)


def test_an_unknown_provider_is_refused_with_the_choices():
    with pytest.raises(ProviderError, match="one of auto, cpu, cuda, tensorrt"):
        Policy.load(MODEL, "gpu")


@pytest.mark.skipif("CUDAExecutionProvider" in onnxruntime.get_available_providers(), reason="this onnxruntime offers CUDA")
def test_cuda_asked_for_and_not_had_is_refused():
    with pytest.raises(ProviderError, match="cuda asked for"):
        Policy.load(MODEL, "cuda")
