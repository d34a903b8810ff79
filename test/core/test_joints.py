"""Joint states go by name: any order, any part, any extra; nothing is ever filled in."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimicik_ros.core.joints import merge
from mimicik_ros.core.types import JointSnapshot

NAMES = ("a", "b", "c")
EMPTY = JointSnapshot.empty(3)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_every_order_of_names_gives_the_same_joints(order):
    snapshot, why = merge(EMPTY, NAMES, [NAMES[i] for i in order], np.array([0.1, 0.2, 0.3])[list(order)], 5.0, 6.0)
    assert why is None
    assert np.array_equal(snapshot.q, [0.1, 0.2, 0.3])


def test_two_partial_messages_complete_each_other_and_keep_their_own_ages():
    first, _ = merge(EMPTY, NAMES, ["c"], np.array([3.0]), 1.0, 10.0)
    both, _ = merge(first, NAMES, ["b", "a"], np.array([2.0, 1.0]), 2.0, 20.0)
    assert np.isnan(first.q[:2]).all()
    assert np.array_equal(both.q, [1.0, 2.0, 3.0])
    assert np.array_equal(both.stamp_s, [2.0, 2.0, 1.0])
    assert np.array_equal(both.receipt_s, [20.0, 20.0, 10.0])


def test_a_missing_joint_is_never_zero():
    snapshot, _ = merge(EMPTY, NAMES, ["a"], np.array([0.0]), 1.0, 1.0)
    assert np.isnan(snapshot.q[1:]).all()


def test_extra_names_change_nothing():
    snapshot, why = merge(EMPTY, NAMES, ["gripper"], np.array([0.04]), 1.0, 1.0)
    assert why is None
    assert snapshot is EMPTY


@pytest.mark.parametrize(("names", "positions"),
                         [([], []), (["a"], []), (["a", "b"], [1.0]), ([], [1.0]), (["a", "a"], [1.0, 2.0])])
def test_a_malformed_message_is_rejected_with_a_reason_and_changes_nothing(names, positions):
    snapshot, why = merge(EMPTY, NAMES, names, np.array(positions), 1.0, 1.0)
    assert snapshot is EMPTY
    assert why


@given(st.lists(st.sampled_from([*NAMES, "x", "y"]), unique=True, min_size=1), st.floats(-3, 3))
def test_only_named_joints_change_and_the_old_snapshot_stays(names, value):
    old = JointSnapshot(np.zeros(3), np.ones(3), np.ones(3))
    new, _ = merge(old, NAMES, names, np.full(len(names), value), 2.0, 2.0)
    assert np.array_equal(new.q, [value if name in names else 0.0 for name in NAMES])
    assert np.array_equal(old.q, np.zeros(3))
