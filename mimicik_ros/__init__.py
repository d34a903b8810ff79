"""Real-time learned inverse kinematics for ROS 2, checked by forward kinematics on every tick."""

__version__ = "0.1.0"
