"""The template, the node and the fake arm together: what a policy says is what the tool does."""

import numpy as np
from circle_policy import Circle
from policy_chunks import PolicyChunks
from rclpy.parameter import Parameter


def test_the_arm_follows_the_circle_of_a_policy_that_speaks_twice_a_second(graph):
    graph = graph()
    policy = Circle()
    node = graph.add(PolicyChunks(policy, parameter_overrides=[Parameter("rate_hz", value=2.0)]))
    assert graph.node.autostart(), graph.node.failure
    graph.until(lambda: policy.start is not None, "the policy has seen the arm")
    graph.until_status("disabled")
    assert graph.enable().success
    seen = []
    graph.until(lambda: graph.statuses()[-1]["values"]["mode"] == "TRACKING", "mode TRACKING")
    start = policy.start[0][:3, 3]
    centre = start + np.array([0.0, 0.0, 0.04])

    def quarter_round():
        T = graph.node.session.last.T_command
        seen.append(T[:3, 3] if T is not None else start)
        return seen[-1][2] > centre[2] + 0.02

    graph.until(quarter_round, "the upper half of the circle")
    on = np.array(seen)
    on = on[np.linalg.norm(on - start, axis=1) > 0.02]
    assert np.abs(np.linalg.norm(on - centre, axis=1) - 0.04).max() < 0.004  # on the circle, the tick's chords and seams included
    assert node.count_publishers("mimicik/target_path") == 1
    graph.assert_within_limits()
