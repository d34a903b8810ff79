"""Every baseline through the real tick: it reaches what is near, keeps the limits, and takes what it cannot reach calmly."""

import dataclasses
import gc

import numpy as np
import pytest

from mimicik_ros.config import Config
from mimicik_ros.core import dls, se3
from mimicik_ros.core.kinematics import Kinematics, residual
from mimicik_ros.core.limits import JointLimits
from mimicik_ros.core.servo import IKServo
from mimicik_ros.evaluation.baselines import registry
from mimicik_ros.evaluation.rollout import rollout, without_gates, without_step_guard
from mimicik_ros.evaluation.streams import Stream, read_stream
from mimicik_ros.share import share_path

CONFIG = without_gates(Config())
ROBOT = CONFIG.robot
KIN = Kinematics(share_path(ROBOT.urdf), ROBOT.base_frame, ROBOT.tool_frame, ROBOT.joint_names)
LIMITS = JointLimits.from_config(CONFIG, KIN)
HOME = np.array([0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708])
RACES = ("trac-ik", "curobo")  # threads or a GPU: not the same answer twice
ITERATED = tuple(name for name in registry.NAMES if name != "dls-one")
SOLVERS = {}


def solver_of(name):
    if name not in SOLVERS:
        SOLVERS[name] = registry.unavailable(name) or registry.make(name, KIN, CONFIG)
    if isinstance(SOLVERS[name], str):
        assert name == "curobo", SOLVERS[name]  # the only one that a test machine may lack
        pytest.skip(SOLVERS[name])
    return SOLVERS[name]


def still(poses, ticks=1):
    T = np.repeat(np.asarray(poses), ticks, axis=0)
    return Stream(0.05 * np.arange(len(T)), T[:, :3, 3], se3.quat_from_rotation(T[:, :3, :3]))


def within_limits(q, start):
    steps = np.diff(np.vstack([start, start, q]), axis=0) / 0.05
    assert np.isfinite(q).all()
    assert (q >= LIMITS.lower - 1e-9).all() and (q <= LIMITS.upper + 1e-9).all()
    assert np.abs(steps).max() <= LIMITS.velocity.max() + 1e-6
    assert np.abs(np.diff(steps, axis=0)).max() <= LIMITS.acceleration.max() * 0.05 + 1e-6


@pytest.mark.parametrize("name", registry.NAMES)
def test_random_near_targets_are_reached_within_the_limits(name):
    servo = IKServo(KIN, None, CONFIG, solver_of(name))
    rng = np.random.default_rng(3)
    for _ in range(12):
        start = rng.uniform(LIMITS.lower + 0.3, LIMITS.upper - 0.3)
        start[4] = rng.choice([-1.0, 1.0]) * rng.uniform(0.4, 1.2)
        goal = KIN.fk(start + rng.uniform(-0.15, 0.15, 6))
        done = rollout(servo, still([goal], 40), start)
        within_limits(done.q, start)
        gap = residual(KIN.fk(done.q[-1]), goal)
        assert gap.position_m < (1e-3 if name == "dls-one" else 2e-4)
        assert gap.rotation_rad < (3.4e-3 if name == "dls-one" else 1e-3)
        assert done.status[-1] == "ok"


@pytest.mark.parametrize("name", ITERATED)
def test_the_shipped_stream_is_followed_strictly(name):
    stream = read_stream(share_path("config/demo_stream.csv"))
    part = Stream(stream.t_s[:60], stream.position_m[:60], stream.quat_xyzw[:60])
    done = rollout(IKServo(KIN, None, CONFIG, solver_of(name)), part, HOME)
    assert set(done.status) == {"ok"}
    within_limits(done.q, HOME)


@pytest.mark.parametrize("name", registry.NAMES)
def test_the_source_of_its_commands_is_its_name(name):
    seen = []

    class Heard(IKServo):
        def step(self, state, tick_input):
            seen.append(super().step(state, tick_input))
            return seen[-1]

    rollout(Heard(KIN, None, CONFIG, solver_of(name)), still([KIN.fk(HOME + 0.02)], 2), HOME)
    assert [result.source for result in seen] == [name, name]


@pytest.mark.parametrize("name", [name for name in registry.NAMES if name not in RACES])
def test_the_same_input_gives_the_same_commands_to_the_bit(name):
    stream = still([KIN.fk(HOME + 0.1), KIN.fk(HOME - 0.1)], 10)
    first, second = (rollout(IKServo(KIN, None, CONFIG, registry.make(name, KIN, CONFIG)), stream, HOME).q for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", registry.NAMES)
def test_targets_out_of_reach_neither_raise_nor_break_a_limit(name):
    far = KIN.fk(HOME)
    far[:3, 3] = [1.5, 0.2, 0.4]
    behind = np.eye(4)
    behind[:3, 3] = [-0.05, 0.0, 0.1]
    done = rollout(IKServo(KIN, None, CONFIG, solver_of(name)), still([far, behind, KIN.fk(HOME)], 30), HOME)
    within_limits(done.q, HOME)
    assert not {"internal_error", "non_finite", "branch_jump"} & set(done.status)
    assert {"no_improvement", "not_converged", "limited"} & set(done.status)


@pytest.mark.parametrize("name", registry.NAMES)
def test_a_proposal_never_leaves_the_box_that_the_tick_allows(name):
    solver, rng = solver_of(name), np.random.default_rng(4)
    for _ in range(30):
        q = rng.uniform(LIMITS.lower, LIMITS.upper)
        low, high = np.maximum(LIMITS.lower, q - 0.05), np.minimum(LIMITS.upper, q + 0.03)
        found = solver.solve(q, KIN.fk(q), KIN.fk(rng.uniform(LIMITS.lower, LIMITS.upper)), low, high)
        assert (q + found.proposal.delta_q >= low - 1e-12).all()
        assert (q + found.proposal.delta_q <= high + 1e-12).all()


@pytest.mark.parametrize("name", registry.NAMES)
def test_an_arm_that_cannot_stay_where_it_is_gets_a_proposal_inside_its_box(name):
    low, high = HOME + 0.01, HOME + 0.06  # it moves at 1 rad/s and may only slow down
    found = solver_of(name).solve(HOME, KIN.fk(HOME), KIN.fk(HOME + 0.03), low, high)
    if found.proposal.source == name:
        assert (HOME + found.proposal.delta_q >= low - 1e-12).all()
        assert (HOME + found.proposal.delta_q <= high + 1e-12).all()
        near = residual(KIN.fk(HOME + found.proposal.delta_q), KIN.fk(HOME + 0.03)).position_m
        assert near < residual(KIN.fk(HOME), KIN.fk(HOME + 0.03)).position_m
    else:
        assert not found.proposal.delta_q.any()


@pytest.mark.parametrize("name", ITERATED)
def test_without_limits_a_far_jump_is_answered_exactly(name):
    solver, wide = solver_of(name), np.full(6, 5.0)
    goal = KIN.fk(HOME + np.array([0.4, 0.3, -0.3, 0.3, 0.4, -0.5]))
    low, high = np.maximum(LIMITS.lower, HOME - wide), np.minimum(LIMITS.upper, HOME + wide)
    found = solver.solve(HOME, KIN.fk(HOME), goal, low, high)
    gap = residual(KIN.fk(HOME + found.proposal.delta_q), goal)
    assert gap.position_m < 1e-4 and gap.rotation_rad < 1e-3


def test_dls_one_takes_a_single_step(monkeypatch):
    asked = []
    real = dls.refine
    monkeypatch.setattr(dls, "refine", lambda *a: asked.append(a[5]) or real(*a))
    q = HOME
    assert solver_of("dls-one").solve(q, KIN.fk(q), KIN.fk(q + 0.1), q - 0.2, q + 0.2).refine_steps == 1
    assert asked == [1]


def test_the_step_guard_opens_as_far_as_the_joints_are_fast_and_never_closes():
    fast = dataclasses.replace(ROBOT, velocity_limits_rad_s=(100.0,) * 6)
    assert without_step_guard(dataclasses.replace(CONFIG, robot=fast)).servo.max_joint_step_rad == pytest.approx(5.0)
    assert without_step_guard(CONFIG).servo.max_joint_step_rad == 0.5


def test_pybullet_clients_are_given_back():
    import pybullet

    solver = registry.make("pybullet", KIN, CONFIG)
    client = solver.pose_solver.close.peek()[2][0]
    assert pybullet.isConnected(client)
    del solver
    gc.collect()
    assert not pybullet.isConnected(client)
