"""Who is compared: every name is known or refused, what cannot run says why, and no run counts twice as a seed."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from mimicik_ros.config import Config
from mimicik_ros.core.errors import ConfigError, ModelError
from mimicik_ros.evaluation import contenders as module
from mimicik_ros.evaluation.contenders import Contender, contenders, policy_of
from mimicik_ros.evaluation.rollout import with_velocity_limit, without_gates
from mimicik_ros.share import share_path

SHIPPED = Path(share_path(Config().policy.model))
CONFIG = with_velocity_limit(without_gates(Config()), 100.0)


def test_the_tick_and_its_halves_are_named_as_in_replay(arm):
    rows = contenders(arm, CONFIG, ("servo", "model", "dls"), ())
    assert [(r.name, r.kind, r.servo.solver) for r in rows] == [
        ("servo", "tick", "servo"), ("model", "model", "model"), ("dls", "classical", "dls")]
    assert rows[0].servo.policy is rows[1].servo.policy and rows[2].servo.policy is None


def test_branch_switches_of_a_classical_solver_are_not_hidden_by_the_bound_of_the_tick(arm):
    model, dls = contenders(arm, CONFIG, ("model", "dls"), ())
    assert model.servo.config.servo.max_joint_step_rad == Config().servo.max_joint_step_rad
    assert dls.servo.config.servo.max_joint_step_rad > 3.0


@pytest.mark.parametrize(("solvers", "words"), [(("servo", "newton"), "unknown 'newton'; one of servo, model, dls"),
                                                (("dls", "dls"), "more than once")])
def test_a_wrong_name_is_refused_with_the_choices(arm, solvers, words):
    with pytest.raises(ConfigError, match=words):
        contenders(arm, CONFIG, solvers, ())


def test_a_solver_that_cannot_run_is_a_row_with_its_reason(arm, monkeypatch):
    registry = SimpleNamespace(NAMES=("magic",), unavailable=lambda name: "needs a GPU", make=None)
    monkeypatch.setattr(module, "registry", registry)
    (row,) = contenders(arm, CONFIG, ("magic",), ())
    assert (row.servo, row.skipped) == (None, "needs a GPU")


def test_a_model_file_runs_alone_under_its_own_name(arm):
    (row,) = contenders(arm, CONFIG, (), (SHIPPED,))
    assert (row.name, row.kind, row.servo.solver, row.policy) == (SHIPPED.stem, "policy", "model", "mip")
    assert not row.on_gpu


@pytest.mark.parametrize(("spec", "expected"), [
    ({}, ("mip", 0)), ({"policy": "unet", "seed": 2, "fk_weight": 1.0}, ("unet", 2)), (None, ("mip", 0)),
    ({"policy": "mip", "seed": 1, "fk_weight": 0.0}, ("mip --fk-weight 0", 1)),
    ({"policy": "mip-published-fk", "fk_weight": 0}, ("mip-published-fk --fk-weight 0", 0))])
def test_policy_and_seed_come_from_the_model_card(spec, expected):
    assert policy_of(spec, "a.onnx") == expected


def test_a_card_with_a_seed_that_is_no_number_is_refused():
    with pytest.raises(ModelError, match=r"a\.onnx: model card: .*spec\.seed 'one'"):
        policy_of({"seed": "one"}, "a.onnx")


def test_one_run_under_two_names_is_no_second_seed():
    rows = [Contender("a", "policy", None, "mip", 0), Contender("b", "policy", None, "mip", 0)]
    with pytest.raises(ConfigError, match="a and b are both mip, seed 0"):
        module._check_distinct(rows)


def test_two_files_of_one_name_are_refused(arm, tmp_path):
    copy = tmp_path / "model.onnx"
    copy.write_bytes(SHIPPED.read_bytes())
    with pytest.raises(ConfigError, match="two rows would be called 'model'"):
        contenders(arm, CONFIG, ("model",), (copy,))
