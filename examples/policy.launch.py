"""A policy beside a running mimicik node (mimicik.launch.py or demo.launch.py), in the namespace of its arm.

ros2 launch mimicik_ros policy.launch.py policy:=my_module:my_policy
ros2 launch mimicik_ros policy.launch.py kind:=openpi params_file:=my_openpi.yaml
"""

import sys
from pathlib import Path

from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.conditions import IfCondition
from launch.substitutions import EqualsSubstitution, LaunchConfiguration

from launch import LaunchDescription

_HERE = Path(__file__).resolve().parent


def generate_launch_description():
    """Arguments and one of the two nodes."""
    ros_args = ["--ros-args", "-r", ["__ns:=/", LaunchConfiguration("namespace")]]
    return LaunchDescription([
        DeclareLaunchArgument("kind", default_value="callable", choices=["callable", "openpi"],
                              description="a Python callable, or a client of an openpi policy server"),
        DeclareLaunchArgument("namespace", default_value="", description="namespace of the arm, for example left"),
        DeclareLaunchArgument("policy", default_value="circle_policy:circle",
                              description="module:callable, from the current folder or the Python path"),
        DeclareLaunchArgument("params_file", default_value=str(_HERE / "openpi.yaml"),
                              description="YAML file with the openpi client's parameters"),
        ExecuteProcess(
            cmd=[sys.executable, str(_HERE / "policy_chunks.py"), *ros_args, "-p", ["policy:=", LaunchConfiguration("policy")]],
            output="screen", condition=IfCondition(EqualsSubstitution(LaunchConfiguration("kind"), "callable"))),
        ExecuteProcess(
            cmd=[sys.executable, str(_HERE / "openpi_policy.py"), *ros_args,
                 "--params-file", LaunchConfiguration("params_file")],
            output="screen", condition=IfCondition(EqualsSubstitution(LaunchConfiguration("kind"), "openpi"))),
    ])
