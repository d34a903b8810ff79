"""The whole of `mimicik web --fake-arm` in a real headless Chromium: it loads, the handle moves, the arm follows, buttons act."""

import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser is not installed; see the README for the web extra")

from chromium import DESKTOP, PHONE, chromium, on_screen, open_page
from rclpy.executors import SingleThreadedExecutor

from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.ros.recorder import Recorder
from mimicik_ros.ros.web import scene

ROOT = Path(__file__).resolve().parents[3]
NAMES = tuple(f"joint{i}" for i in range(1, 7))
WAIT_S = 60.0
# A machine that draws a scene in software while it runs the graph is late now and then.
PATIENT = ("freshness: {joints_timeout_s: 3.0, target_timeout_s: 2.0}\n"
           "engage: {max_pause_s: 5.0}\n")


class Teleop:
    """The process, and ears on its graph."""

    def __init__(self, folder, *options):
        (folder / "patient.yaml").write_text(PATIENT)
        self.said = folder / "said.txt"
        command = [sys.executable, "-m", "mimicik_ros.cli.main", "web", "--fake-arm", "--port", "0", "--domain",
                   os.environ["ROS_DOMAIN_ID"], "--config", str(folder / "patient.yaml"), *options]
        with self.said.open("w") as output:
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        self.executor = SingleThreadedExecutor()
        self.recorder = Recorder(NAMES)
        self.executor.add_node(self.recorder)
        # In a thread: the browser is waited for in this one, and what is heard must be of now and no backlog.
        self.ears = threading.Thread(target=self.executor.spin, daemon=True)
        self.ears.start()
        self.kinematics = Kinematics(ROOT / "urdf/airbot_play_g2.urdf", "base_link", "end_link", NAMES)
        self.url = ""

    def start(self):
        self.until(lambda: "Ctrl-C ends it" in self.said.read_text(), "the page")
        self.url = re.search(r"open (\S+)", self.said.read_text())[1]
        self.until(lambda: self.rows("status") and self.rows("joint_states"), "the graph")

    def until(self, condition, what):
        end = time.monotonic() + WAIT_S
        while not condition():
            assert self.process.poll() is None, self.said.read_text()
            assert time.monotonic() < end, f"waited {WAIT_S} s for {what}; last status {self.status()}"
            time.sleep(0.02)

    def hear(self, messages=40):
        """Wait for so many ticks of the node."""
        goal = len(self.rows("status")) + messages
        self.until(lambda: len(self.rows("status")) >= goal, "status")

    def rows(self, topic):
        return self.recorder.rows(topic)

    def status(self):
        values = self.rows("status")[-1]["values"] if self.rows("status") else {}
        return values.get("status"), values.get("mode")

    def tool(self):
        return self.kinematics.fk(np.array(self.rows("joint_states")[-1]["q"]))

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(30)
            finally:
                self.process.kill()
        self.executor.shutdown()
        self.ears.join(10)
        self.recorder.destroy_node()


@pytest.fixture
def teleop(tmp_path):
    made = []

    def make(*options):
        made.append(Teleop(tmp_path, *options))
        made[-1].start()
        return made[-1]

    yield make
    for one in made:
        one.end()


def pixel(page, point):
    return on_screen(page, point, scene.CAMERA_POSITION_M, scene.CAMERA_LOOK_AT_M, scene.CAMERA_FOV_RAD)


def drag_up(page, graph, height_m):
    """Take the handle's arrow that points down along the tool's x axis, and pull it towards the tool and beyond."""
    T = graph.tool()
    axis = T[:3, 0]
    tip, goal = (pixel(page, T[:3, 3] + along * axis) for along in (0.8 * scene.HANDLE_SCALE_M,
                                                                    0.8 * scene.HANDLE_SCALE_M - height_m))
    page.mouse.move(*tip)
    page.wait_for_timeout(300)  # the scene has to be drawn once with the pointer there
    page.mouse.down()
    for share in np.linspace(0.0, 1.0, 12):
        page.mouse.move(*((1.0 - share) * np.array(tip) + share * np.array(goal)))
        graph.hear(2)
    return T


def button(page, name):
    return page.get_by_role("button", name=name)


def picture(page):
    from PIL import Image

    box = page.locator("canvas").first.bounding_box()
    return np.asarray(Image.open(io.BytesIO(page.screenshot(clip=box))).convert("L"), dtype=float)


def test_the_page_loads_the_handle_moves_the_arm_follows_and_the_buttons_act(teleop):
    graph = teleop()
    with chromium() as browser:
        page, faults = open_page(browser, graph.url)
        page.get_by_text("Press Enable, then drag the handle at the tool.").wait_for()
        page.get_by_text("joint velocity, % of its limit").wait_for()

        button(page, "Enable").click()
        graph.until(lambda: graph.status()[1] == "TRACKING", "mode TRACKING")
        page.get_by_text("TRACKING", exact=True).wait_for()
        at_rest = picture(page)

        start = drag_up(page, graph, 0.06)
        page.mouse.up()
        graph.hear()
        last = graph.rows("target_pose")[-1]
        moved = last["position_m"] - start[:3, 3]
        along = moved @ -start[:3, 0]
        assert 0.05 < along < 0.07, moved
        assert np.linalg.norm(moved + along * start[:3, 0]) < 0.005, "one arrow moves along one axis only"
        graph.until(lambda: np.linalg.norm(graph.tool()[:3, 3] - last["position_m"]) < 0.003, "the arm arrives")
        assert np.mean(np.abs(picture(page) - at_rest) > 30) > 0.005, "the arm has moved in the picture too"

        button(page, "Hold").click()
        graph.until(lambda: graph.status() == ("held_by_request", "HOLDING"), "the hold")
        page.get_by_text("held by request").wait_for()
        silent = len(graph.rows("target_pose"))
        graph.hear()
        assert len(graph.rows("target_pose")) <= silent + 1

        def offered():
            services = graph.recorder.get_service_names_and_types_by_node("mimicik", "/")
            return any(name == "/mimicik/go_home" for name, _ in services)

        graph.until(lambda: button(page, "Home").is_enabled() == offered(), "the button Home")
        if offered():
            button(page, "Home").click()
            graph.until(lambda: graph.status()[0] in ("homing", "at_home"), "the way home")
        else:
            page.get_by_text("Home: this node offers no ~/go_home").wait_for()
        assert not faults
        rates = np.diff([row["stamp_s"] for row in graph.rows("target_pose")])
        assert np.median(rates) > 0.04


def test_a_browser_that_goes_away_while_it_drags_leaves_an_arm_that_holds(teleop):
    graph = teleop()
    with chromium() as browser:
        page, _ = open_page(browser, graph.url)
        button(page, "Enable").click()
        graph.until(lambda: graph.status()[1] == "TRACKING", "mode TRACKING")
        drag_up(page, graph, 0.04)
        page.context.close()
        graph.until(lambda: graph.status() == ("stale_target", "HOLDING"), "the hold")
        page, _ = open_page(browser, graph.url)
        page.get_by_text("Not leading: the browser that led is gone.").wait_for()


def test_elsewhere_the_browser_needs_the_token_and_shows_it_no_longer(teleop):
    graph = teleop("--host", "127.0.0.2")
    assert "?token=" in graph.url
    with chromium() as browser:
        page = browser.new_page()
        refused = page.goto(graph.url.split("?")[0])
        assert refused.status == 403
        page, faults = open_page(browser, graph.url)
        page.get_by_text("Press Enable, then drag the handle at the tool.").wait_for()
        assert "token" not in page.url and not faults


def test_the_handle_and_every_button_are_in_sight_on_a_desk_and_on_a_phone(teleop):
    graph = teleop()
    portrait = np.array(scene.PORTRAIT_LOOK_AT_M)
    away = np.array(scene.CAMERA_POSITION_M) - scene.CAMERA_LOOK_AT_M
    cameras = {DESKTOP: (scene.CAMERA_POSITION_M, scene.CAMERA_LOOK_AT_M),
               PHONE: (portrait + scene.PORTRAIT_DISTANCE * away, portrait)}
    with chromium() as browser:
        for size, camera in cameras.items():
            page, _ = open_page(browser, graph.url, size)
            page.get_by_text("Press Enable").wait_for()
            for name in ("Enable", "Hold", "Home", "Reset handle"):
                box = button(page, name).bounding_box()
                assert box["x"] >= 0 and box["x"] + box["width"] <= size[0] and box["y"] + box["height"] <= size[1], name
            x, y = on_screen(page, graph.tool()[:3, 3], *camera, scene.CAMERA_FOV_RAD)
            assert page.evaluate("([x, y]) => document.elementFromPoint(x, y).tagName", [x, y]) == "CANVAS"
            page.context.close()
