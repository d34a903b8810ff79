"""A real tiny run learns, keeps checkpoints, resumes, and refuses what cannot be."""

import csv
import os

import numpy as np
import pytest
import torch

from mimicik_ros.core.errors import ConfigError, ModelError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.training import train as loop
from mimicik_ros.training.checkpoint import load_checkpoint, policy_from_checkpoint
from mimicik_ros.training.policies import POLICIES
from mimicik_ros.training.spec import PRESETS, preset
from mimicik_ros.training.train import train


def position_error_mm(policy, kinematics, batch):
    with torch.no_grad():
        delta_q = policy(torch.from_numpy(batch.observation)).double().numpy()
    T = kinematics.fk_batch(batch.q + delta_q)
    return 1e3 * np.linalg.norm(T[:, :3, 3] - batch.T_target[:, :3, 3], axis=1).mean()


def test_a_tiny_run_beats_standing_still_three_times_over(kinematics, synthesis, tiny_run):
    batch = synthesis.batch(2000)
    still = kinematics.fk_batch(batch.q)
    nothing = 1e3 * np.linalg.norm(still[:, :3, 3] - batch.T_target[:, :3, 3], axis=1).mean()
    assert position_error_mm(tiny_run[0].policy, kinematics, batch) < nothing / 3


def test_the_checkpoint_holds_the_averaged_policy(kinematics, synthesis, tiny_run):
    trained, path = tiny_run
    loaded = policy_from_checkpoint(kinematics, path)
    assert (loaded.steps, loaded.spec, loaded.provenance) == (trained.steps, trained.spec, trained.provenance)
    x = torch.from_numpy(synthesis.batch(3).observation)
    torch.testing.assert_close(loaded.policy(x), trained.policy(x))
    loaded.policy.load_state_dict(load_checkpoint(path)["policy"])  # the weights of the last step are others
    assert not torch.allclose(loaded.policy(x), trained.policy(x))


class Interrupted(Exception):
    """The machine went off."""


class UntilStep:
    """Data that end, as by a crash, when the batch of a step is asked for."""

    def __init__(self, synthesis, step):
        self._synthesis, self._last, self.period_s = synthesis, step, synthesis.period_s

    def batch(self, size, step, part):
        if step == self._last:
            raise Interrupted
        return self._synthesis.batch(size, step, part)


@pytest.mark.parametrize("name", POLICIES)
def test_a_run_killed_and_resumed_ends_with_the_bits_of_one_that_was_not(kinematics, synthesis, tmp_path, name, monkeypatch):
    monkeypatch.setattr(loop, "SAVE_EVERY_S", 0.0)  # at every log line
    monkeypatch.setattr(loop, "LOG_EVERY", 5)
    spec = preset("tiny", policy=name, width=16, blocks=1, steps=20, batch=32)
    straight, broken = tmp_path / "straight.pt", tmp_path / "broken.pt"
    train(kinematics, synthesis, spec, straight, {"homes": []})
    with pytest.raises(Interrupted):
        train(kinematics, UntilStep(synthesis, 12), spec, broken, {"homes": []})
    assert load_checkpoint(broken)["step"] == 10
    resumed = train(kinematics, synthesis, preset("default"), broken, {}, resume=True)  # with its own settings
    assert (resumed.steps, resumed.spec, resumed.provenance) == (20, spec, {"homes": []})
    first, second = load_checkpoint(straight), load_checkpoint(broken)
    for part in ("policy", "average"):
        assert all(torch.equal(first[part][key], second[part][key]) for key in first[part])
    rows = [[(r["step"], r["loss"], r["mm"]) for r in log_of(path)] for path in (straight, broken)]
    assert rows[0] == rows[1] and [r[0] for r in rows[0]] == ["5", "10", "15", "20"]


def log_of(path):
    with path.with_suffix(".csv").open() as file:
        return list(csv.DictReader(file))


def test_a_run_that_is_done_stays_as_it_is_when_resumed(kinematics, synthesis, tmp_path):
    path = tmp_path / "run.pt"
    train(kinematics, synthesis, preset("tiny", steps=3, batch=16), path, {"homes": []})
    before = load_checkpoint(path)["policy"]
    assert train(kinematics, synthesis, preset("tiny"), path, {}, resume=True).steps == 3
    assert all(torch.equal(before[key], value) for key, value in load_checkpoint(path)["policy"].items())


def test_the_log_names_the_errors_of_the_averaged_policy(kinematics, synthesis, tmp_path):
    path = tmp_path / "run.pt"
    done = train(kinematics, synthesis, preset("tiny", steps=4, batch=64), path, {"homes": []})
    batch = synthesis.batch(64, step=3)  # of the last step
    assert float(log_of(path)[-1]["mm"]) == pytest.approx(position_error_mm(done.policy, kinematics, batch), rel=1e-3)


def test_a_run_that_diverges_says_so_and_saves_nothing(kinematics, synthesis, tmp_path):
    with pytest.raises(ModelError, match=r"training diverged at step \d+ \(loss nan\); lower --learning-rate"):
        train(kinematics, synthesis, preset("tiny", steps=40, batch=16, learning_rate=1e30), tmp_path / "run.pt", {"homes": []})
    assert not (tmp_path / "run.pt").exists()


def test_the_wall_time_bound_ends_a_run(kinematics, synthesis, tmp_path):
    done = train(kinematics, synthesis, preset("tiny", steps=10**6, minutes=1e-3), tmp_path / "run.pt", {"homes": []})
    assert done.steps < 10**6


def test_resuming_without_a_checkpoint_names_the_file(kinematics, synthesis, tmp_path):
    with pytest.raises(ModelError, match=r"no checkpoint '.*missing.pt'"):
        train(kinematics, synthesis, PRESETS["tiny"], tmp_path / "missing.pt", {}, resume=True)


def test_a_broken_checkpoint_names_the_file(kinematics, tmp_path):
    path = tmp_path / "broken.pt"
    path.write_bytes(b"not a checkpoint")
    with pytest.raises(ModelError, match=r"broken.pt: not a readable checkpoint"):
        policy_from_checkpoint(kinematics, path)


def test_a_torch_file_of_another_kind_is_no_checkpoint(kinematics, tmp_path):
    torch.save({"weights": torch.zeros(3)}, tmp_path / "other.pt")
    with pytest.raises(ModelError, match=r"other.pt: not a checkpoint of `mimicik train`"):
        policy_from_checkpoint(kinematics, tmp_path / "other.pt")


def test_settings_of_another_version_are_named(kinematics, tiny_run, tmp_path):
    saved = load_checkpoint(tiny_run[1])
    saved["spec"]["flux"] = 1
    torch.save(saved, tmp_path / "later.pt")
    with pytest.raises(ModelError, match=r"later.pt: written by another version .*flux"):
        policy_from_checkpoint(kinematics, tmp_path / "later.pt")


def test_a_checkpoint_of_another_robot_is_refused(kinematics, tiny_run):
    robot = Kinematics(kinematics.origin, "base_link", "link5", kinematics.joint_names[:5])
    with pytest.raises(ModelError, match="does not fit this robot's 5 joints"):
        policy_from_checkpoint(robot, tiny_run[1])


@pytest.mark.parametrize(("change", "word"),
                         [({"width": 0}, "--width"), ({"minutes": -1.0}, "--minutes"), ({"batch": -5}, "--batch"),
                          ({"learning_rate": float("nan")}, "--learning-rate"), ({"fk_weight": -1.0}, "--fk-weight"),
                          ({"workers": -1}, "--workers"), ({"bf16_share": 1.5}, "--bf16-share"), ({"seed": -1}, "--seed")])
def test_values_that_cannot_be_are_refused_by_name(change, word):
    with pytest.raises(ConfigError, match=word):
        preset("tiny", **change)


def test_an_unknown_preset_lists_the_known_ones():
    with pytest.raises(ConfigError, match=r"unknown 'huge'; one of default, calm, tiny"):
        preset("huge")


class Evil:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def test_a_pickle_that_would_run_code_is_refused_and_nobody_is_told_to_load_it_all_the_same(tmp_path):
    path, mark = tmp_path / "evil.pt", tmp_path / "mark"
    torch.save({"policy": Evil(mark)}, path)
    with pytest.raises(ModelError, match="holds other things than weights") as caught:
        load_checkpoint(path)
    assert not mark.exists() and "weights_only" not in str(caught.value)


@pytest.mark.parametrize(("key", "value", "words"), [
    ("step", "3", "not a checkpoint"), ("minutes", None, "not a checkpoint"), ("provenance", None, "not a checkpoint"),
    ("spec", 5, "not a checkpoint"), ("average", 5, "not a checkpoint"),
    ("spec.policy", "zzz", "written by another version"), ("spec.width", "8", "written by another version"),
    ("spec.mix", [1.0], "written by another version"), ("spec.steps", -1, "written by another version")])
def test_a_checkpoint_with_a_broken_entry_is_named(kinematics, tiny_run, tmp_path, key, value, words):
    saved = load_checkpoint(tiny_run[1])
    name, _, inner = key.partition(".")
    torch.save({**saved, name: {**saved[name], inner: value} if inner else value}, tmp_path / "x.pt")
    with pytest.raises(ModelError, match=words) as caught:
        policy_from_checkpoint(kinematics, tmp_path / "x.pt")
    assert "x.pt" in str(caught.value)


@pytest.mark.parametrize("change", [{"optimisers": []}, {"policy": {}}])
def test_a_checkpoint_that_cannot_go_on_is_named(kinematics, synthesis, tiny_run, tmp_path, change):
    torch.save({**load_checkpoint(tiny_run[1]), **change, "step": 0}, tmp_path / "x.pt")
    spec = policy_from_checkpoint(kinematics, tmp_path / "x.pt").spec
    with pytest.raises(ModelError, match="do not fit its settings"):
        train(kinematics, synthesis, spec, tmp_path / "x.pt", {"homes": []}, resume=True)
