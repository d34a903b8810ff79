"""A real tiny run learns, keeps checkpoints, resumes, and refuses what cannot be."""

import numpy as np
import pytest
import torch

from mimicik_ros.core.errors import ConfigError, ModelError
from mimicik_ros.core.kinematics import Kinematics
from mimicik_ros.training.spec import PRESETS, preset
from mimicik_ros.training.train import policy_from_checkpoint, train


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


def test_the_checkpoint_holds_the_averaged_policy(kinematics, tiny_run):
    trained, path = tiny_run
    loaded = policy_from_checkpoint(kinematics, path)
    assert (loaded.steps, loaded.spec, loaded.provenance) == (trained.steps, trained.spec, trained.provenance)
    x = torch.zeros(3, 12)
    torch.testing.assert_close(loaded.policy(x), trained.policy(x))


def test_resuming_goes_on_from_the_saved_step_with_the_saved_settings(kinematics, synthesis, tmp_path):
    path = tmp_path / "run.pt"
    spec = preset("tiny", steps=6, batch=32)
    train(kinematics, synthesis, spec, path, {"homes": []})
    saved = torch.load(path, weights_only=True)
    saved["spec"]["steps"] = 9
    torch.save(saved, path)
    resumed = train(kinematics, synthesis, preset("default"), path, {}, resume=True)
    assert (resumed.steps, resumed.spec.width, resumed.spec.batch) == (9, spec.width, 32)


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


def test_a_checkpoint_of_another_robot_is_refused(kinematics, tiny_run):
    robot = Kinematics(kinematics.origin, "base_link", "link5", kinematics.joint_names[:5])
    with pytest.raises(ModelError, match="does not fit this robot's 5 joints"):
        policy_from_checkpoint(robot, tiny_run[1])


@pytest.mark.parametrize(("change", "word"),
                         [({"width": 0}, "--width"), ({"minutes": -1.0}, "--minutes"), ({"batch": -5}, "--batch")])
def test_values_that_cannot_be_are_refused_by_name(change, word):
    with pytest.raises(ConfigError, match=word):
        preset("tiny", **change)


def test_an_unknown_preset_lists_the_known_ones():
    with pytest.raises(ConfigError, match=r"unknown 'huge'; one of default, calm, tiny"):
        preset("huge")
