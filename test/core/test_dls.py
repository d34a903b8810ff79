"""Refinement is bounded: it reduces the error, stays in its box, and ends after the steps it was given."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mimicik_ros.core.dls import refine, weighted_error
from mimicik_ros.core.kinematics import Kinematics

ROOT = Path(__file__).resolve().parents[2]
G2 = Kinematics(ROOT / "urdf/airbot_play_g2.urdf", "base_link", "end_link", tuple(f"joint{i}" for i in range(1, 7)))
HOME = np.array([0, -1, 1.2, 1.5708, -1.2, -1.5708])
unit = st.tuples(*[st.floats(0.02, 0.98)] * 6).map(np.array)
small = st.tuples(*[st.floats(-0.05, 0.05)] * 6).map(np.array)


def at(share):
    return G2.lower + share * (G2.upper - G2.lower)


def test_a_near_target_is_met_to_a_hundredth_of_a_millimetre():
    done = refine(G2, HOME, G2.fk(HOME + 0.03), G2.lower, G2.upper, 8, 0.02, 1e-6)
    assert np.linalg.norm(G2.fk(done.q)[:3, 3] - G2.fk(HOME + 0.03)[:3, 3]) < 1e-5
    assert done.steps <= 8


@settings(max_examples=60, deadline=None)
@given(unit, small)
def test_it_never_makes_the_error_larger_nor_leaves_the_box(share, offset):
    q = at(share)
    goal = G2.fk(np.clip(q + offset, G2.lower, G2.upper))
    low, high = np.maximum(q - 0.04, G2.lower), np.minimum(q + 0.04, G2.upper)
    done = refine(G2, q, goal, low, high, 6, 0.02, 1e-6)
    assert done.error <= done.start_error
    assert done.error == pytest.approx(weighted_error(G2, done.q, goal), abs=1e-12)
    assert (done.q >= low).all()
    assert (done.q <= high).all()
    assert done.steps <= 6


@pytest.mark.parametrize("q", [np.zeros(6), np.array([0, 0, 0, np.pi / 2, 0, -np.pi / 2])], ids=["all zero", "vendor home"])
def test_at_a_singular_start_it_stays_finite_and_small(q):
    T = G2.fk(q)
    T[2, 3] += 0.01
    done = refine(G2, q, T, G2.lower, G2.upper, 6, 0.02, 1e-6)
    assert np.isfinite(done.q).all()
    assert np.abs(done.q - q).max() < 1.0
    assert done.error < done.start_error


def test_no_step_is_tried_where_none_is_allowed_or_needed():
    assert refine(G2, HOME, G2.fk(HOME + 0.01), G2.lower, G2.upper, 0, 0.02, 1e-6).steps == 0
    assert refine(G2, HOME, G2.fk(HOME), G2.lower, G2.upper, 6, 0.02, 1e-6).steps == 0
