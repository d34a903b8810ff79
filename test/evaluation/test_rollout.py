"""The closed loop: the shipped model follows the shipped stream strictly, and the solvers are what they say."""

import numpy as np
import pytest

from mimicik_ros.config import Config
from mimicik_ros.core.servo import IKServo
from mimicik_ros.evaluation import metrics
from mimicik_ros.evaluation.heldout import heldout
from mimicik_ros.evaluation.rollout import rollout, without_gates
from mimicik_ros.evaluation.streams import read_stream
from mimicik_ros.share import share_path

HOME = np.array([0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708])


@pytest.fixture(scope="module")
def servo():
    return IKServo.from_config(without_gates(Config()))


def test_the_shipped_stream_is_followed_strictly_and_within_limits(servo):
    stream = read_stream(share_path("config/demo_stream.csv"))
    done = rollout(servo, stream, HOME)
    errors = metrics.pose_errors(servo.kinematics.fk_batch(done.q), stream.poses)
    assert metrics.accuracy(*errors)["strict_percent"] == 100.0
    assert set(done.status) == {"ok"}
    robot, k = servo.config.robot, servo.kinematics
    assert metrics.limit_violations(np.vstack([HOME, done.q]), 0.05, k.lower, k.upper, np.array(robot.velocity_limits_rad_s),
                                    np.array(robot.acceleration_limits_rad_s2)) == 0


def test_a_second_run_gives_the_same_commands(servo):
    stream = read_stream(share_path("config/demo_stream.csv"))
    np.testing.assert_array_equal(rollout(servo, stream, HOME).q, rollout(servo, stream, HOME).q)


def test_the_shipped_model_alone_meets_its_bars(servo):
    # Steps of uniform +-0.0372 rad: standing still would cost 17.1 mm, the size for which models/README.md states them.
    figures = heldout(servo.policy, servo.kinematics, 20_000, step_rad=0.0372)
    assert figures["no_motion_mean_mm"] == pytest.approx(17.1, abs=0.3)
    assert figures["position_mean_mm"] <= 0.25
    assert figures["within_1mm_percent"] >= 97.0
    assert figures["rotation_mean_deg"] <= 0.08


def test_held_out_steps_are_as_large_as_they_say(servo):
    small, large = (heldout(servo.policy, servo.kinematics, 500, step_rad=s) for s in (0.01, 0.06))
    assert large["no_motion_mean_mm"] == pytest.approx(6 * small["no_motion_mean_mm"], rel=0.05)
