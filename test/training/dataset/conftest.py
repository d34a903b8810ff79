"""Episodes of a lagging arm, files of them, and the rules they are held against."""

from __future__ import annotations

import pytest
from lagging_arm import PERIOD_S, motion

from mimicik_ros.core import se3


@pytest.fixture(scope="session")
def rules(kinematics):
    from mimicik_ros.training.dataset.checks import Rules

    return Rules(kinematics, PERIOD_S, 6.3)


@pytest.fixture(scope="session")
def header(kinematics):
    from mimicik_ros.training.dataset.schema import Header

    return Header.of(kinematics, "airbot_play_g2", PERIOD_S, {"verb": "test", "seed": 3})


@pytest.fixture(scope="session")
def episode_of(kinematics):
    """An episode of so many rows."""
    from mimicik_ros.training.dataset.schema import Episode

    def make(rows, seed=0, source="csv"):
        t, q, command = motion(rows, seed=seed)
        T = kinematics.fk_batch(command)
        return Episode(t, q, command, T[:, :3, 3], se3.quat_from_rotation(T[:, :3, :3]), source)

    return make


@pytest.fixture
def dataset_file(tmp_path, header, episode_of):
    """Writes a file of episodes with these numbers of rows, each with a seed of its own, and gives its path."""
    from mimicik_ros.training.dataset.writer import DatasetWriter

    def write(*rows, name="data.parquet", changed=header):
        with DatasetWriter(tmp_path / name, changed) as writer:
            for seed, count in enumerate(rows):
                writer.write(episode_of(count, seed))
        return tmp_path / name

    return write
