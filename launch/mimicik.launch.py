"""One arm: the lifecycle node `mimicik` in a namespace, with a parameter file.

ros2 launch mimicik_ros mimicik.launch.py namespace:=left joint_command:=joint_states_command
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode

from launch import LaunchDescription

_SHARE = Path(__file__).resolve().parent.parent


def generate_launch_description():
    """Arguments and the node."""
    return LaunchDescription([
        DeclareLaunchArgument("namespace", default_value="", description="namespace of the arm, for example left"),
        DeclareLaunchArgument("params_file", default_value=str(_SHARE / "config" / "airbot_play.yaml"),
                              description="YAML file with the node's parameters"),
        DeclareLaunchArgument("joint_command", default_value="joint_command", description="topic of the driver's commands"),
        DeclareLaunchArgument("joint_states", default_value="joint_states", description="topic of the driver's joint states"),
        LifecycleNode(
            package="mimicik_ros", executable="mimicik_node", name="mimicik",
            namespace=LaunchConfiguration("namespace"), output="screen",
            parameters=[LaunchConfiguration("params_file")],
            remappings=[("joint_command", LaunchConfiguration("joint_command")),
                        ("joint_states", LaunchConfiguration("joint_states"))],
        ),
    ])
