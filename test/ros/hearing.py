"""What surrounds a policy node in tests: a driver that reports its joints, and a subscriber of chunks as mimicik has one."""

import time

import rclpy
from nav_msgs.msg import Path
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from mimicik_ros.ros.fake_arm import GOOD_HOME_RAD
from mimicik_ros.ros.qos import TARGET_QOS

NAMES = [f"joint{i}" for i in range(1, 7)]


class Hearing:
    """One executor for all of it. Joints come in two partial messages, as from two drivers."""

    def __init__(self):
        self.executor = SingleThreadedExecutor()
        self.helper = rclpy.create_node("hearing")
        self.nodes, self.paths, self.send_joints, self.extra = [self.helper], [], True, {}
        self.executor.add_node(self.helper)
        self.helper.create_subscription(Path, "mimicik/target_path", self.paths.append, TARGET_QOS)
        self.joints = self.helper.create_publisher(JointState, "joint_states", 10)
        self.helper.create_timer(0.02, self.send)

    def send(self):
        for half in (slice(0, 3), slice(3, 6)) if self.send_joints else ():
            names, positions = [*NAMES[half], *self.extra], [*GOOD_HOME_RAD[half], *self.extra.values()]
            self.joints.publish(JointState(name=names, position=positions))

    def add(self, node_class, *args, **values):
        overrides = [Parameter(name, value=value) for name, value in values.items()]
        node = node_class(*args, parameter_overrides=overrides)
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def until(self, condition, what, seconds=20.0):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"waited {seconds} s for: {what}"
            self.executor.spin_once(timeout_sec=0.02)

    def close(self):
        self.executor.shutdown()
        for node in self.nodes:
            node.destroy_node()
