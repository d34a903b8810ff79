"""What the plots show, computed by hand."""

import numpy as np

from mimicik_ros.core.types import JointSnapshot, Residual
from mimicik_ros.ros.web.history import History


def joints(q, stamp_s):
    return JointSnapshot(np.array(q), np.full(2, stamp_s), np.full(2, stamp_s))


def test_velocity_is_the_step_over_the_stamps_in_percent_of_the_limit():
    history = History(np.array([2.0, 0.5]))
    history.add(0.0, joints([0.0, 0.0], 5.0), None)
    history.add(0.3, joints([0.1, -0.05], 5.1), None)  # 1 rad/s of 2, -0.5 rad/s of 0.5
    assert np.allclose(history.velocity_percent[-1], [50.0, -100.0])


def test_residual_is_in_mm_and_degrees_and_times_are_relative_to_the_newest():
    history = History(np.ones(2))
    history.add(3.0, joints([0.0, 0.0], 1.0), Residual(0.002, np.pi / 180))
    history.add(3.5, joints([0.0, 0.0], 1.5), None)
    mm, deg = history.residual_mm_deg
    assert np.allclose([mm[0], deg[0]], [2.0, 1.0]) and np.isnan([mm[1], deg[1]]).all()
    assert np.allclose(history.age_s, [-0.5, 0.0])


def test_joint_states_that_do_not_come_give_a_gap_and_no_velocity():
    history = History(np.ones(2))
    for t in (0.0, 0.1):
        history.add(t, joints([0.1, 0.2], 1.0), None)
    history.add(0.2, JointSnapshot.empty(2), None)
    assert np.isnan(history.velocity_percent).all()


def test_only_the_last_rows_are_kept():
    history = History(np.ones(2), rows=3)
    for t in range(10):
        history.add(float(t), joints([0.0, 0.0], float(t)), None)
    assert np.allclose(history.age_s, [-2.0, -1.0, 0.0])
