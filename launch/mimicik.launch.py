"""One arm: the servo node in a namespace, and beside it, as asked for, what a person needs to see and lead it.

ros2 launch mimicik_ros mimicik.launch.py namespace:=left joint_command:=joint_states_command marker:=true rviz:=true

The end of one process ends no other. A node that died stays down unless respawn:=true; then it comes back after 2 s, not enabled
(unless engage.auto_enable is set), and anchors on the measured joints. RViz, recorder and motion never come back.
"""

from datetime import datetime
from pathlib import Path

from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode, Node

from launch import LaunchDescription
from mimicik_ros import config
from mimicik_ros.ros.fake_arm import GOOD_HOME_RAD, VENDOR_HOME_RAD
from mimicik_ros.share import share_path

_SHARE = Path(__file__).resolve().parent.parent
_SWITCH = ["true", "false"]
_RESPAWN_DELAY_S = 2.0
_NAME = "mimicik"
RECORDED = ("joint_states", "joint_command", f"{_NAME}/target_pose", f"{_NAME}/command_pose", f"{_NAME}/governed_target",
            f"{_NAME}/residual", f"{_NAME}/status", "/diagnostics", "/tf", "/tf_static")

ARGUMENTS = (
    DeclareLaunchArgument("namespace", default_value="", description="namespace of the arm, for example left"),
    DeclareLaunchArgument("params_file", default_value=str(_SHARE / "config" / "airbot_play.yaml"),
                          description="YAML file with the parameters; each node takes the sections of its own name"),
    DeclareLaunchArgument("joint_command", default_value="joint_command", description="topic of the driver's commands"),
    DeclareLaunchArgument("joint_states", default_value="joint_states", description="topic of the driver's joint states"),
    DeclareLaunchArgument("use_sim_time", default_value="false", choices=_SWITCH, description="take the time from /clock"),
    DeclareLaunchArgument("respawn", default_value="false", choices=_SWITCH,
                          description="start a node that died again after 2 s; it comes back not enabled"),
    DeclareLaunchArgument("log_level", default_value="info", choices=["debug", "info", "warn", "error", "fatal"],
                          description="least severe line that is logged"),
    DeclareLaunchArgument("fake_arm", default_value="false", choices=_SWITCH,
                          description="start an arm that is not real, which takes output.type"),
    DeclareLaunchArgument("home", default_value="good", choices=["good", "vendor"],
                          description="start of the fake arm; vendor: all joints zero, exactly singular"),
    DeclareLaunchArgument("state_publisher", default_value="false", choices=_SWITCH,
                          description="start robot_state_publisher: joint states to tf and the robot model"),
    DeclareLaunchArgument("marker", default_value="false", choices=_SWITCH, description="start the handle for RViz"),
    DeclareLaunchArgument("rviz", default_value="false", choices=_SWITCH, description="start RViz"),
    DeclareLaunchArgument("rviz_config", default_value=str(_SHARE / "config" / "demo.rviz"), description="RViz configuration"),
    DeclareLaunchArgument("record", default_value="false", choices=_SWITCH,
                          description="record the arm's topics with rosbag2 (mcap)"),
    DeclareLaunchArgument("bag", default_value=f"mimicik_{datetime.now():%Y%m%d_%H%M%S}",
                          description="folder of the recording, one a namespace; must not exist yet"),
)


def generate_launch_description():
    """Arguments and the processes that they ask for."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=_processes)])


def _processes(context):
    given = {argument.name: LaunchConfiguration(argument.name).perform(context) for argument in ARGUMENTS}
    namespace = given["namespace"].strip("/")
    arm = config.load(given["params_file"], f"/{namespace}/{_NAME}".replace("//", "/"))
    sim_time = {"use_sim_time": given["use_sim_time"] == "true"}
    remappings = [("joint_command", given["joint_command"]), ("joint_states", given["joint_states"])]
    common = {"namespace": namespace, "output": "screen", "respawn": given["respawn"] == "true",
              "respawn_delay": _RESPAWN_DELAY_S, "remappings": remappings,
              "ros_arguments": ["--log-level", given["log_level"]]}
    made = [LifecycleNode(package="mimicik_ros", executable="mimicik_node", name=_NAME,
                          parameters=[given["params_file"], sim_time], **common)]
    if given["fake_arm"] == "true":
        homes = {"good": GOOD_HOME_RAD, "vendor": VENDOR_HOME_RAD}
        made.append(Node(package="mimicik_ros", executable="mimicik_fake_arm", name="fake_arm", **common, parameters=[sim_time, {
            "home_rad": list(homes[given["home"]]), "command_type": arm.output.type,
            "joint_names": list(arm.robot.joint_names)}]))
    if given["state_publisher"] == "true":
        made.append(Node(package="robot_state_publisher", executable="robot_state_publisher", name="robot_state_publisher",
                         **common, parameters=[sim_time, {
                             "robot_description": share_path(arm.robot.urdf).read_text(encoding="utf-8"),
                             "frame_prefix": arm.robot.frame_prefix}]))
        made += _mount(arm, namespace, sim_time)
    if given["marker"] == "true":
        made.append(Node(package="mimicik_ros", executable="mimicik_marker", name="mimicik_marker",
                         parameters=[given["params_file"], sim_time], **common))
    if given["rviz"] == "true":
        made.append(Node(package="rviz2", executable="rviz2", name="rviz2", namespace=namespace, parameters=[sim_time],
                         arguments=["-d", given["rviz_config"], "-f", arm.mount.frame or arm.robot.base_frame_id]))
    if given["record"] == "true":
        made.append(ExecuteProcess(output="screen", cmd=[
            "ros2", "bag", "record", "--storage", "mcap", "--output", "_".join(filter(None, (given["bag"], namespace))),
            "--topics", *(_absolute(dict(remappings).get(topic, topic), namespace) for topic in RECORDED)]))
    return made


def _mount(arm, namespace, sim_time):
    """The static transform to the base, where the arm has a mount."""
    if not arm.mount.frame:
        return []
    values = dict(zip(("x", "y", "z", "roll", "pitch", "yaw"), (*arm.mount.xyz_m, *arm.mount.rpy_rad), strict=True))
    options = [part for name, value in values.items() for part in (f"--{name}", str(value))]
    return [Node(package="tf2_ros", executable="static_transform_publisher", name="mount", namespace=namespace,
                 parameters=[sim_time],
                 arguments=[*options, "--frame-id", arm.mount.frame, "--child-frame-id", arm.robot.base_frame_id])]


def _absolute(topic, namespace):
    return topic if topic.startswith("/") else "/" + "/".join(filter(None, (namespace, topic)))
