"""A solver that is not ours, inside the tick: used as it is while it behaves, harmless with an exact status otherwise."""

import numpy as np
import pytest

from mimicik_ros import config
from mimicik_ros.core import se3
from mimicik_ros.core.servo import IKServo
from mimicik_ros.core.solve_tick import Solution, TickSolver
from mimicik_ros.core.status import Mode, Status
from mimicik_ros.core.types import JointSnapshot, Proposal, ServoState, TargetSample, TickInput

DT = 0.05
HOME = np.array([0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708])
CONFIG = config.Config()
KIN = IKServo.from_config(CONFIG, "dls").kinematics


class Says:
    """A solver that says what it was told to: a step, a Solution, None or an exception."""

    def __init__(self, answer):
        self.answer = answer

    def solve(self, q_ref, T_ref, T_governed, low, high):
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is None or isinstance(self.answer, Solution):
            return self.answer
        return Solution(Proposal(self.answer, "told"))


def tick_input(now, q, T):
    joints = JointSnapshot(q, np.full(6, 100.0 + now), np.full(6, now))
    target = TargetSample(T[:3, 3], se3.quat_from_rotation(T[:3, :3]), "base_link", 100.0 + now, now)
    return TickInput(100.0 + now, now, joints, target)


def first_tick(answer, T):
    return IKServo(KIN, None, CONFIG, Says(answer)).step(ServoState(), tick_input(1.0, HOME, T))


def test_its_step_leaves_as_the_command_and_its_name_is_the_source():
    step = np.array([0.001, 0.0, 0.0, 0.0, 0.0, -0.002])
    result = first_tick(step, KIN.fk(HOME + step))
    np.testing.assert_allclose(result.q_command, HOME + step, atol=1e-15)
    assert result.source == "told"
    assert result.mode is Mode.ENGAGING


@pytest.mark.parametrize(("answer", "status"), [
    (None, Status.NO_IMPROVEMENT),
    (np.full(6, np.nan), Status.NON_FINITE),
    (np.array([0, 0, np.inf, 0, 0, 0]), Status.NON_FINITE),
    (np.zeros(5), Status.NON_FINITE),
    (np.array([0, 0, 0, 0.51, 0, 0]), Status.BRANCH_JUMP),
    (Solution(Proposal(np.zeros(6), "told"), refused=Status.NON_FINITE), Status.NON_FINITE),
])
def test_what_may_not_be_used_moves_nothing_and_is_named(answer, status):
    result = first_tick(answer, KIN.fk(HOME + 0.1))
    assert result.status is status
    assert result.source == "none"
    assert np.array_equal(result.q_command, HOME)


@pytest.mark.parametrize("answer", [RuntimeError("no licence"), np.array(["a"] * 6)])
def test_an_exception_in_it_is_an_internal_error_and_not_one_of_the_tick(answer):
    result = first_tick(answer, KIN.fk(HOME + 0.1))
    assert result.status is Status.INTERNAL_ERROR
    assert result.detail


def test_it_cannot_change_the_state_that_the_tick_was_given():
    class Scribbles:
        def solve(self, q_ref, T_ref, T_governed, low, high):
            for array in (q_ref, T_ref, T_governed, low, high):
                array[:] = 0.0
            return Solution(Proposal(np.zeros(6), "scribbles"))

    servo = IKServo(KIN, None, CONFIG, Scribbles())
    state = ServoState(mode=Mode.TRACKING, q_ref=HOME.copy(), velocity_rad_s=np.zeros(6), last_steady_s=0.95, engage_start_s=0.0)
    result = servo.step(state, tick_input(1.0, HOME, KIN.fk(HOME + 0.01)))
    assert np.array_equal(state.q_ref, HOME)
    assert np.array_equal(result.q_command, HOME)


def test_our_own_solver_as_an_object_gives_the_very_same_commands_as_by_its_name():
    T, q = KIN.fk(HOME + 0.1), HOME
    named = IKServo(KIN, None, CONFIG, "dls")
    given = IKServo(KIN, None, CONFIG, TickSolver(KIN, None, CONFIG.servo, "dls"))
    for i in range(30):
        a, b = named.tick(tick_input(1.0 + i * DT, q, T)), given.tick(tick_input(1.0 + i * DT, q, T))
        assert np.array_equal(a.q_command, b.q_command)
        assert (a.status, a.source) == (b.status, b.source)
        q = a.q_command


def test_it_stays_when_the_configuration_changes():
    solver = Says(None)
    servo = IKServo(KIN, None, CONFIG, solver).with_config(config.from_flat({"engage.ramp_s": 0.0}))
    assert servo.solver is solver
