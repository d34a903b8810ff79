"""Two arms in one graph, /left and /right: each its own node, one model file, and nothing of one moves the other.

ros2 launch mimicik_ros dual_arm.launch.py                    # real drivers at /left and /right
ros2 launch mimicik_ros dual_arm.launch.py fake_arm:=true     # nothing real moves

Where the arms stand is in the parameter file (mount). Every argument of mimicik.launch.py is taken as well, for both arms.
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription

_SHARE = Path(__file__).resolve().parent.parent
_SWITCH = ["true", "false"]
SIDES = ("left", "right")
ARGUMENTS = (
    DeclareLaunchArgument("params_file", default_value=str(_SHARE / "config" / "dual_airbot.yaml"),
                          description="YAML file with the parameters of both arms; /left/** and /right/** differ"),
    DeclareLaunchArgument("use_sim_time", default_value="false", choices=_SWITCH, description="take the time from /clock"),
    DeclareLaunchArgument("state_publisher", default_value="true", choices=_SWITCH,
                          description="start robot_state_publisher for each arm, and publish where it stands"),
    DeclareLaunchArgument("marker", default_value="true", choices=_SWITCH, description="start a handle for RViz for each arm"),
    DeclareLaunchArgument("rviz", default_value="true", choices=_SWITCH, description="start one RViz with both arms"),
    DeclareLaunchArgument("rviz_config", default_value=str(_SHARE / "config" / "dual_arm.rviz"),
                          description="RViz configuration"),
)
_PASSED = ("params_file", "use_sim_time", "state_publisher", "marker")


def generate_launch_description():
    """Arguments, one arm a side, and RViz."""
    # A scope for each arm, or the namespace of the second would be that of the first as well.
    arms = [GroupAction(scoped=True, actions=[IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(_SHARE / "launch" / "mimicik.launch.py")),
        launch_arguments={"namespace": side, "rviz": "false", **{name: LaunchConfiguration(name) for name in _PASSED}}.items(),
    )]) for side in SIDES]
    rviz = Node(package="rviz2", executable="rviz2", name="rviz2", arguments=["-d", LaunchConfiguration("rviz_config")],
                parameters=[{"use_sim_time": ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool)}],
                condition=IfCondition(LaunchConfiguration("rviz")))
    return LaunchDescription([*ARGUMENTS, *arms, rviz])
