"""What the panel writes, without a browser."""

import numpy as np
import pytest

pytest.importorskip("viser", reason="viser is not installed; see the README for the web extra")

from mimicik_ros.ros.web.handle import NodeView
from mimicik_ros.ros.web.link import StatusSeen
from mimicik_ros.ros.web.panel import LEVEL_COLOURS, SILENT_COLOUR, axis_top, status_html


@pytest.mark.parametrize(("level", "colour"), [(0, LEVEL_COLOURS[0]), (1, LEVEL_COLOURS[1]), (2, LEVEL_COLOURS[2]),
                                               (3, LEVEL_COLOURS[2])])  # 3 is STALE in diagnostic_msgs
def test_the_status_has_the_colour_of_its_level(level, colour):
    html = status_html(StatusSeen(level, "what to do", {}), NodeView("stale_target", "HOLDING", 0.0))
    assert colour in html and "stale target" in html and "HOLDING" in html and "what to do" in html


def test_a_silent_node_is_grey_whatever_it_said_last():
    html = status_html(StatusSeen(0, "fine", {}), NodeView("ok", "TRACKING", 2.0))
    assert SILENT_COLOUR in html and "fine" not in html and "TRACKING" not in html


def test_what_a_node_says_is_text_and_never_markup():
    html = status_html(StatusSeen(0, "<script>x</script>", {}), NodeView("<b>", "<i>", 0.0))
    assert "<script>" not in html and "<b>" not in html and "<i>" not in html


@pytest.mark.parametrize(("old", "values", "top"), [
    (0.1, [0.0, 0.05], 0.1), (0.1, [0.12], 0.2), (0.1, [0.3, np.nan], 0.5), (0.1, [7.0], 10.0), (0.1, [np.nan], 0.1),
    (5.0, [0.9], 5.0), (20.0, [0.9], 1.0)])
def test_an_axis_ends_at_one_two_or_five_and_shrinks_only_when_far_too_large(old, values, top):
    assert axis_top(old, np.array(values), 0.1) == pytest.approx(top)
