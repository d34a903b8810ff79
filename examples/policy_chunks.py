"""A policy as a node: any callable, observation -> poses, becomes timed chunks on mimicik/target_path (docs/vla.md).

    python3 policy_chunks.py --ros-args -p policy:=my_module:my_policy -p rate_hz:=2.0 -p period_s:=0.05
"""

import importlib
import os
import sys
import threading
import time

import numpy as np
import rclpy
from nav_msgs.msg import Path
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

from mimicik_ros.ros.chunks import path_message


class PolicyChunks(Node):
    """Asks policy(observation) at rate_hz for (n, 7) rows x y z qx qy qz qw: metres, in `frame`, period_s apart."""

    def __init__(self, policy=None, name="policy", **kwargs):
        super().__init__(name, **kwargs)
        module, _, attribute = self.value("policy", "circle_policy:circle").partition(":")
        self.policy = policy or getattr(importlib.import_module(module), attribute)
        self.frame, self.target = self.value("frame", "base_link"), self.value("target", "mimicik")
        self.period_ns, self.first_pose_ns = (round(1e9 * self.value(*p)) for p in (("period_s", 0.05), ("first_pose_s", 0.0)))
        self.joints, self.heard_s = {}, -np.inf
        self.paths = self.create_publisher(Path, f"{self.target}/target_path", 1)
        self.create_subscription(JointState, "joint_states", self.hear, qos_profile_sensor_data)
        self.due = threading.Event()  # a policy may think for long: it has a thread of its own, callbacks only copy
        self.create_timer(1.0 / self.value("rate_hz", 2.0), self.due.set)
        threading.Thread(target=self.work, daemon=True).start()

    def value(self, name, default):
        return self.declare_parameter(name, default).value

    def hear(self, message):
        self.joints = {**self.joints, **dict(zip(message.name, message.position, strict=False))}  # messages may be partial
        self.heard_s = time.monotonic()

    def observe(self):
        """What the policy sees; raise to say what is missing. Add images, a prompt, forces."""
        if time.monotonic() - self.heard_s > 0.5:
            raise LookupError("no joint_states for 0.5 s")
        return {"joints": self.joints}

    def work(self):
        while rclpy.ok(context=self.context):
            if self.due.wait(timeout=0.1):
                self.due.clear()
                try:
                    seen_ns = self.get_clock().now().nanoseconds  # a chunk counts from what the policy saw, not from its answer
                    self.send(np.asarray(self.policy(self.observe()), dtype=float), seen_ns)
                except Exception as error:  # whatever a policy throws: no chunk leaves, and the arm holds after the last one
                    self.get_logger().error(f"no chunk: {type(error).__name__}: {error}", throttle_duration_sec=1.0)

    def send(self, poses, seen_ns):
        now_ns = self.get_clock().now().nanoseconds
        self.paths.publish(path_message(poses, self.frame, seen_ns, seen_ns + self.first_pose_ns, self.period_ns, now_ns))


def main(node_class=PolicyChunks):
    sys.path.append(os.getcwd())  # where my_module lies
    rclpy.init()
    try:
        rclpy.spin(node_class())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
