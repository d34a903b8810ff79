"""The node with a fake arm, driven by recorded motion: what `mimicik demo` does, with RViz. Nothing real moves.

ros2 launch mimicik_ros demo.launch.py rviz:=false stay:=false     # the table of `mimicik demo`, then the end
ros2 launch mimicik_ros demo.launch.py motion:=false               # you lead the arm, by the handle in RViz

Every argument of mimicik.launch.py is taken as well.
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, ExecuteProcess, IncludeLaunchDescription, OpaqueFunction, Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.substitutions import ExecutableInPackage

from launch import LaunchDescription

_SHARE = Path(__file__).resolve().parent.parent
_SWITCH = ["true", "false"]
OWN = (
    DeclareLaunchArgument("namespace", default_value="", description="namespace of the arm"),
    DeclareLaunchArgument("params_file", default_value=str(_SHARE / "config" / "airbot_play.yaml"),
                          description="YAML file with the parameters; each node takes the sections of its own name"),
    DeclareLaunchArgument("motion", default_value="true", choices=_SWITCH,
                          description="play the recorded motion, then print the table and write the picture of `mimicik demo`"),
    DeclareLaunchArgument("seconds", default_value="20", description="length of the motion (s)"),
    DeclareLaunchArgument("out", default_value="demo_out", description="folder of the picture"),
    DeclareLaunchArgument("stay", default_value="true", choices=_SWITCH,
                          description="keep everything running after the motion"),
)
# Arguments of mimicik.launch.py that mean something else by default here.
DEFAULTS = (
    DeclareLaunchArgument("fake_arm", default_value="true", choices=_SWITCH, description="start an arm that is not real"),
    DeclareLaunchArgument("state_publisher", default_value="true", choices=_SWITCH,
                          description="start robot_state_publisher: joint states to tf and the robot model"),
    DeclareLaunchArgument("marker", default_value="true", choices=_SWITCH, description="start the handle for RViz"),
    DeclareLaunchArgument("rviz", default_value="true", choices=_SWITCH, description="start RViz"),
)


def generate_launch_description():
    """Arguments, the one-arm launch file and the motion."""
    arm = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(_SHARE / "launch" / "mimicik.launch.py")),
        launch_arguments={name: LaunchConfiguration(name) for name in (
            "namespace", "params_file", *(argument.name for argument in DEFAULTS))}.items())
    return LaunchDescription([*OWN, *DEFAULTS, arm, OpaqueFunction(function=_motion)])


def _motion(context):
    given = {argument.name: LaunchConfiguration(argument.name).perform(context) for argument in OWN}
    if given["motion"] != "true":
        return []
    end = [] if given["stay"] == "true" else [Shutdown(reason="the motion is over")]
    return [ExecuteProcess(output="screen", on_exit=end, cmd=[
        ExecutableInPackage(package="mimicik_ros", executable="mimicik"), "demo", "--attach",
        "--namespace", "/" + given["namespace"].strip("/"), "--config", given["params_file"],
        "--seconds", given["seconds"], "--out", given["out"]])]
