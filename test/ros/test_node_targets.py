"""Every way in, live: paths, twists, other frames, who counts, the filter; and no command beyond the limits."""

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, TwistStamped
from stand_in_buffer import StandInBuffer
from target_publishers import Paths, Twists

from mimicik_ros.core import se3
from mimicik_ros.ros.diagnostics import status_values
from mimicik_ros.ros.node import MimicIKNode


def moved(T, *way):
    """T with its position moved by up to three metres along the base axes."""
    out = T.copy()
    out[: len(way), 3] += way
    return out


def values(g):
    return g.statuses()[-1]["values"]


def tool(g):
    """Position (3,) m of the last command."""
    return g.recorder.rows("command_pose")[-1]["position_m"]


def still(g):
    """Within the limits, and the last two commands are the same."""
    q = g.assert_within_limits()
    return np.max(np.abs(q[-1] - q[-2])) == 0.0


def follow_paths(g, speed=0.04, poses=30):
    """A policy at 2 Hz: chunks along the base's y from where the tool stood, enabled."""
    g.start()
    T, paths = g.home_pose(), Paths(g)

    def chunk(t):
        paths.send([moved(T, 0.0, speed * (t + 0.05 * i)) for i in range(poses)])

    g.stream(chunk, 0.5)
    g.until_status("disabled")
    assert g.enable().success
    g.until(lambda: values(g)["mode"] == "TRACKING", "mode TRACKING")
    return T, paths


def test_chunks_of_a_policy_are_followed_without_a_jump(graph):
    g = graph(node={"engage.ramp_s": 0.2})
    T, _ = follow_paths(g)
    first = len(g.recorder.rows("command_pose"))
    g.ticks(40)
    assert values(g)["target_source"] == "path"
    rows = np.array([row["position_m"] for row in g.recorder.rows("command_pose")[first:]])
    steps = np.diff(rows, axis=0)
    assert steps[:, 1].min() > 0.0, "it never stops between chunks"
    assert np.abs(rows[:, [0, 2]] - T[[0, 2], 3]).max() < 1e-3
    assert np.mean([row["position_m"] for row in g.recorder.rows("residual")[first:]]) < 1e-3
    g.assert_within_limits()


def test_a_chunk_that_disagrees_is_joined_by_a_seam(graph):
    g = graph(node={"target.blend_linear_speed_m_s": 0.1, "engage.ramp_s": 0.2})
    g.start()
    T, paths = g.home_pose(), Paths(g)
    g.stream(lambda t: paths.send([T] * 100) if t < 0.3 else None, 0.1)
    g.until_status("disabled")
    g.enable()
    g.until(lambda: values(g)["mode"] == "TRACKING", "mode TRACKING")
    g.silence()
    first = len(g.recorder.rows("command_pose"))
    paths.send([moved(T, 0.0, 0.03)] * 100)
    g.until(lambda: abs(tool(g)[1] - T[1, 3] - 0.03) < 5e-4, "the new chunk")
    rows = g.recorder.rows("command_pose")[first:]
    y = np.array([row["position_m"][1] for row in rows])
    t = np.array([row["stamp_s"] for row in rows])
    assert np.max(np.diff(y)) < 0.012, "30 mm as one step would be a step of up to 40 mm"
    assert t[np.argmax(y > T[1, 3] + 0.029)] - t[0] > 0.25  # 0.03 m at 0.1 m/s
    g.assert_within_limits()


def test_a_path_that_ends_is_stale_and_the_next_one_is_followed_again(graph):
    g = graph(node={"freshness.target_timeout_s": 0.3, "engage.ramp_s": 0.2})
    g.start()
    T, paths = g.home_pose(), Paths(g)
    g.stream(lambda t: paths.send([T] * 10), 0.2)
    g.until_status("disabled")
    g.enable()
    g.until(lambda: values(g)["mode"] == "TRACKING", "mode TRACKING")
    g.silence()
    g.until_status("stale_target")
    assert "the path ended" in values(g)["detail"]
    g.ticks(12)
    assert still(g)
    g.stream(lambda t: paths.send([T] * 10), 0.2)
    g.until(lambda: values(g)["mode"] == "TRACKING", "mode TRACKING again, by itself: it is near")


@pytest.mark.parametrize(("spoil", "label"), [
    (lambda T: [T, np.full((4, 4), np.nan)], "non_finite"), (lambda T: [], "bad_path"),
    (lambda T: [moved(T, 500.0)], "out_of_world"),
], ids=["nan", "empty", "far"])
def test_a_bad_path_is_named_and_stops_the_arm_within_limits(graph, spoil, label):
    g = graph()
    T, paths = follow_paths(g)
    g.ticks(5)
    g.stream(lambda t: paths.send(spoil(T)), 0.05)
    g.until_status(label)
    g.ticks(15)
    assert g.status() == label
    assert still(g)


@pytest.mark.parametrize("frame", ["base_link", "end_link"])
def test_a_twist_moves_the_tool_and_fades_away_in_silence(graph, frame):
    g = graph(node={"engage.ramp_s": 0.2, "target.twist_timeout_s": 0.5})
    g.start()
    T, twists = g.home_pose(), Twists(g)
    g.stream(lambda t: twists.send([0.05, 0, 0, 0, 0, 0], frame))
    g.until_status("disabled")
    g.enable()
    axis = T[:3, 0] if frame == "end_link" else np.array([1.0, 0.0, 0.0])
    g.until(lambda: g.recorder.rows("command_pose"), "the first command")
    g.until(lambda: (tool(g) - T[:3, 3]) @ axis > 0.03, "30 mm along the axis")
    way = tool(g) - T[:3, 3]
    assert np.linalg.norm(way - (way @ axis) * axis) < 2e-3
    assert values(g)["target_source"] == "twist"
    g.silence()
    g.until_status("stale_target")
    assert "twist silent for" in values(g)["detail"]
    g.ticks(10)
    assert still(g)
    before = tool(g) @ axis
    g.stream(lambda t: twists.send([-0.05, 0, 0, 0, 0, 0], frame))
    g.until(lambda: tool(g) @ axis < before - 0.01, "back again")
    g.assert_within_limits()


def test_an_infinite_twist_is_named_and_stops_the_arm(graph):
    g = graph(node={"engage.ramp_s": 0.2})
    g.start()
    twists = Twists(g)
    g.stream(lambda t: twists.send([0.05, 0, 0, 0, 0, 0]))
    g.until_status("disabled")
    g.enable()
    g.until(lambda: values(g)["mode"] == "TRACKING", "mode TRACKING")
    g.stream(lambda t: twists.send([np.inf, 0, 0, 0, 0, 0]))
    g.until_status("non_finite")
    g.ticks(12)
    assert still(g)


def test_an_operator_takes_over_from_the_policy(graph):
    g = graph(node={"freshness.target_timeout_s": 0.3})
    follow_paths(g, speed=0.0)
    T = g.home_pose()
    policy, operator = g.timer, g.helper.create_timer(0.05, lambda: g.send(moved(T, 0.0, 0.02)))
    g.until(lambda: values(g)["target_source"] == "pose", "the operator counts")
    g.until(lambda: abs(tool(g)[1] - T[1, 3] - 0.02) < 1e-3, "the arm follows the operator")
    g.ticks(10)
    assert values(g)["target_source"] == "pose", "the policy goes on and does not take it back"
    g.helper.destroy_timer(operator)
    g.until(lambda: values(g)["target_source"] == "path", "the policy has the say again")
    assert g.timer is policy
    g.assert_within_limits()


def test_a_fixed_source_counts_alone(graph):
    g = graph(node={"target.source": "pose"})
    g.start()
    T, paths = g.home_pose(), Paths(g)
    g.enable()
    g.stream(lambda t: paths.send([T] * 10), 0.1)
    g.until(lambda: g.node.session.inbox.targets_received["path"] > 2, "paths to be heard")
    g.ticks(5)
    assert g.status() == "waiting_for_target"


def test_other_publishers_of_targets_are_reported(graph):
    g = graph()
    lines = []
    g.start()
    g.node._watch._warn = lines.append
    heard = []
    g.helper.create_subscription(DiagnosticArray, "/diagnostics", heard.append, 10)
    g.helper.create_publisher(PoseStamped, "mimicik/target_pose", 1)
    g.helper.create_publisher(TwistStamped, "mimicik/target_twist", 1)
    g.until(lambda: len(lines) >= 2, "both warnings")
    assert "/mimicik/target_pose: 2 publishers; their targets mix, stop all but one" in lines
    assert "targets may come on /mimicik/target_pose and /mimicik/target_twist; target.source says which count" in lines
    g.until(lambda: heard and status_values(heard[-1].status[0])["target_publishers"] == "3", "the count in the report")


class WithBuffer(MimicIKNode):
    """The node, with a stand-in for tf2_ros' buffer."""

    def __init__(self, **kwargs):
        self.buffer = StandInBuffer()
        super().__init__(**kwargs)

    def make_tf_buffer(self):
        return self.buffer


# The stand-in's camera in the base frame.
T_BASE_CAMERA = se3.pose(se3.rotation_exp(np.array([0.0, 0.0, np.pi / 2])), np.array([1.0, 2.0, 3.0]))


def test_a_target_in_another_frame_is_followed_where_tf_knows_it(graph):
    g = graph(node_class=WithBuffer, node={"engage.ramp_s": 0.2})
    g.start()
    T = g.home_pose()
    in_camera = se3.inverse(T_BASE_CAMERA) @ moved(T, 0.0, 0.02)
    g.stream(lambda t: g.send(in_camera, frame="camera"))
    g.until_status("disabled")
    g.enable()
    g.until_status("reached")
    assert tool(g) == pytest.approx(T[:3, 3] + [0.0, 0.02, 0.0], abs=1e-3)
    g.assert_within_limits()


def test_a_path_waits_for_its_transform(graph):
    g = graph(node_class=WithBuffer)
    g.start()
    T, paths = g.home_pose(), Paths(g)
    in_camera = se3.inverse(T_BASE_CAMERA) @ T
    g.node.buffer.known.clear()
    g.enable()
    paths.send([in_camera] * 400, frame="camera")
    g.until_status("no_transform")
    assert values(g)["detail"].startswith("from 'camera' to 'base_link': NoSuchFrame")
    g.node.buffer.known.add("camera")
    g.until_status("reached")
    assert values(g)["target_source"] == "path"
    g.assert_within_limits()


def test_the_lag_of_the_filter_is_in_the_status(graph):
    g = graph(node={"target.filter": "second_order", "target.filter_cutoff_hz": 4.0})
    g.track()
    g.ticks(10)
    assert float(values(g)["filter_lag_s"]) == pytest.approx(1.0 / (4.0 * np.pi))
    g.assert_within_limits()
