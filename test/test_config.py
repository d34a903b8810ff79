"""The parameter schema refuses what it does not know and says what to do."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimicik_ros import config
from mimicik_ros.core.errors import ConfigError

NUMBERS = [(n, f) for n, f in config.parameters().items() if f.metadata["low"] is not None]


def _value(field, number):
    """A number in the field's own type: an int for an int, one a joint for a list."""
    if isinstance(field.default, tuple):
        return [number] * len(field.default)
    return int(number) if isinstance(field.default, int) else number


def _get(settings, name):
    group, key = name.split(".")
    return getattr(getattr(settings, group), key)


def test_defaults_are_what_an_empty_mapping_gives():
    assert config.from_mapping({}) == config.Config()


def test_period_is_the_inverse_of_the_rate():
    assert config.from_mapping({"servo": {"rate_hz": 50}}).dt_s == 0.02


def test_nested_and_full_names_mean_the_same():
    assert config.from_mapping({"servo": {"rate_hz": 40.0}}) == config.from_flat({"servo.rate_hz": 40.0})


@pytest.mark.parametrize(("name", "field"), NUMBERS, ids=[n for n, _ in NUMBERS])
def test_every_number_accepts_its_bounds_and_refuses_beyond(name, field):
    low, high = field.metadata["low"], field.metadata["high"]
    for bound in (low, high):
        config.from_flat({name: _value(field, bound)})
    for beyond in (low - 1, high + 1 if high < float("inf") else float("nan")):
        with pytest.raises(ConfigError, match=rf"{name} must lie in \["):
            config.from_flat({name: _value(field, beyond)})


@pytest.mark.parametrize("name", [n for n, f in config.parameters().items() if isinstance(f.default, (int, float))])
def test_every_number_has_a_range_unless_it_is_a_switch(name):
    field = config.parameters()[name]
    assert isinstance(field.default, bool) or field.metadata["low"] is not None


@pytest.mark.parametrize(("name", "field", "bad"), [
    pytest.param(n, f, bad, id=f"{n}-{bad}") for n, f in NUMBERS for bad in (float("nan"), float("inf"), "1", True, None)
    if bad != f.metadata["high"]  # an acceleration limit may be infinite: no limit
])
def test_every_number_refuses_what_is_no_finite_number(name, field, bad):
    value = [bad] * len(field.default) if isinstance(field.default, tuple) else bad
    with pytest.raises(ConfigError, match=name):
        config.from_flat({name: value})


@pytest.mark.parametrize("value", ["yes", 1, 0.0, None])
def test_a_switch_takes_only_true_or_false(value):
    with pytest.raises(ConfigError, match=r"engage\.auto_enable must be bool"):
        config.from_flat({"engage.auto_enable": value})


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown parameter 'servo\.rate'; did you mean 'servo\.rate_hz'"):
        config.from_mapping({"servo": {"rate": 20}}, "arm.yaml")


def test_an_unknown_name_without_a_near_one_lists_the_groups():
    with pytest.raises(ConfigError, match="groups: robot, policy, servo"):
        config.from_flat({"zzzzzzzzzzzz": 1})


def test_a_choice_lists_the_valid_values():
    with pytest.raises(ConfigError, match=r"policy\.provider must be one of auto, cpu, cuda, tensorrt, got 'gpu'"):
        config.from_flat({"policy.provider": "gpu"})


def test_limits_must_be_one_per_joint():
    with pytest.raises(ConfigError, match="has 2 values for 6 joints"):
        config.from_flat({"robot.velocity_limits_rad_s": [1.0, 1.0]})


def test_a_gripper_outside_its_own_limits_is_refused_where_it_is_used():
    bad = {"output.gripper_position": 0.5}
    assert config.from_flat(bad).output.gripper_position == 0.5
    with pytest.raises(ConfigError, match=r"gripper_position 0\.5 must lie in target\.gripper_lower .* \[0, 0\.072\]"):
        config.from_flat({**bad, "output.append_gripper": True})


def test_gripper_limits_the_wrong_way_round_are_refused():
    with pytest.raises(ConfigError, match=r"target\.gripper_lower 0\.1 must lie below target\.gripper_upper 0\.072"):
        config.from_flat({"target.gripper_lower": 0.1, "output.gripper_topic": True})


def test_a_number_where_a_list_belongs_is_refused():
    with pytest.raises(ConfigError, match=r"robot\.joint_names must be a list"):
        config.from_flat({"robot.joint_names": "joint1"})


def test_a_configuration_cannot_be_changed_after_the_fact():
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.Config().servo.rate_hz = 5.0


def test_a_ros_parameter_file_and_the_bare_groups_load_alike(tmp_path):
    ros, bare = tmp_path / "ros.yaml", tmp_path / "bare.yaml"
    ros.write_text("/**:\n  ros__parameters:\n    servo:\n      rate_hz: 25.0\n", encoding="utf-8")
    bare.write_text("servo:\n  rate_hz: 25.0\n", encoding="utf-8")
    assert config.load(ros) == config.load(bare) == config.from_flat({"servo.rate_hz": 25.0})


def test_an_empty_file_means_the_defaults(tmp_path):
    path = tmp_path / "empty.yaml"
    path.write_text("", encoding="utf-8")
    assert config.load(path) == config.Config()


@pytest.mark.parametrize("content", [b"- a\n- b\n", b"just text", b"a: [1", b"\xff\xfe\x00", b"servo: {rate_hz: fast}"])
def test_a_broken_file_is_refused_in_one_line_that_names_it(tmp_path, content):
    path = tmp_path / "broken.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        config.load(path)
    assert "broken.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused_with_its_path(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read .*absent"):
        config.load(tmp_path / "absent.yaml")


@given(st.floats(1.0, 1000.0))
def test_any_rate_in_range_is_kept_as_it_is(rate):
    assert _get(config.from_flat({"servo.rate_hz": rate}), "servo.rate_hz") == rate
