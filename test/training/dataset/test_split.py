"""A split is by episode, whole, seeded, and loses nothing."""

import numpy as np
import pytest

from mimicik_ros.core.errors import ConfigError, DataError
from mimicik_ros.training.dataset.reader import Dataset
from mimicik_ros.training.dataset.split import apportioned, fractions_of, split

PARTS = {"train": 0.6, "val": 0.2, "test": 0.2}


def numbers(folder, name):
    return [e.number for e in Dataset([folder / f"{name}.parquet"]).episodes()]


def test_every_episode_lies_whole_in_exactly_one_part(dataset_file, tmp_path):
    path = dataset_file(*range(20, 30))
    split(Dataset([path]), tmp_path / "s", PARTS, 0)
    assert sorted(n for name in PARTS for n in numbers(tmp_path / "s", name)) == list(range(10))
    whole = {e.number: e for e in Dataset([path]).episodes()}
    for name, count in (("train", 6), ("val", 2), ("test", 2)):
        parts = list(Dataset([tmp_path / "s" / f"{name}.parquet"]).episodes())
        assert len(parts) == count
        for episode in parts:
            np.testing.assert_array_equal(episode.q, whole[episode.number].q)


def test_the_seed_decides(dataset_file, tmp_path):
    data = Dataset([dataset_file(*[20] * 10)])
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        split(data, tmp_path / folder, PARTS, seed)
    assert numbers(tmp_path / "a", "val") == numbers(tmp_path / "b", "val")
    assert any(numbers(tmp_path / "a", name) != numbers(tmp_path / "c", name) for name in PARTS)


def test_parts_say_where_they_come_from(dataset_file, tmp_path):
    path = dataset_file(20, 20)
    split(Dataset([path]), tmp_path / "s", {"a": 0.5, "b": 0.5}, 4)
    made = Dataset([tmp_path / "s" / "a.parquet"]).header.made
    assert (made["verb"], made["part"], made["seed"], made["from"]) == ("split", "a", 4, [str(path)])


def test_too_few_episodes_are_refused_and_so_is_writing_over_the_source(dataset_file, tmp_path):
    data = Dataset([dataset_file(20, 20)])
    with pytest.raises(DataError, match="2 episodes are too few for 3 parts"):
        split(data, tmp_path / "s", PARTS, 0)
    with pytest.raises(DataError, match="written over while it is read"):
        split(data, tmp_path, {"data": 0.5, "rest": 0.5}, 0)
    assert Dataset([tmp_path / "data.parquet"]).rows == 40


@pytest.mark.parametrize(("total", "shares", "counts"), [
    (10, [0.8, 0.1, 0.1], [8, 1, 1]), (7, [0.5, 0.5], [4, 3]), (3, [0.34, 0.33, 0.33], [1, 1, 1]), (0, [1.0], [0])])
def test_counts_add_up_by_largest_remainder(total, shares, counts):
    assert apportioned(total, shares) == counts


@pytest.mark.parametrize("text", ["train", "train=1.2", "a=0.5,a=0.5", "a=0.5,b=0.6", "a=-1,b=2", "a=0,b=1", "../a=1", "a=x"])
def test_fractions_that_cannot_be_are_refused(text):
    with pytest.raises(ConfigError, match="--fractions"):
        fractions_of(text)
