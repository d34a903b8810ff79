"""The figures of a dataset are those that can be counted by hand, and the pictures are drawn."""

import dataclasses

import numpy as np
import pytest

from mimicik_ros.training.dataset import info
from mimicik_ros.training.dataset.info import describe
from mimicik_ros.training.dataset.info_text import page
from mimicik_ros.training.dataset.reader import Dataset
from mimicik_ros.training.dataset.writer import DatasetWriter


@pytest.fixture
def described(kinematics, rules):
    def make(path):
        return describe(Dataset([path]), kinematics, rules)

    return make


def test_counts_ranges_and_steps_are_those_of_the_rows(dataset_file, described, kinematics):
    path = dataset_file(60, 100, 80)
    figures, sample = described(path)
    episodes = list(Dataset([path]).episodes())
    q = np.concatenate([e.q for e in episodes])
    step = np.abs(np.concatenate([e.q_command - e.q for e in episodes]))
    assert (figures["episodes"], figures["rows"], figures["sources"]) == (3, 240, {"csv": 3})
    assert figures["hours"] == pytest.approx(240 * 0.05 / 3600)
    assert figures["episode_rows"] == {"min": 60, "median": 80.0, "max": 100}
    assert figures["step_time_s"]["median"] == pytest.approx(0.05)
    assert figures["joints"]["joint2"]["min"] == q[:, 1].min() and figures["joints"]["joint2"]["max"] == q[:, 1].max()
    assert figures["step_rad"]["max"] == step.max() and figures["step_rad"]["p50"] == pytest.approx(np.median(step.max(axis=1)))
    assert figures["sigma_min"]["p50"] == pytest.approx(np.median([kinematics.sigma_min(x) for x in q]))
    assert figures["fk_to_target_mm"]["max"] < 1e-6 and not figures["faults"]
    assert len(sample.q) == 240


def test_a_large_set_is_thinned_evenly_over_all_episodes(dataset_file, described, monkeypatch):
    monkeypatch.setattr(info, "SAMPLE_ROWS", 60)
    path = dataset_file(50, 31, 100)
    figures, sample = described(path)
    q = np.concatenate([e.q for e in Dataset([path]).episodes()])
    np.testing.assert_array_equal(sample.q, q[::4])  # 181 rows, at most 60
    assert figures["rows"] == 181 and figures["joints"]["joint1"]["max"] == q[:, 0].max()


def test_spikes_and_faults_are_counted_by_episode(tmp_path, header, episode_of, described):
    clean, bad = episode_of(60), episode_of(60, seed=1)
    q = bad.q.copy()
    q[30] += 0.1  # two changes of the step exceed 0.05 rad on the way there, and one on the way back
    command = bad.q_command.copy()
    command[10, 0] = np.nan
    with DatasetWriter(tmp_path / "d.parquet", header) as writer:
        writer.write(clean)
        writer.write(dataclasses.replace(bad, q=q, q_command=command))
    figures, _ = described(tmp_path / "d.parquet")
    assert figures["spike_percent"] == pytest.approx(100 * 3 / 116)
    assert list(figures["faults"]) == ["1"] and [f["kind"] for f in figures["faults"]["1"]] == ["non-finite"]
    text = page(figures)
    assert "faults: 1 of 2 episodes" in text and "episode 1: non-finite" in text


def test_the_vendors_start_pose_counts_as_near_singular(tmp_path, header, episode_of, described):
    episode = episode_of(40)
    still = np.zeros((40, 6))
    with DatasetWriter(tmp_path / "d.parquet", header) as writer:
        writer.write(dataclasses.replace(episode, q=still, q_command=still))
    figures, _ = described(tmp_path / "d.parquet")
    assert figures["near_singular_percent"] == 100.0 and figures["sigma_min"]["p50"] < 1e-6


def test_pictures_are_drawn(dataset_file, described, kinematics, tmp_path):
    from matplotlib.image import imread

    from mimicik_ros.training.dataset.plots import write_plots

    _, sample = described(dataset_file(60, 60))
    paths = write_plots(sample, kinematics, tmp_path / "plots")
    assert [p.name for p in paths] == ["joints.png", "steps.png", "coverage.png"]
    for path in paths:
        picture = imread(path)
        assert picture.shape[1] > 800 and picture[..., :3].std() > 0.05
