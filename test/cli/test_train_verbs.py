"""`mimicik train` and `mimicik ablate`: options, resume and bad input, with runs of a few steps."""

import json
import os
import shutil
import time

import pytest

from mimicik_ros.cli.main import main

torch = pytest.importorskip("torch", reason="the training extra is not installed")

TINY = ("--preset", "tiny", "--batch", "32", "--steps", "3", "--width", "16", "--blocks", "1")
HOME = "0 0 0 0 0 0"


def saved(path):
    return torch.load(path, weights_only=True)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    path = tmp_path_factory.mktemp("train") / "run.pt"
    assert main(["train", *TINY, "--device", "cpu", "--home", HOME, "--seed", "5", "--out", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def ablation(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ablation")
    assert main(["ablate", "--out", str(folder), *TINY, "--seeds", "2", "--policies", "mip-no-fk,mlp"]) == 0
    return folder


def test_options_reach_the_run_and_the_checkpoint(tmp_path):
    path = tmp_path / "run.pt"
    assert main(["train", *TINY, "--policy", "flow", "--fk-weight", "0.5", "--sampler-steps", "2", "--log", str(tmp_path / "log"),
                 "--out", str(path)]) == 0
    spec = saved(path)["spec"]
    assert (spec["policy"], spec["fk_weight"], spec["sampler_steps"], spec["steps"]) == ("flow", 0.5, 2, 3)
    assert [p for p in os.listdir(tmp_path / "log") if p.startswith("events.out.tfevents")]
    assert path.with_suffix(".csv").read_text().startswith("step,minutes,lr,loss,flow,fk,mm,deg\n3,")


def test_resuming_takes_settings_and_start_poses_from_the_checkpoint(finished, capsys):
    assert main(["train", "--resume", "--out", str(finished)]) == 0
    assert "3 steps of mip" in capsys.readouterr().out
    assert (saved(finished)["spec"]["seed"], saved(finished)["provenance"]["homes"]) == (5, [[0.0] * 6])


def test_a_new_schedule_begins_with_the_finished_weights(finished, tmp_path):
    path = tmp_path / "second.pt"
    assert main(["train", *TINY, "--init", str(finished), "--learning-rate", "1e-12", "--out", str(path)]) == 0
    before, after = saved(finished)["average"], saved(path)["average"]
    assert all(torch.allclose(before[key], after[key], atol=1e-8) for key in before)
    assert saved(path)["provenance"]["after"]["seed"] == 5


@pytest.mark.parametrize(("options", "words"), [
    (["--policy", "magic"], "--policy: unknown 'magic'; one of mip,"), (["--device", "tpu"], "--device: unknown 'tpu'"),
    (["--fk-weight", "nan"], "--fk-weight: must not be negative"), (["--batch", "0"], "--batch: must be positive"),
    (["--seed", str(2**70)], "--seed: must be at most"), (["--threads", "1000000"], "--threads: must be at most 1024"),
    (["--width", "10000000"], "--width: must be at most"), (["--resume"], "no checkpoint"),
    (["--home", "1 2"], "--home: expected 6"), (["--data", "nowhere"], "nowhere: no such file")])
def test_bad_options_are_one_line_and_exit_code_two(tmp_path, options, words, capsys):
    assert main(["train", *TINY, "--out", str(tmp_path / "run.pt"), *options]) == 2
    line = capsys.readouterr().err
    assert words in line and line.startswith("error: ") and line.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_weights_of_another_policy_are_refused_as_a_start(finished, tmp_path, capsys):
    assert main(["train", *TINY, "--policy", "mlp", "--init", str(finished), "--out", str(tmp_path / "x.pt")]) == 2
    assert "('mip', 16, 1), asked for is ('mlp', 16, 1)" in capsys.readouterr().err


def test_resuming_with_other_start_poses_is_refused(finished, capsys):
    assert main(["train", "--resume", "--out", str(finished), "--home", "0 0 0 1 0 0"]) == 2
    assert "--resume: the run began with other data" in capsys.readouterr().err


def test_an_ablation_writes_every_model_and_the_figures_of_each(ablation):
    report = json.loads((ablation / "ablation.json").read_text())
    names = ["mip-no-fk_seed0", "mip-no-fk_seed1", "mlp_seed0", "mlp_seed1"]
    assert list(report["runs"]) == names
    assert (report["settings"]["steps"], report["settings"]["minutes"]) == (3, 0.0)
    for name in names:
        run = report["runs"][name]
        assert (ablation / run["model"]).is_file() and run["steps"] == 3 and run["heldout"]["position_mean_mm"] > 0.0
        assert run["fk_weight"] == (0.0 if name.startswith("mip") else 1.0)
    assert len({run["heldout"]["position_mean_mm"] for run in report["runs"].values()}) == 4


def test_an_ablation_called_again_does_only_what_is_missing(ablation, capsys):
    capsys.readouterr()
    lost = ablation / "mlp_seed1.onnx"
    before = {p.name: p.stat().st_mtime_ns for p in ablation.glob("*.onnx")}
    lost.unlink()
    time.sleep(0.01)
    assert main(["ablate", "--out", str(ablation), *TINY, "--seeds", "2", "--policies", "mip-no-fk,mlp"]) == 0
    said = capsys.readouterr().out
    assert said.count("done before, kept") == 3 and "mlp_seed1: going on" in said
    after = {p.name: p.stat().st_mtime_ns for p in ablation.glob("*.onnx")}
    assert [name for name in before if after[name] != before[name]] == ["mlp_seed1.onnx"]


@pytest.mark.parametrize(("options", "words"), [
    (["--steps", "4"], "had steps 3, now it is 4"), (["--policies", "mip,magic"], "--policies: unknown 'magic'; any of mip,"),
    (["--seeds", "0"], "--seeds: must be at least 1"), (["--home", HOME], "had homes [], now it is [[0.0")])
def test_an_ablation_refuses_another_budget_or_a_bad_name(ablation, options, words, capsys):
    capsys.readouterr()
    assert main(["ablate", "--out", str(ablation), *TINY, "--policies", "mlp", *options]) == 2
    line = capsys.readouterr().err
    assert words in line and line.count("\n") == 1


def test_a_broken_report_is_named(tmp_path, capsys):
    (tmp_path / "ablation.json").write_text("{}")
    assert main(["ablate", "--out", str(tmp_path), *TINY]) == 2
    assert "ablation.json: not a report of `mimicik ablate`" in capsys.readouterr().err


@pytest.mark.parametrize(("option", "words"), [
    (["--steps", "9"], "--steps: 9 is not what the run has (3)"),
    (["--policy", "mlp"], "--policy: mlp is not what the run has (mip)"),
    (["--preset", "calm"], "--preset: calm is not what the run has (tiny)"), (["--init", "x.pt"], "--init: starts a new run")])
def test_a_resumed_run_refuses_what_it_would_not_heed(finished, option, words, capsys):
    before = finished.read_bytes()
    assert main(["train", "--resume", "--out", str(finished), *option]) == 2
    assert words in capsys.readouterr().err and finished.read_bytes() == before


def test_the_same_settings_again_are_no_contradiction(finished):
    assert main(["train", "--resume", "--out", str(finished), *TINY, "--seed", "5"]) == 0


def test_no_file_is_trained_over_its_data_nor_over_its_own_log(tmp_path, capsys):
    pytest.importorskip("pyarrow", reason="the data extra is not installed")
    data = tmp_path / "d.parquet"
    assert main(["dataset", "synth", str(data), "--episodes", "2", "--seconds", "2"]) == 0
    before = data.read_bytes()
    assert main(["train", *TINY, "--data", str(data), "--out", str(data)]) == 2
    assert "is read as well and would be lost" in capsys.readouterr().err and data.read_bytes() == before
    assert main(["train", *TINY, "--out", str(tmp_path / "run.csv")]) == 2
    assert "is written by --out already" in capsys.readouterr().err
    assert main(["train", *TINY, "--out", str(tmp_path)]) == 2
    assert "is a folder" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["d.parquet"]


@pytest.fixture
def bare(tmp_path):
    """Configuration of another tool on the same arm."""
    path = tmp_path / "bare.yaml"
    path.write_text("robot: {urdf: urdf/airbot_play_bare.urdf}\n")
    return str(path)


@pytest.fixture
def slow(tmp_path):
    """Configuration of another rate."""
    path = tmp_path / "slow.yaml"
    path.write_text("servo: {rate_hz: 10.0}\n")
    return str(path)


@pytest.mark.parametrize(("other", "words"), [("bare", "kinematic_hash"), ("slow", "period_s 0.05, here 0.1")])
def test_a_checkpoint_is_exported_and_resumed_for_its_own_robot_and_rate_only(finished, tmp_path, request, other, words, capsys):
    config = request.getfixturevalue(other)
    model = tmp_path / "m.onnx"
    model.write_bytes(b"old")
    for argv in (["export", str(finished), str(model)], ["train", "--resume", "--out", str(finished)]):
        assert main([*argv, "--config", config]) == 2
        error = capsys.readouterr().err
        assert "trained for another robot or rate" in error and words in error and error.count("\n") == 1
    assert model.read_bytes() == b"old"


def test_the_weights_of_one_tool_may_start_the_training_for_another(finished, bare, tmp_path):
    assert main(["train", *TINY, "--init", str(finished), "--config", bare, "--out", str(tmp_path / "x.pt")]) == 0


def test_an_export_falls_on_no_checkpoint_and_a_failed_one_leaves_the_model_that_was_there(finished, tmp_path, capsys):
    before = finished.read_bytes()
    assert main(["export", str(finished), str(finished)]) == 2
    assert "is read as well" in capsys.readouterr().err and finished.read_bytes() == before
    broken = saved(finished)
    broken["average"] = {k: torch.full_like(v, float("nan")) if k.endswith("weight") else v for k, v in broken["average"].items()}
    torch.save(broken, tmp_path / "nan.pt")
    (tmp_path / "m.onnx").write_bytes(b"old")
    assert main(["export", str(tmp_path / "nan.pt"), str(tmp_path / "m.onnx")]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert (tmp_path / "m.onnx").read_bytes() == b"old" and not list(tmp_path.glob("*.partial"))


def test_an_export_says_nothing_on_standard_error(finished, tmp_path, capsys, recwarn):
    assert main(["export", str(finished), str(tmp_path / "m.onnx")]) == 0
    assert not capsys.readouterr().err and not [str(w.message) for w in recwarn if "Tracer" in w.category.__name__]


def test_a_run_begun_with_other_settings_is_not_taken_for_one_of_the_ablation(ablation, tmp_path, capsys):
    shutil.copy(ablation / "mlp_seed0.pt", tmp_path)
    other = [*TINY[:4], "--steps", "4", *TINY[6:]]
    assert main(["ablate", "--out", str(tmp_path), *other, "--seeds", "1", "--policies", "mlp"]) == 2
    assert "was begun with other settings" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["mlp_seed0.pt"]


def test_an_ablation_of_another_robot_is_refused(ablation, bare, capsys):
    assert main(["ablate", "--out", str(ablation), *TINY, "--seeds", "2", "--policies", "mip-no-fk,mlp", "--config", bare]) == 2
    assert "had robot {" in capsys.readouterr().err


@pytest.mark.parametrize("run", ["5", "{}", '{"policy": "mlp", "steps": 3, "heldout": {}}',
                                 '{"policy": 1, "steps": 3, "heldout": {"position_mean_mm": 1}}'])
def test_a_report_with_a_broken_run_is_named(ablation, tmp_path, run, capsys):
    settings = json.loads((ablation / "ablation.json").read_text())["settings"]
    (tmp_path / "ablation.json").write_text(f'{{"settings": {json.dumps(settings)}, "runs": {{"mlp_seed0": {run}}}}}')
    assert main(["ablate", "--out", str(tmp_path), *TINY, "--policies", "mlp", "--seeds", "1"]) == 2
    assert "not a report of `mimicik ablate`" in capsys.readouterr().err
