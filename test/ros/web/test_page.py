"""The page on a live graph, driven as viser would drive it: by presses and drags of numbered browsers."""

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser is not installed; see the README for the web extra")

from std_srvs.srv import SetBool, Trigger

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.ros.web.link import WebLink
from mimicik_ros.ros.web.page import HOME_WITHOUT, RATE_HZ, Page
from mimicik_ros.share import share_path

ANNA, BERT = 1, 2


@pytest.fixture
def page_on(graph):
    """Makes a page on a graph that is ready, and closes it before the graph."""
    made = []

    def make(**link_options):
        g = graph()
        g.start()
        robot = g.node.config.robot
        link = g.add(WebLink(robot.joint_names, robot.base_frame, **link_options))
        kinematics = Kinematics(share_path(robot.urdf), robot.base_frame, robot.tool_frame, robot.joint_names)
        made.append(Page(link, kinematics, g.node.config, "localhost", 0))
        return g, link, made[-1], kinematics

    yield make
    for page in made:
        page.close()


def targets(g):
    return g.recorder.rows("target_pose")


def mode(g):
    return g.statuses()[-1]["values"]["mode"] if g.statuses() else None


def tool(g, kinematics):
    return kinematics.fk(np.array(g.recorder.rows("joint_states")[-1]["q"]))


def lead(g, page):
    """Anna enables and the node follows."""
    g.until(lambda: g.status() == "waiting_for_target" or g.status() == "disabled", "the node waits")
    g.until(lambda: page.refusals()["enable"] is None, "the page hears node and arm")
    page.press("enable", ANNA)
    g.until(lambda: mode(g) == "TRACKING", "mode TRACKING")


def moved(T, x=0.0, z=0.0):
    out = T.copy()
    out[:3, 3] += [x, 0.0, z]
    return out


def test_enable_starts_at_the_tool_and_the_arm_stays_where_it_is(page_on):
    g, _, page, kinematics = page_on()
    before = tool(g, kinematics)
    lead(g, page)
    g.until(lambda: len(targets(g)) > 20, "20 targets")
    assert np.allclose([row["position_m"] for row in targets(g)], before[:3, 3], atol=1e-3)
    assert np.abs(g.assert_within_limits() - g.commands()[0]).max() < 0.01


def test_nothing_is_published_before_anyone_leads_and_a_drag_of_a_disabled_node_is_not_either(page_on):
    g, _, page, kinematics = page_on()
    g.until(lambda: page.refusals()["enable"] is None, "the page hears node and arm")
    page.drag("start", ANNA, tool(g, kinematics))
    page.drag("update", ANNA, moved(tool(g, kinematics), z=0.1))
    g.ticks(20)
    assert not targets(g)
    assert "press Enable" in page.hint()


def test_the_arm_follows_the_handle_within_its_limits_and_targets_come_at_their_rate_however_fast_the_drag(page_on):
    g, _, page, kinematics = page_on()
    lead(g, page)
    start = tool(g, kinematics)
    page.drag("start", ANNA, start)
    for i in range(200):
        page.drag("update", ANNA, moved(start, z=0.05 * (i + 1) / 200))
        g.executor.spin_once(timeout_sec=0.005)
    page.drag("end", ANNA, moved(start, z=0.05))
    g.until(lambda: np.linalg.norm(tool(g, kinematics)[:3, 3] - start[:3, 3] - [0, 0, 0.05]) < 2e-3, "the arm arrives")
    g.assert_within_limits()
    rows = targets(g)
    assert len(rows) <= (rows[-1]["stamp_s"] - rows[0]["stamp_s"]) * RATE_HZ + 2


@pytest.mark.parametrize("how", ["hold", "lost", "service"])
def test_hold_from_anywhere_and_the_loss_of_the_browser_end_the_targets_and_the_arm_holds(page_on, how):
    g, _, page, kinematics = page_on()
    lead(g, page)
    page.drag("start", ANNA, tool(g, kinematics))
    page.drag("update", ANNA, moved(tool(g, kinematics), z=0.2))
    if how == "hold":
        page.press("hold", ANNA)
    elif how == "lost":
        page.lost(ANNA)
    else:
        assert g.trigger("hold").success
    g.until_status("stale_target" if how == "lost" else "held_by_request")
    assert mode(g) == "HOLDING"
    count = len(targets(g))
    page.drag("update", ANNA, moved(tool(g, kinematics), z=0.3))
    g.ticks(20)
    assert len(targets(g)) <= count + 1  # one may have been under way
    g.assert_within_limits()


def test_after_a_hold_enable_starts_again_at_the_tool_and_not_at_the_old_target(page_on):
    g, _, page, kinematics = page_on()
    lead(g, page)
    page.drag("start", ANNA, tool(g, kinematics))
    page.drag("update", ANNA, moved(tool(g, kinematics), z=0.2))
    g.ticks(10)
    page.press("hold", ANNA)
    g.until_status("held_by_request")
    g.ticks(20)
    held = tool(g, kinematics)
    targets(g).clear()
    page.press("enable", BERT)
    g.until(lambda: mode(g) == "TRACKING", "mode TRACKING")
    assert np.abs(np.array([row["position_m"] for row in targets(g)]) - held[:3, 3]).max() < 0.005
    g.assert_within_limits()


def test_a_tracking_fault_offers_its_end_by_a_button(page_on):
    g, _, page, _ = page_on()
    lead(g, page)
    g.arm.model._q[0] += 1.0
    g.arm.model._setpoint[0] += 1.0
    g.arm.model._lag_s = 1e6
    g.until_status("tracking_fault")
    g.until(lambda: page.leader is None, "nobody leads")
    page.press("clear_fault", ANNA)
    g.until_status("disabled")


def bare_node(g, *services):
    """A node that offers only what it is asked to; calls are noted."""
    import rclpy

    node = g.add(rclpy.create_node("mimicik", namespace="bare"))
    calls = []

    def answer(name):
        def callback(request, response):
            calls.append(name)
            response.success, response.message = name != "hold", "the arm is away"
            return response
        return callback

    for name in services:
        node.create_service(SetBool if name == "enable" else Trigger, f"~/{name}", answer(name))
    return node, calls


def status_of(node, label, mode_name):
    from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

    publisher = node.create_publisher(DiagnosticStatus, "~/status", 10)
    values = [KeyValue(key="status", value=label), KeyValue(key="mode", value=mode_name)]
    message = DiagnosticStatus(message="text", values=values)
    node.create_timer(0.05, lambda: publisher.publish(message))


def test_home_is_refused_with_its_reason_where_the_node_has_none_and_calls_it_where_it_has(page_on):
    g, _, page, _ = page_on(namespace="bare", joint_states="/joint_states")
    assert page.refusals()["home"] == ""  # no node yet, and the status says so
    node, calls = bare_node(g, "enable", "hold")
    status_of(node, "disabled", "READY")
    g.until(lambda: page.refusals()["home"] == HOME_WITHOUT, "the reason")
    page.press("home", ANNA)
    g.until(lambda: "go_home refused: /bare/mimicik offers no ~/go_home" in page.hint(), "the refusal")
    node.create_service(Trigger, "~/go_home", lambda request, response: calls.append("go_home") or Trigger.Response(success=True))
    g.until(lambda: page.refusals()["home"] is None, "home is offered")
    page.press("home", ANNA)
    g.until(lambda: calls == ["go_home"], "the call")


def test_what_a_service_answers_is_shown(page_on):
    g, link, page, _ = page_on(namespace="bare", joint_states="/joint_states")
    node, _ = bare_node(g, "enable", "hold", "go_home")
    status_of(node, "disabled", "READY")
    g.until(lambda: link.offers("hold") and page.refusals()["hold"] is None, "the node")
    page.press("hold", ANNA)
    g.until(lambda: "hold refused: the arm is away" in page.hint(), "the answer")


def test_without_joint_states_enable_is_refused_and_the_missing_joints_are_named(page_on):
    g, _, page, _ = page_on(joint_states="nowhere")
    g.until(lambda: "No joint states on /nowhere for joint1" in page.hint(), "the hint")
    page.press("enable", ANNA)
    g.ticks(20)
    assert page.refusals()["enable"] is not None
    assert g.status() != "waiting_for_target" and not targets(g)


def test_a_node_that_falls_silent_disables_the_buttons_and_ends_the_lead(page_on):
    g, _, page, _ = page_on()
    lead(g, page)
    g.node.trigger_deactivate()
    g.until(lambda: page.leader is None, "nobody leads")
    g.until(lambda: {page.refusals()[name] for name in ("enable", "hold", "home")} == {""}, "the buttons")
