"""examples/openpi_policy.py on real DDS between a driver, a camera, a subscriber and a server that speaks openpi's protocol."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path as File

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from hearing import Hearing
from openpi_policy import OpenPIPolicy
from rclpy.parameter import Parameter
from sensor_msgs.msg import Image
from std_msgs.msg import Float64

from mimicik_ros.config import RobotConfig
from mimicik_ros.core import se3
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.ros.conversions import pose_message, seconds
from mimicik_ros.ros.fake_arm import GOOD_HOME_RAD
from mimicik_ros.share import share_path

ROOT = File(__file__).resolve().parents[3]
ROBOT = RobotConfig()
POSES = np.tile(np.array([0.3, 0.1, 0.2, 0, 0, 0, 1.0], np.float32), (16, 1))
# Tests share their machine: chunks last long, and a late turn does not matter.
PATIENT = {"rate_hz": 20.0, "period_s": 0.5, "max_age_s": 5.0, "prompt": "pick up the red block", "state": ["joints"]}


@pytest.fixture
def hearing():
    made = Hearing()
    yield made
    made.close()


def add(hearing, server, **values):
    return hearing.add(OpenPIPolicy, **{**PATIENT, "uri": server.uri, **values})


@pytest.fixture
def until_said(hearing, capfd):
    """Wait for a text in the log; one like it may hold it back for a second. Returns all that was said."""
    said = []

    def wait(text):
        def there():
            said.extend(capfd.readouterr())
            return text in "".join(said)

        hearing.until(there, f"the log says: {text}")
        return "".join(said)

    return wait


def answering(actions):
    return lambda observation: {"actions": actions}


def home():
    return Kinematics(share_path(ROBOT.urdf), ROBOT.base_frame, ROBOT.tool_frame, ROBOT.joint_names).fk(np.array(GOOD_HOME_RAD))


def positions(path):
    return np.array([[p.pose.position.x, p.pose.position.y, p.pose.position.z] for p in path.poses])


def starts(path, period_s=0.5):
    stamps = np.array([seconds(p.header.stamp) for p in path.poses])
    assert np.allclose(np.diff(stamps), period_s, atol=1e-6)
    return stamps[0]


def test_absolute_poses_become_a_chunk_with_stamps_in_the_base_frame(hearing, serving):
    server = serving(answering(POSES))
    node = add(hearing, server)
    before_s = node.get_clock().now().nanoseconds * 1e-9
    hearing.until(lambda: hearing.paths, "a chunk")
    assert before_s - 1e-6 <= starts(hearing.paths[0]) <= node.get_clock().now().nanoseconds * 1e-9
    assert {hearing.paths[0].header.frame_id, *(p.header.frame_id for p in hearing.paths[0].poses)} == {"base_link"}
    assert np.allclose(positions(hearing.paths[0]), POSES[:, :3])
    assert len(hearing.paths[0].poses) == 16
    assert server.observations[0].keys() == {"observation/state", "prompt"}
    assert server.observations[0]["prompt"] == "pick up the red block"
    assert np.allclose(server.observations[0]["observation/state"], GOOD_HOME_RAD)


def test_the_observation_has_state_images_and_prompt_under_the_servers_keys_and_a_new_prompt_counts(hearing, serving):
    server = serving(answering(POSES))
    hearing.extra = {"gripper": 0.04}
    camera = hearing.helper.create_publisher(Image, "camera/image_raw", 1)
    image = Image(width=2, height=1, encoding="bgr8", step=6, data=[0, 0, 255] * 2)
    node = add(hearing, server, state=["position", "rotvec", "gripper"], state_key="state", prompt_key="task", image_size_px=8,
               images=["images/front=camera/image_raw"])
    hearing.until(lambda: camera.get_subscription_count() == 1, "the node watches the camera")
    assert not server.observations  # nothing is asked before an image is there
    hearing.helper.create_timer(0.05, lambda: camera.publish(image))
    hearing.until(lambda: hearing.paths, "a chunk")
    seen = server.observations[0]
    T = home()
    assert seen.keys() == {"state", "task", "images/front"}
    assert np.allclose(seen["state"], [*T[:3, 3], *se3.rotation_log(T[:3, :3]), 0.04])
    assert seen["images/front"].dtype == np.uint8
    assert seen["images/front"].shape == (8, 8, 3)
    assert seen["images/front"][4, 4].tolist() == [255, 0, 0]
    node.set_parameters([Parameter("prompt", value="put it down")])
    hearing.until(lambda: server.observations[-1]["task"] == "put it down", "the new prompt")


def test_without_a_prompt_the_key_is_left_out(hearing, serving):
    server = serving(answering(POSES))
    add(hearing, server, prompt="")
    hearing.until(lambda: hearing.paths, "a chunk")
    assert server.observations[0].keys() == {"observation/state"}


def test_delta_steps_start_at_the_measured_tool_one_period_after_the_observation(hearing, serving):
    asked = []

    def steps(observation):
        asked.append(node.get_clock().now().nanoseconds * 1e-9)
        return {"actions": np.tile(np.array([0.01, 0, 0, 0, 0, 0], np.float32), (10, 1))}

    node = add(hearing, serving(steps), **{"action.kind": "delta_step", "action.rotation": "rotvec"})
    hearing.until(lambda: hearing.paths, "a chunk")
    assert np.allclose(positions(hearing.paths[0]), home()[:3, 3] + 0.01 * np.arange(1, 11)[:, None] * [1, 0, 0], atol=1e-6)
    assert starts(hearing.paths[0]) - seconds(hearing.paths[0].header.stamp) == pytest.approx(0.5, abs=1e-6)
    assert seconds(hearing.paths[0].header.stamp) <= asked[-1] + 1e-6


def test_deltas_start_at_the_command_where_that_is_asked_for_and_there_is_one(hearing, serving):
    command = home()
    command[:3, 3] += [0.0, 0.05, 0.0]
    actions = np.array([[0.01, 0, 0, 0, 0, 0], [0.03, 0, 0, 0, 0, 0]])
    add(hearing, serving(answering(actions)),
        **{"action.kind": "delta_start", "action.rotation": "rotvec", "action.anchor": "command"})
    hearing.until(lambda: hearing.paths, "a chunk from the measured pose, while there is no command")
    assert np.allclose(positions(hearing.paths[0]), home()[:3, 3] + [[0.01, 0, 0], [0.03, 0, 0]], atol=1e-6)
    message = pose_message(command, "base_link", Time())
    sender = hearing.helper.create_publisher(type(message), "mimicik/command_pose", 10)
    hearing.helper.create_timer(0.05, lambda: sender.publish(message))
    wanted = command[:3, 3] + [[0.01, 0, 0], [0.03, 0, 0]]
    hearing.until(lambda: np.allclose(positions(hearing.paths[-1]), wanted, atol=1e-6), "a chunk from the command")


def test_the_grippers_column_goes_out_value_by_value_as_its_time_comes(hearing, serving):
    values = np.linspace(0.0, 1.0, 40, dtype=np.float32)
    actions = np.hstack([np.repeat(POSES[:1], 40, axis=0), values[:, None]])
    once = threading.Event()

    def only_once(observation):
        if once.is_set():
            raise RuntimeError("no more")
        once.set()
        return {"actions": actions}

    heard = []
    hearing.helper.create_subscription(Float64, "mimicik/target_gripper", lambda m: heard.append(m.data), 10)
    add(hearing, serving(only_once), period_s=0.1, **{"action.gripper": True, "action.gripper_scale": -1.0,
                                                      "action.gripper_offset": 1.0})
    hearing.until(lambda: len(heard) >= 5, "five gripper targets")
    assert hearing.paths[0].poses[0].pose.position.x == pytest.approx(0.3)
    steps = (1.0 - np.array(heard)) * 39.0
    assert np.allclose(steps, np.round(steps), atol=1e-4)  # values of the column and nothing between them
    assert np.all(np.diff(steps) > -1e-6) and steps[-1] > steps[0]  # in their order


@pytest.mark.parametrize(("bad", "text"), [
    ({"actions": np.full((4, 7), np.nan, np.float32)}, "4 of 4 actions are not finite"),
    ({"actions": np.zeros((4, 8), np.float32)}, "expected actions (n, 7)"),
    ({"actions": np.zeros((1, 4, 7), np.float32)}, "(1, 4, 7)"),
    ({"action": POSES}, "the answer has no 'actions', only action, server_timing"),
    ({"actions": np.zeros((4, 7), np.float32)}, "row 0 has no rotation"),
    (KeyError("observation/wrist_image"), "KeyError: 'observation/wrist_image'"),
    (b"\xc1", "not a message"),
], ids=["NaN", "width", "batch", "key", "rotation", "traceback", "garbage"])
def test_a_bad_answer_is_named_moves_nothing_and_is_followed_by_good_ones(hearing, serving, until_said, bad, text):
    good = threading.Event()
    heard = []

    def policy(observation):
        if not good.is_set():
            if isinstance(bad, Exception):
                raise bad
            return bad
        return {"actions": POSES}

    server = serving(policy)
    hearing.helper.create_subscription(Float64, "mimicik/target_gripper", heard.append, 10)
    add(hearing, server)
    hearing.until(lambda: len(server.observations) >= 3, "three bad answers")
    assert "no chunk" in until_said(text)
    assert not hearing.paths and not heard
    good.set()
    hearing.until(lambda: hearing.paths, "a good chunk")


def test_a_server_that_goes_and_comes_back_is_connected_to_anew_and_nothing_is_sent_meanwhile(hearing, serving, until_said):
    server = serving(answering(POSES))
    node = add(hearing, server)
    hearing.until(lambda: hearing.paths, "a chunk")
    server.stop()
    turns = []
    hearing.helper.create_timer(0.05, lambda: turns.append(node.get_clock().now().nanoseconds * 1e-9))
    hearing.until(lambda: len(turns) >= 5, "five turns")
    gone, gone_s = len(hearing.paths), turns[-1]
    hearing.until(lambda: len(turns) >= 15, "ten turns more")
    until_said("no chunk: ServerGone")
    assert len(hearing.paths) == gone
    server.start()
    hearing.until(lambda: len(hearing.paths) > gone, "a chunk of the new server")
    assert starts(hearing.paths[-1]) > gone_s  # from a new observation, not from an old one
    connected = "connected; the server says {'robot': 'test'}"
    assert until_said(connected).count(connected) == 2


def test_a_server_that_does_not_answer_in_time_is_left(hearing, serving, until_said):
    go = threading.Event()
    server = serving(lambda observation: go.wait(20.0) and {"actions": POSES})
    add(hearing, server, first_answer_timeout_s=0.2)
    hearing.until(lambda: len(server.observations) >= 2, "asked on a second connection")
    until_said("did not send an answer within 0.2 s")
    assert not hearing.paths
    go.set()


@pytest.mark.parametrize(("values", "text"), [
    ({"uri": "http://gpu:8000"}, "ws://host:port"), ({"action.kind": "delta"}, "absolute, delta_start, delta_step"),
    ({"action.anchor": "goal"}, "measured, command"), ({"state": ["torque"]}, "unknown part 'torque'"),
    ({"images": ["camera/image_raw"]}, "key=topic"), ({"urdf": "nowhere.urdf"}, "no file 'nowhere.urdf'"),
])
def test_a_bad_set_up_is_refused_with_the_remedy(values, text):
    with pytest.raises(ConfigError, match=text):
        OpenPIPolicy(parameter_overrides=[Parameter(k, value=v) for k, v in values.items()])


def script(*arguments):
    return subprocess.Popen(
        [sys.executable, str(ROOT / "examples/openpi_policy.py"), "--ros-args", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_the_script_runs_on_the_shipped_parameters_and_ends_with_0_in_the_middle_of_an_inference(hearing, serving):
    asked, go = threading.Event(), threading.Event()

    def first_then_never(observation):
        if asked.is_set():
            go.wait(20.0)
        asked.set()
        return {"actions": np.repeat(POSES[:1], 200, axis=0)}

    hearing.extra = {"gripper": 0.04}
    server = serving(first_then_never)
    process = script("--params-file", str(ROOT / "examples/openpi.yaml"), "-p", f"uri:={server.uri}")
    try:
        hearing.until(lambda: hearing.paths and len(server.observations) >= 2, "a chunk of the script")
        assert server.observations[0]["prompt"] == "pick up the red block"
        assert server.observations[0]["observation/state"].shape == (7,)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=20)
        assert process.returncode == 0, output
        assert "Traceback" not in output
    finally:
        go.set()
        process.kill()


def test_the_shipped_parameters_are_all_that_the_node_has_with_its_defaults():
    node = OpenPIPolicy()
    own = {name: node.get_parameter(name).value for name in node.list_parameters([], 0).names
           if not name.startswith(("use_sim_time", "start_type_description_service", "qos_overrides"))}
    node.destroy_node()
    shipped = OpenPIPolicy(cli_args=["--ros-args", "--params-file", str(ROOT / "examples/openpi.yaml")])
    given = {name: parameter.value for name, parameter in shipped._parameter_overrides.items()}
    shipped.destroy_node()
    assert given.pop("prompt") and own.pop("prompt") == ""
    assert own.pop("policy")  # the template's: the policy is the server here
    assert {k: list(v) if isinstance(v, (list, tuple)) else v for k, v in given.items()} == {
        k: list(v) if isinstance(v, (list, tuple)) else v for k, v in own.items()}


def test_a_script_with_a_bad_set_up_ends_in_one_line():
    process = script("-p", "uri:=http://gpu:8000")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "error: 'http://gpu:8000' is no address" in output
    assert "Traceback" not in output
