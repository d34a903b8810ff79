"""The gripper's value stays inside its limits and changes no faster than allowed, whatever is asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimicik_ros.config import TargetConfig
from mimicik_ros.core.gripper import advance

CONFIG = TargetConfig(gripper_lower=0.0, gripper_upper=0.072, gripper_speed=0.1)


@pytest.mark.parametrize(("position", "wanted", "after"), [
    (0.0, 0.05, 0.005), (0.05, 0.0, 0.045), (0.03, 0.032, 0.032), (0.07, 9.0, 0.072), (0.002, -1.0, 0.0), (0.02, 0.02, 0.02)])
def test_it_goes_a_twentieth_of_its_speed_in_a_twentieth_of_a_second(position, wanted, after):
    assert advance(position, wanted, 0.05, CONFIG) == pytest.approx(after)


@given(st.floats(0.0, 0.072), st.lists(st.floats(-1e6, 1e6), max_size=20), st.floats(0.001, 0.1))
def test_no_request_takes_it_beyond_its_limits_or_its_speed(position, requests, dt_s):
    for wanted in requests:
        after = advance(position, wanted, dt_s, CONFIG)
        assert 0.0 <= after <= 0.072
        assert abs(after - position) <= 0.1 * dt_s + 1e-12
        position = after
