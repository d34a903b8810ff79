"""A client of an openpi policy server: joints, cameras and a prompt go out, actions come back as chunks on mimicik/target_path.

    python3 openpi_policy.py --ros-args --params-file openpi.yaml -p uri:=ws://gpu-machine:8000

Parameters are explained in openpi.yaml, frames, units and timing in docs/vla.md. It never enables the arm.
"""

import os
import sys
import time

import numpy as np
from geometry_msgs.msg import PoseStamped
from policy_chunks import PolicyChunks, main
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import CompressedImage, Image
from std_msgs.msg import Float64

from mimicik_ros.config import RobotConfig
from mimicik_ros.core import se3
from mimicik_ros.core.errors import ConfigError, MimicIKError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.ros.conversions import target_sample
from mimicik_ros.ros.openpi.actions import ActionSpace, choice
from mimicik_ros.ros.openpi.observation import Observer
from mimicik_ros.ros.openpi.server import PolicyServer
from mimicik_ros.share import share_path


class OpenPIPolicy(PolicyChunks):
    """The template with an observer in front of it and a server behind it; arguments are passed to rclpy's Node."""

    def __init__(self, **kwargs):
        super().__init__(policy=self.ask, name="openpi_policy", **kwargs)
        robot = RobotConfig()
        kinematics = Kinematics(
            share_path(self.value("urdf", robot.urdf)), self.frame, self.value("tool_frame", robot.tool_frame),
            tuple(self.value("joint_names", list(robot.joint_names))))
        cameras = [entry.partition("=") for entry in self.value("images", [""]) if entry]  # ROS has no empty list with a type
        self.observer = Observer(
            kinematics, self.value("state", ["joints", "gripper"]), self.value("gripper_joint", "gripper"),
            [key for key, _, _ in cameras], self.value("image_size_px", 224), self.value("max_age_s", 0.5))
        for key, _, topic in cameras:
            self.watch(key, topic)
        self.value("prompt", "")  # read at each observation: a new task is a new value
        self.keys = [self.value(*k) for k in (
            ("state_key", "observation/state"), ("prompt_key", "prompt"), ("actions_key", "actions"))]
        self.space = ActionSpace(**{name: self.value(f"action.{name}", default) for name, default in (
            ("kind", "absolute"), ("rotation", "quat_xyzw"), ("gripper", False), ("delta_frame", "base"), ("position_scale", 1.0),
            ("rotation_scale", 1.0), ("gripper_scale", 1.0), ("gripper_offset", 0.0))})
        self.command = (None, -np.inf)  # last commanded pose (4, 4) and its receipt, where deltas are to start from it
        if choice("action.anchor", self.value("action.anchor", "measured"), ("measured", "command")) == "command":
            self.create_subscription(PoseStamped, f"{self.target}/command_pose", self.hear_command, qos_profile_sensor_data)
        if self.space.kind == "delta_step":
            self.first_pose_ns += self.period_ns  # a step takes its period: the first pose is where the first step leads
        self.server = PolicyServer(
            self.value("uri", "ws://localhost:8000"), os.environ.get("OPENPI_API_KEY", ""),
            answer_timeout_s=self.value("answer_timeout_s", 5.0),
            first_answer_timeout_s=self.value("first_answer_timeout_s", 120.0),
            connected=lambda metadata: self.get_logger().info(f"connected; the server says {metadata}"))
        self.gripper = (0, [])  # when its first value is due (ns), and the values
        self.grippers = self.create_publisher(Float64, f"{self.target}/target_gripper", 1)
        self.create_timer(self.period_ns * 1e-9, self.send_gripper)

    def watch(self, key, topic):
        if not key or not topic:
            raise ConfigError("images has entries of the form key=topic, for example observation/image=/camera/image_raw")
        kind = CompressedImage if topic.endswith("/compressed") else Image
        self.create_subscription(
            kind, topic, lambda message: self.observer.take_image(key, message, time.monotonic()), qos_profile_sensor_data)

    def hear(self, message):
        self.observer.take_joints(message, time.monotonic())

    def hear_command(self, message):
        sample = target_sample(message, time.monotonic())
        self.command = (se3.pose_from_quat(sample.position_m, sample.quat_xyzw), sample.receipt_s)

    def observe(self):
        now_s = time.monotonic()
        prompt = self.get_parameter("prompt").value
        asked = {self.keys[1]: prompt} if prompt else {}  # without one the server may put in its own
        T_base_tool = self.command[0] if now_s - self.command[1] < self.observer.max_age_s else (
            self.observer.kinematics.fk(self.observer.q(now_s)))
        return T_base_tool, {self.keys[0]: self.observer.state(now_s), **asked, **self.observer.images(now_s)}

    def ask(self, seen):
        T_base_tool, observation = seen
        answer = self.server.infer(observation)
        if self.keys[2] not in answer:
            raise LookupError(f"the answer has no '{self.keys[2]}', only {', '.join(map(str, answer))}")
        poses, self.pending = self.space.decode(answer[self.keys[2]], T_base_tool)
        return poses

    def send(self, poses, seen_ns):
        super().send(poses, seen_ns)
        start_ns = seen_ns + self.first_pose_ns
        ahead_s = 1e-9 * (start_ns + (len(poses) - 1) * self.period_ns - self.get_clock().now().nanoseconds)
        self.get_logger().info(f"chunks of {len(poses)} poses, the last one {ahead_s:.2f} s from now", throttle_duration_sec=10.0)
        if self.pending is not None:  # only now: a chunk that is refused closes no gripper
            self.gripper = (start_ns, self.pending.tolist())

    def send_gripper(self):
        start_ns, values = self.gripper
        step = (self.get_clock().now().nanoseconds - start_ns) // self.period_ns
        if 0 <= step < len(values):
            self.grippers.publish(Float64(data=values[step]))


if __name__ == "__main__":
    try:
        main(OpenPIPolicy)
    except MimicIKError as error:
        sys.exit(f"error: {error}")
