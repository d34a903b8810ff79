"""`mimicik evaluate --table` and `--bars` as their users meet them: files, figures, exit codes, one line for what is wrong."""

import csv
import json
import shutil
import sys

import pytest

from mimicik_ros.cli import table as verb
from mimicik_ros.cli.main import main
from mimicik_ros.evaluation import bars
from mimicik_ros.share import share_path


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    argv = ["evaluate", "--table", "--out", str(folder), "--solvers", "servo,model,dls", "--suites", "singular", "--size", "tiny",
            "--data", "none"]
    assert main(argv) == 0
    return folder


def test_the_table_comes_as_markdown_csv_json_and_pictures(out):
    names = {p.name for p in out.iterdir()}
    pictures = {"error_by_condition.png", "velocity_amplification.png", "singularity.png"}
    assert names == {"table.md", "table.csv", "table.json"} | pictures
    rows = list(csv.DictReader((out / "table.csv").open()))
    assert {(r["solver"], r["loop"]) for r in rows if r["kind"] != "published"} == {
        (s, loop) for s in ("servo", "model", "dls") for loop in ("closed", "open")}
    assert len(json.loads((out / "table.json").read_text())["rows"]) == len(rows)
    assert "## Definitions" in (out / "table.md").read_text()


def test_the_whole_tick_is_exact_where_the_model_alone_is_not(out):
    lines = csv.DictReader((out / "table.csv").open())
    rows = {r["solver"]: r for r in lines if (r["loop"], r["suite"]) == ("closed", "singular")}
    assert float(rows["servo"]["position_mean_mm"]) < 0.1
    assert float(rows["servo"]["strict_percent"]) >= float(rows["model"]["strict_percent"])
    assert rows["servo"]["energy_mj"] == "not measured" or float(rows["servo"]["energy_mj"]) > 0.0


@pytest.fixture
def short(monkeypatch):
    """The bars on one suite, to keep the test short; they say so of the others."""
    monkeypatch.setattr(bars, "SUITES", ("singular",))
    monkeypatch.setattr(bars, "groups", lambda episodes: {"singular": list(episodes)})


@pytest.mark.parametrize(("limit", "code", "verdict"), [(1e9, 0, "met"), (-1.0, 1, "MISSED")])
def test_a_missed_bar_is_exit_code_one(short, monkeypatch, capsys, limit, code, verdict):
    monkeypatch.setattr(bars, "BARS", (("singular", "position_mean_mm", "<=", limit, "mm"),
                                       (bars.RECORDED, "position_mean_mm", "<=", 0.1, "mm")))
    assert main(["evaluate", "--bars", "--size", "tiny", "--data", "none"]) == code
    printed = capsys.readouterr().out
    assert f"  {verdict} " in printed and "not judged" in printed and "give --data" in printed


def test_json_on_standard_output_is_json_and_nothing_else(short, capsys):
    main(["evaluate", "--bars", "--size", "tiny", "--data", "none", "--json", "-"])
    report = json.loads(capsys.readouterr().out)
    assert {"about", "definitions", "rows", "seeds", "bars"} == set(report)
    assert len(report["bars"]) == len(bars.BARS)


@pytest.mark.parametrize(("argv", "words"), [
    (["--table"], "--table: needs --out DIR"),
    (["--table", "--out", "{tmp}", "--solvers", "newton"], "--solvers: unknown 'newton'"),
    (["--table", "--out", "{tmp}", "--suites", "dance"], "suites: unknown 'dance'"),
    (["--table", "--out", "{tmp}", "--suites", ""], "--suites: names nothing"),
    (["--table", "--out", "{tmp}", "--velocity-limit", "0"], "--velocity-limit: must lie in"),
    (["--table", "--out", "{tmp}", "--models", "nowhere.onnx"], "no file 'nowhere.onnx'"),
    (["--table", "--out", "{tmp}", "--models", "{tmp}"], "--models: no .onnx file in"),
    (["--table", "--out", "{tmp}", "--data", "nowhere"], "--data: no folder 'nowhere'"),
    (["--table", "--out", "{tmp}", "--seed", "-1"], "--seed: must not be negative"),
    (["--table", "--bars", "--out", "{tmp}", "--solvers", "dls"], "--bars: judges the solver 'model'"),
    (["--table", "--out", "{tmp}", "--samples", "5"], "--samples: of the model alone"),
    (["--bars", "--step-rad", "0.05"], "--step-rad: of the model alone"),
    (["--table", "--out", "{tmp}", "--json", "{tmp}"], "is a folder"),
    (["--table", "--out", "{tmp}", "--data", "{tmp}", "--suites", "teleop", "--solvers", "dls"], "--data: no held-out motion in"),
    (["--bars", "--velocity-limit", "3"], "the bars are judged unclamped"),
    (["--bars", "--models", "a.onnx"], "--models: only with --table"),
    (["--size", "tiny"], "--size: only with --table or --bars")])
def test_what_cannot_be_is_one_line_and_exit_code_two(tmp_path, capsys, argv, words):
    assert main(["evaluate", *(a.replace("{tmp}", str(tmp_path)) for a in argv)]) == 2
    line = capsys.readouterr().err
    assert words in line and line.startswith("error: ") and line.count("\n") == 1


def test_an_output_that_is_a_file_is_refused_before_anything_runs(tmp_path, capsys):
    (tmp_path / "taken").write_text("")
    assert main(["evaluate", "--table", "--out", str(tmp_path / "taken"), "--data", "none"]) == 2
    assert "taken" in capsys.readouterr().err


def test_recorded_motion_is_looked_for_beside_the_checkout_only_by_default(tmp_path, monkeypatch):
    assert verb._data("none") is None
    assert verb._data(str(tmp_path)) == tmp_path
    monkeypatch.setattr(verb.mimicik_ros, "__file__", str(tmp_path / "checkout" / "mimicik_ros" / "__init__.py"))
    assert verb._data(None) is None
    (tmp_path / "shared" / "data").mkdir(parents=True)
    assert verb._data(None) == tmp_path / "shared" / "data"


@pytest.mark.parametrize("argv", [["--samples", "50", "--model", "M"], ["--bars", "--model", "M"],
                                  ["--table", "--out", "O", "--solvers", "dls", "--models", "M"]])
def test_figures_are_never_written_over_the_model_that_they_judge(tmp_path, capsys, argv):
    model = tmp_path / "m.onnx"
    shutil.copy(share_path("models/airbot_play_g2.onnx"), model)
    before = model.read_bytes()
    words = {"M": str(model), "O": str(tmp_path / "out")}
    assert main(["evaluate", *(words.get(a, a) for a in argv), "--json", str(model)]) == 2
    assert "is read as well and would be lost" in capsys.readouterr().err
    assert model.read_bytes() == before and not (tmp_path / "out").exists()


def test_a_missing_plotting_library_is_named_before_anything_is_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(verb, "_measured", lambda *_: pytest.fail("measured first"))
    assert main(["evaluate", "--table", "--out", str(tmp_path / "o"), "--solvers", "dls", "--size", "tiny"]) == 2
    assert "pip install 'mimicik_ros[eval]'" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
