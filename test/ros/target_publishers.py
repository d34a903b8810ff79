"""Publishers of paths and twists beside a test's graph."""

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Path

from mimicik_ros.ros import conversions
from mimicik_ros.ros.qos import TARGET_QOS


class Paths:
    """Sends chunks on ~/target_path."""

    def __init__(self, g):
        self._g, self._publisher = g, g.helper.create_publisher(Path, "mimicik/target_path", TARGET_QOS)
        g.until(lambda: self._publisher.get_subscription_count() >= 1, "the node listens to paths")

    def send(self, poses, period_s=0.05, frame="base_link", offset_s=0.0):
        """Send T (4, 4) poses, the first one offset_s from now."""
        begin = self._g.helper.get_clock().now().nanoseconds * 1e-9 + offset_s
        message = Path()
        message.header.stamp, message.header.frame_id = conversions.stamp(begin - max(offset_s, 0.0)), frame
        for i, T in enumerate(poses):
            pose: PoseStamped = conversions.pose_message(T, frame, conversions.stamp(begin + i * period_s))
            message.poses.append(pose)
        self._publisher.publish(message)


class Twists:
    """Sends velocities on ~/target_twist."""

    def __init__(self, g):
        self._g, self._publisher = g, g.helper.create_publisher(TwistStamped, "mimicik/target_twist", TARGET_QOS)
        g.until(lambda: self._publisher.get_subscription_count() >= 1, "the node listens to twists")

    def send(self, velocity, frame="base_link"):
        """Send (6,) m/s, rad/s, stamped now."""
        message = TwistStamped()
        message.header.stamp, message.header.frame_id = self._g.helper.get_clock().now().to_msg(), frame
        v, w = message.twist.linear, message.twist.angular
        v.x, v.y, v.z, w.x, w.y, w.z = (float(value) for value in np.asarray(velocity))
        self._publisher.publish(message)
