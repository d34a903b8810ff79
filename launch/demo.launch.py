"""The node with the fake arm, robot_state_publisher and RViz: nothing real moves.

ros2 launch mimicik_ros demo.launch.py rviz:=false home:="[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription

_SHARE = Path(__file__).resolve().parent.parent


def generate_launch_description():
    """Arguments, the one-arm launch file and what surrounds it."""
    urdf = (_SHARE / "urdf" / "airbot_play_g2.urdf").read_text(encoding="utf-8")
    namespace = LaunchConfiguration("namespace")
    return LaunchDescription([
        DeclareLaunchArgument("namespace", default_value="", description="namespace of the arm"),
        DeclareLaunchArgument("params_file", default_value=str(_SHARE / "config" / "airbot_play.yaml"),
                              description="YAML file with the node's parameters"),
        DeclareLaunchArgument("home", default_value="[0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708]",
                              description="start of the fake arm (rad)"),
        DeclareLaunchArgument("rviz", default_value="true", description="start RViz"),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(_SHARE / "launch" / "mimicik.launch.py")),
            launch_arguments={"namespace": namespace, "params_file": LaunchConfiguration("params_file")}.items(),
        ),
        Node(package="mimicik_ros", executable="mimicik_fake_arm", name="fake_arm", namespace=namespace, output="screen",
             parameters=[{"home_rad": ParameterValue(LaunchConfiguration("home"), value_type=list[float])}]),
        Node(package="robot_state_publisher", executable="robot_state_publisher", namespace=namespace,
             parameters=[{"robot_description": urdf}]),
        Node(package="rviz2", executable="rviz2", arguments=["-d", str(_SHARE / "config" / "demo.rviz")],
             condition=IfCondition(LaunchConfiguration("rviz"))),
    ])
