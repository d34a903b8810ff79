"""The model card survives its JSON, and a robot other than the one trained for is refused with every difference named."""

import dataclasses
import json
from pathlib import Path

import pytest

from mimicik_ros.core.errors import ModelError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.core.model_card import ModelCard

ROOT = Path(__file__).resolve().parents[2]
NAMES = tuple(f"joint{i}" for i in range(1, 7))
G2 = Kinematics(ROOT / "urdf/airbot_play_g2.urdf", "base_link", "end_link", NAMES)
CARD = ModelCard(
    robot_name="airbot_play_g2", joint_names=NAMES, lower=tuple(G2.lower), upper=tuple(G2.upper), base_frame="base_link",
    tool_frame="end_link", kinematic_hash=G2.kinematic_hash(), period_s=0.05, action_scale=(0.06,) * 6, t_star=0.9,
    observation_low=(-1.0,) * 12, observation_high=(1.0,) * 12, golden_observation=((0.1,) * 12, (0.2,) * 12),
    golden_delta_q=((0.01,) * 6, (0.02,) * 6), code_version="0.1.0", created="2026-01-01", metrics={"position_mm": 0.2},
    data={"seed": 1})
DIFFERENT = {
    "joint_names": NAMES[::-1], "base_frame": "world", "tool_frame": "link6", "lower": (-9.0, *CARD.lower[1:]),
    "upper": (9.0, *CARD.upper[1:]), "kinematic_hash": "0" * 16, "period_s": 0.04,
}


def test_a_card_that_went_through_json_is_the_same():
    assert ModelCard.from_json(CARD.to_json(), "file") == CARD


def test_the_robot_that_it_was_trained_for_is_accepted():
    CARD.check_against(G2, 20.0, "arm.onnx")


@pytest.mark.parametrize("name", DIFFERENT)
def test_each_difference_is_refused_alone_with_file_name_and_both_values(name):
    with pytest.raises(ModelError) as caught:
        dataclasses.replace(CARD, **{name: DIFFERENT[name]}).check_against(G2, 20.0, "arm.onnx")
    text = str(caught.value)
    assert text.startswith("arm.onnx: ")
    assert f"{name}: model " in text
    assert [other for other in DIFFERENT if f"{other}: model " in text] == [name]
    assert "policy.model" in text
    assert "\n" not in text


def test_all_differences_are_named_at_once():
    with pytest.raises(ModelError) as caught:
        dataclasses.replace(CARD, **DIFFERENT).check_against(G2, 20.0, "arm.onnx")
    assert all(f"{name}: model " in str(caught.value) for name in DIFFERENT)


def test_limits_that_differ_by_less_than_the_rounding_of_a_urdf_are_the_same():
    dataclasses.replace(CARD, lower=tuple(G2.lower + 1e-7)).check_against(G2, 20.0, "arm.onnx")


def edited(**change):
    values = json.loads(CARD.to_json())
    for key, value in change.items():
        if value is None:
            del values[key]
        else:
            values[key] = value
    return json.dumps(values)


@pytest.mark.parametrize(("text", "names"), [
    ("{", "JSON"), ("[]", "format None"), (edited(format_version=99), "format 99"), (edited(format_version=None), "format None"),
    (edited(t_star=None), "t_star"), (edited(unknown=1), "unknown")])
def test_a_card_that_is_not_of_this_format_is_refused_in_one_line(text, names):
    with pytest.raises(ModelError) as caught:
        ModelCard.from_json(text, "arm.onnx")
    assert str(caught.value).startswith("arm.onnx: ")
    assert names in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("key", "value"), [
    ("joint_names", 5), ("joint_names", ["joint1", 2]), ("observation_low", "low"), ("lower", [0.1, None]),
    ("golden_observation", [0.1]), ("golden_delta_q", [[0.1], [0.1, 0.2]]), ("period_s", "fast"), ("kinematic_hash", 3),
    ("action_scale", [[0.1]])])
def test_a_card_with_a_value_of_another_type_is_refused_by_its_name(key, value):
    with pytest.raises(ModelError) as caught:
        ModelCard.from_json(edited(**{key: value}), "arm.onnx")
    assert str(caught.value).startswith("arm.onnx: ")
    assert key in str(caught.value)
