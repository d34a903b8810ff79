"""The RViz handle on a live graph: servo node, fake arm, marker node and a mouse, over real topics."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import Pose
from live_graph import PATIENT, parameters
from marker_rviz import Feedback, Mouse, StandInServer
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker

from mimicik_ros.core import se3
from mimicik_ros.core.errors import ConfigError
from mimicik_ros.ros import conversions
from mimicik_ros.ros.marker_description import Entry
from mimicik_ros.ros.marker_node import MarkerNode, rviz_server

ROOT = Path(__file__).resolve().parents[2]
GREEN, RED, GREY = (0.2, 0.8, 0.3), (0.9, 0.15, 0.15), (0.5, 0.5, 0.5)


def standard_server(node, namespace):
    pytest.importorskip("interactive_markers", reason="interactive_markers comes with a ROS 2 distribution, not from pip")
    return rviz_server(node, namespace)


class Desk:
    """The graph of conftest with a marker node and a mouse beside it."""

    def __init__(self, graph, server, start=True, **overrides):
        self.g = graph
        self.marker = graph.add(MarkerNode(server, parameter_overrides=parameters({**PATIENT, **overrides})))
        self.mouse = Mouse(graph.helper, "mimicik_marker")
        self.texts = []
        graph.helper.create_subscription(Marker, "mimicik_marker/status_text", self.texts.append, 10)
        if start:
            assert graph.node.autostart(), graph.node.failure
            graph.until(lambda: graph.arm.model is not None and self.mouse.connected(), "the handle in RViz")
            graph.until(lambda: graph.status() is not None, "a status")
            graph.until(self.accepts, "the server to take feedback")

    def accepts(self):
        """The standard server takes any feedback in a marker's first second for that of a second client."""
        contexts = getattr(self.marker._server, "marker_contexts", {})
        now = self.marker.get_clock().now()
        return all((now - context.last_feedback).nanoseconds > 1.1e9 for context in contexts.values())

    def tool(self):
        return self.marker.tool_pose()

    def gap_m(self, pose):
        """Distance from the tool to a pose in RViz."""
        return float(np.linalg.norm(position(pose) - self.tool()[:3, 3]))

    def enable(self):
        self.mouse.choose(Entry.ENABLE)
        self.g.until(lambda: self.g.statuses()[-1]["values"]["mode"] == "TRACKING", "mode TRACKING")

    def offset(self, *xyz):
        """A pose in RViz beside the one that is shown."""
        T = se3.pose_from_quat(position(self.mouse.shown), quat(self.mouse.shown))
        T[:3, 3] += np.array(xyz)
        return conversions.pose_message(T, "", conversions.stamp(0.0)).pose


def position(pose):
    return np.array([pose.position.x, pose.position.y, pose.position.z])


def quat(pose):
    return np.array([pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w])


@pytest.fixture(params=[StandInServer, standard_server], ids=["stand-in", "interactive_markers"])
def desk(request, graph):
    made = []

    def make(start=True, node=None, **overrides):
        made.append(Desk(graph(node=node), request.param, start, **overrides))
        return made[-1]

    if request.param is standard_server:
        pytest.importorskip("interactive_markers", reason="interactive_markers comes with a ROS 2 distribution, not from pip")
    yield make
    for one in made:
        one.marker.close()


def test_enable_and_a_drag_move_the_arm_to_where_the_handle_was_let_go(desk):
    d = desk()
    assert d.gap_m(d.mouse.shown) < 1e-3
    d.enable()
    home = position(d.mouse.shown)
    d.mouse.press()
    for _ in range(30):
        d.mouse.move(d.offset(0.0, 0.001, 0.001))
        d.g.executor.spin_once(timeout_sec=0.01)
    d.mouse.release()
    goal = home + np.array([0.0, 0.03, 0.03])
    d.g.until(lambda: np.linalg.norm(d.tool()[:3, 3] - goal) < 2e-3, "the arm at the handle")
    d.g.until(lambda: d.mouse.colour() == GREEN, "green")
    assert np.allclose(position(d.mouse.shown), goal, atol=1e-9), "RViz shows it where it was let go"
    assert d.mouse.foreign_in_drag == 0
    d.g.assert_within_limits()


def test_a_flood_of_drags_gives_one_target_a_tick(desk):
    d = desk()
    d.mouse.press()
    d.g.until(lambda: d.marker.marker.dragger is not None, "the press")
    targets = d.g.recorder.rows("target_pose")
    before, start_s = len(targets), d.marker._steady_s()

    def flood():
        for _ in range(10):
            d.mouse.move(d.offset(0.0, 1e-5, 0.0))
        return len(targets) - before >= 15

    d.g.until(flood, "15 targets")
    ticks = (d.marker._steady_s() - start_s) * d.marker.config.servo.rate_hz
    assert len(targets) - before <= ticks + 2


def test_the_handle_follows_the_tool_while_another_source_moves_the_arm(desk):
    d = desk()
    T = d.tool()
    T[:3, 3] += np.array([0.0, 0.03, 0.0])
    d.g.stream(lambda t: d.g.send(T))
    d.g.until_status("disabled")
    assert d.g.enable().success
    d.g.until(lambda: np.linalg.norm(d.tool()[:3, 3] - T[:3, 3]) < 2e-3, "the arm to get there")
    d.g.until(lambda: d.gap_m(d.mouse.shown) < 2e-3, "the handle to follow")
    assert d.g.node.count_publishers("/mimicik/target_pose") == 1, "a handle that does not lead is no second publisher"


def test_hold_from_the_menu_brakes_within_the_limits_and_puts_the_handle_on_the_tool(desk):
    d = desk()
    d.enable()
    d.mouse.press()
    d.mouse.move(d.offset(0.0, 0.15, 0.0))
    d.mouse.release()
    d.g.until(lambda: np.ptp(d.g.commands(), axis=0).max() > 0.01, "the arm on its way")
    d.mouse.choose(Entry.HOLD)
    d.g.until_status("held_by_request")
    d.g.ticks(12)
    q = d.g.assert_within_limits()
    assert np.max(np.abs(q[-1] - q[-2])) == 0.0
    d.g.until(lambda: d.gap_m(d.mouse.shown) < 2e-3, "the handle on the tool")


def test_go_home_calls_the_service_and_stops_leading(desk):
    d = desk()
    calls = []

    def home(request, response):
        calls.append(request)
        response.success, response.message = True, "going"
        return response

    if "/mimicik/go_home" not in dict(d.g.helper.get_service_names_and_types_by_node("mimicik", "/")):
        d.g.helper.create_service(Trigger, "mimicik/go_home", home)  # stands in until the node has its own
    d.g.until(d.marker._menu._clients[Entry.GO_HOME].service_is_ready, "the service")
    d.enable()
    assert d.marker.marker.leading
    d.mouse.choose(Entry.GO_HOME)
    d.g.until(lambda: calls or d.g.status() not in ("ok", "reached", "engaging"), "the call to arrive")
    d.g.until(lambda: not d.marker.marker.leading, "the handle to stop leading")


def test_a_service_that_is_not_there_is_a_warning_and_not_the_end(desk, capfd):
    d = desk(start=False)
    d.marker._menu.call(Entry.GO_HOME)
    assert "Go home: no service /mimicik/go_home" in capfd.readouterr().err


def test_reset_marker_after_an_unreachable_drag_brings_it_back(desk):
    d = desk()
    d.enable()
    d.mouse.press()
    d.mouse.move(d.offset(3.0, 0.0, 0.0))
    d.mouse.release()
    d.g.until(lambda: d.g.status() in ("no_improvement", "not_converged", "limited"), "out of reach to be named")
    d.mouse.choose(Entry.RESET_MARKER)
    d.g.until(lambda: d.gap_m(d.mouse.shown) < 5e-3, "the handle on the tool")
    assert not d.marker.marker.leading
    d.g.assert_within_limits()


def test_after_the_timeout_it_returns_and_the_arm_holds(desk):
    d = desk(**{"marker.timeout_s": 1.0})
    d.enable()
    d.mouse.press()
    d.mouse.move(d.offset(0.0, 0.02, 0.0))
    d.mouse.release()
    d.g.until_status("stale_target")
    assert not d.marker.marker.leading
    d.g.until(lambda: d.gap_m(d.mouse.shown) < 2e-3, "the handle on the tool")
    d.g.assert_within_limits()


def _nan():
    pose = Pose()
    pose.position.x = float("nan")
    return pose


def _no_rotation():
    pose = Pose()
    pose.orientation.w = 0.0
    return pose


@pytest.mark.parametrize(("pose", "frame", "words"), [
    (_nan(), None, "not finite or has no rotation"), (_no_rotation(), None, "not finite or has no rotation"),
    (Pose(), "world", "it is in frame 'world', the handle in 'base_link'")], ids=["nan", "zero quaternion", "frame"])
def test_feedback_that_cannot_be_used_is_refused_and_moves_nothing(desk, pose, frame, words, capfd):
    d = desk()
    d.enable()
    d.mouse.press()
    d.g.until(lambda: d.marker.marker.dragger is not None, "the press")
    before = d.marker.marker.T.copy()
    d.mouse.send(Feedback.POSE_UPDATE, pose=pose, frame=frame)
    said = []

    def warned():
        said.append(capfd.readouterr().err)
        return words in "".join(said)

    d.g.until(warned, "the warning")
    d.g.ticks(3)
    assert np.array_equal(d.marker.marker.T, before)
    d.g.assert_within_limits()


def test_a_fault_is_red_and_clearing_it_ends_it(desk):
    d = desk(node={"engage.max_tracking_error_rad": 0.2})
    d.enable()
    d.g.arm.model._q[0] += 0.6
    d.g.arm.model._setpoint[0] += 0.6
    d.g.arm.model._lag_s = 1e6
    d.g.until(lambda: d.mouse.colour() == RED, "red")
    d.g.until(lambda: d.texts and d.texts[-1].text == "FAULT: tracking_fault", "the text")
    d.mouse.choose(Entry.CLEAR_FAULT)
    d.g.until(lambda: d.g.status() != "tracking_fault", "the fault to be cleared")


def test_without_a_status_it_is_grey_and_says_so(desk):
    d = desk(start=False)
    d.g.until(d.mouse.connected, "the handle in RViz")
    assert d.mouse.colour() == GREY
    d.g.until(lambda: d.texts and d.texts[-1].text == "no status", "the text")
    assert d.g.node.autostart()
    d.g.until(lambda: d.mouse.colour() != GREY, "another colour")
    d.g.node.trigger_deactivate()
    d.g.until(lambda: d.mouse.colour() == GREY, "grey again")


def test_colours_change_only_between_drags(desk):
    d = desk()
    d.enable()
    d.g.until(lambda: d.mouse.colour() == GREEN, "green")
    d.mouse.press()
    d.g.until(lambda: d.marker.marker.dragger is not None, "the press")
    d.mouse.move(d.offset(3.0, 0.0, 0.0))
    d.g.until(lambda: d.texts[-1].text.split(": ")[1] in ("no_improvement", "not_converged"), "the text to say it")
    assert d.mouse.foreign_in_drag == 0
    d.mouse.release()
    d.g.until(lambda: d.mouse.colour() != GREEN, "the colour after the drag")


def test_it_is_taken_out_of_rviz_at_the_end(desk):
    d = desk()
    d.marker.close()
    d.g.until(lambda: d.mouse.marker is None, "the handle to go")


@pytest.mark.parametrize(("override", "words"), [
    ({"marker.scale_m": 50.0}, r"marker\.scale_m must lie in"), ({"marker.size": 1.0}, "unknown parameter 'marker.size'"),
    ({"robot.tool_frame": "nowhere"}, "nowhere"), ({"robot.urdf": "nowhere.urdf"}, "no file 'nowhere.urdf'")])
def test_a_bad_set_up_is_refused(ros, override, words):
    from mimicik_ros.core.errors import MimicIKError

    with pytest.raises(MimicIKError, match=words):
        MarkerNode(StandInServer, parameter_overrides=parameters(override))


def test_a_missing_package_is_one_line_with_what_to_install(ros, monkeypatch):
    monkeypatch.setitem(sys.modules, "interactive_markers", None)
    with pytest.raises(ConfigError, match=r"sudo apt install ros-\$ROS_DISTRO-interactive-markers"):
        rviz_server(None, "mimicik_marker")


def test_the_process_without_the_package_ends_with_2_and_one_line():
    code = ("import sys; sys.modules['interactive_markers'] = None; "
            "from mimicik_ros.ros.marker_node import main; sys.exit(main())")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: the package interactive_markers is not installed")
    assert "Traceback" not in done.stderr
