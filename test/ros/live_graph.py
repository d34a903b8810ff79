"""Real rclpy in this process: an own domain, one executor, and waiting for conditions with a limit, never for luck."""

import os
import time

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed; see the README for the ros extra")
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
os.environ["ROS_DOMAIN_ID"] = str(1 + os.getpid() % 100)

import rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool, Trigger

from mimicik_ros.core import se3
from mimicik_ros.ros import conversions
from mimicik_ros.ros.fake_arm import FakeArm
from mimicik_ros.ros.node import MimicIKNode
from mimicik_ros.ros.qos import TARGET_QOS
from mimicik_ros.ros.recorder import Recorder

NAMES = tuple(f"joint{i}" for i in range(1, 7))
WAIT_S = 20.0
# Tests that share a machine with other work must not fail for its pace: joint states may come late here.
PATIENT = {"freshness.joints_timeout_s": 2.0, "freshness.target_timeout_s": 1.0, "engage.max_pause_s": 5.0}


class Graph:
    """Node, fake arm, recorder and a target source on one executor."""

    def __init__(self, node=None, arm=None, node_class=MimicIKNode, remap=(), states_topic="joint_states"):
        self.executor = SingleThreadedExecutor()
        self.nodes = []
        overrides = {**PATIENT, **(node or {})}
        cli_args = ["--ros-args", *(part for rule in remap for part in ("-r", rule))] if remap else None
        self.node = self.add(node_class(parameter_overrides=parameters(overrides), cli_args=cli_args))
        arm_remap = ["--ros-args", "-r", f"joint_states:={states_topic}"]
        self.arm = self.add(FakeArm(parameter_overrides=parameters({"lag_s": 0.02, **(arm or {})}), cli_args=arm_remap))
        names = tuple(overrides.get("robot.driver_prefix", "") + name for name in NAMES)
        self.recorder = self.add(Recorder(names, overrides.get("output.type", "joint_state"), cli_args=cli_args))
        self.helper = self.add(rclpy.create_node("helper"))
        self.targets = self.helper.create_publisher(PoseStamped, "mimicik/target_pose", TARGET_QOS)
        self.timer = None

    def add(self, node):
        self.executor.add_node(node)
        self.nodes.append(node)
        return node

    def close(self):
        self.executor.shutdown()
        for node in reversed(self.nodes):
            node.destroy_node()

    # --- waiting
    def until(self, condition, what, seconds=WAIT_S):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"waited {seconds} s for: {what}; last status {self.status()}"
            self.executor.spin_once(timeout_sec=0.02)

    def ticks(self, count):
        goal = len(self.statuses()) + count
        self.until(lambda: len(self.statuses()) >= goal, f"{count} ticks")

    # --- what the node says
    def statuses(self):
        return self.recorder.rows("status")

    def status(self):
        rows = self.statuses()
        return rows[-1]["values"]["status"] if rows else None

    def until_status(self, label):
        self.until(lambda: self.status() == label, f"status {label}")

    def commands(self):
        return np.array([row["q"] for row in self.recorder.rows("joint_command")])

    # --- what is said to the node
    def start(self):
        assert self.node.autostart(), self.node.failure
        self.until(lambda: self.recorder.rows("joint_states"), "joint states")
        self.until(lambda: self.targets.get_subscription_count() >= 2, "the node and the recorder hear targets")
        self.until(lambda: self.node.count_subscribers(self.node.resolve_topic_name("joint_command")) >= 2, "the arm listens")

    def call(self, kind, name, **fields):
        client = self.helper.create_client(kind, f"mimicik/{name}")
        self.until(client.service_is_ready, f"service {name}")
        future = client.call_async(kind.Request(**fields))
        self.until(future.done, f"answer of {name}")
        self.helper.destroy_client(client)
        return future.result()

    def enable(self, data=True):
        return self.call(SetBool, "enable", data=data)

    def trigger(self, name):
        return self.call(Trigger, name)

    def home_pose(self):
        return self.node.session.servo.kinematics.fk(np.array(self.recorder.rows("joint_states")[0]["q"]))

    def send(self, T, frame="base_link", quat=None, offset_s=0.0, position=None, stamp_s=None):
        if stamp_s is None:
            stamp_s = self.helper.get_clock().now().nanoseconds * 1e-9 + offset_s
        now = conversions.stamp(stamp_s)
        self.targets.publish(conversions.target_message(
            T[:3, 3] if position is None else position, se3.quat_from_rotation(T[:3, :3]) if quat is None else quat, frame, now))

    def stream(self, make, period_s=0.02):
        """Send make(seconds since now) as a message (a call of send) until told otherwise."""
        self.silence()
        start = time.monotonic()
        self.timer = self.helper.create_timer(period_s, lambda: make(time.monotonic() - start))

    def silence(self):
        if self.timer is not None:
            self.helper.destroy_timer(self.timer)
            self.timer = None

    def track(self):
        """Engage on a slow circle of 20 mm around the home pose and follow it."""
        self.engage_on_a_circle()
        self.until(lambda: self.statuses()[-1]["values"]["mode"] == "TRACKING", "mode TRACKING")

    def engage_on_a_circle(self):
        """As track, for an arm that may not follow."""
        self.start()
        T = self.home_pose()

        def circle(t):
            move = T.copy()
            angle = 1.0 * t
            move[:3, 3] += 0.02 * np.array([0.0, np.sin(angle), 1.0 - np.cos(angle)])
            self.send(move)

        self.stream(circle)
        self.until_status("disabled")
        assert self.enable().success

    # --- the promise
    def assert_within_limits(self):
        """Every command that left lies in the position, velocity and acceleration limits, one period apart, beginning at rest.
        """
        q = self.commands()
        start = np.array(self.recorder.rows("joint_states")[0]["q"])
        robot, period_s = self.node.config.robot, self.node.config.command_period_s
        assert np.all(np.isfinite(q))
        limits = np.array(POSITION_LIMITS)
        slack = 1e-9
        assert np.all(q >= limits[:, 0] - slack) and np.all(q <= limits[:, 1] + slack)
        velocity = np.diff(np.vstack([start, q]), axis=0) / period_s
        assert np.all(np.abs(velocity) <= np.array(robot.velocity_limits_rad_s) * (1 + 1e-6) + 1e-9)
        acceleration = np.diff(np.vstack([np.zeros(6), velocity]), axis=0) / period_s
        assert np.all(np.abs(acceleration) <= np.array(robot.acceleration_limits_rad_s2) * (1 + 1e-6) + 1e-6)
        return q


# J1..J6 as the vendor's table gives them, written down here so that the URDF cannot excuse itself.
POSITION_LIMITS = [(-3.1416, 2.0944), (-2.9671, 0.17453), (-0.087266, 3.1416), (-3.0107, 3.0107), (-1.7628, 1.7628),
                   (-3.0107, 3.0107)]


def parameters(values):
    return [Parameter(name, value=value) for name, value in values.items()]
