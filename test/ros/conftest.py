"""rclpy for the session, and graphs that are taken down after each test."""

import pytest
import rclpy
from live_graph import Graph


@pytest.fixture(scope="session", autouse=True)
def ros():
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.fixture
def graph():
    made = []

    def make(**kwargs):
        made.append(Graph(**kwargs))
        return made[-1]

    yield make
    for one in made:
        one.close()

