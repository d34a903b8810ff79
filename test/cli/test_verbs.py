"""The command line as its users meet it: exit codes, one clear line for bad input, and files as promised."""

import csv
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mimicik_ros
from mimicik_ros.cli.main import main
from mimicik_ros.config import Config
from mimicik_ros.share import share_path

HOME = "0 -1 1.2 1.5708 -1.2 -1.5708"


@pytest.fixture
def targets(tmp_path):
    path = tmp_path / "targets.csv"
    lines = share_path("config/demo_stream.csv").read_text().splitlines()[:31]
    path.write_text("\n".join(lines) + "\n")
    return path


def replay(targets, tmp_path, *options, q_init=HOME):
    return main(["replay", str(targets), "--q-init", q_init, "--out", str(tmp_path / "out.csv"), *options])


@pytest.mark.parametrize("solver", ["servo", "model", "dls"])
def test_replay_writes_a_row_for_every_target(targets, tmp_path, solver, capsys):
    assert replay(targets, tmp_path, "--solver", solver) == 0
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["t", "q1", "q2", "q3", "q4", "q5", "q6", "latency_ms", "status"]
    assert [float(r["t"]) for r in rows] == pytest.approx(np.arange(30) * 0.05)
    assert all(float(r["latency_ms"]) > 0.0 for r in rows)
    assert "30 ticks" in capsys.readouterr().out


@pytest.mark.parametrize("solver", ["dls-one", "dls-exact", "pink", "trac-ik", "pybullet", "closed-form"])
def test_replay_runs_every_baseline_in_the_tick(targets, tmp_path, solver, capsys):
    assert replay(targets, tmp_path, "--solver", solver, "--json", str(tmp_path / "f.json")) == 0
    figures = json.loads((tmp_path / "f.json").read_text())
    assert figures["status"] == {"ok": 30} and figures["limit_violations"] == 0
    assert f"solver {solver}" in capsys.readouterr().out


def test_unclamped_a_baseline_is_as_fast_as_it_asks_to_be(targets, tmp_path):
    # Joint 4 has to turn by 1.2 rad in a tick, 24 rad/s, with the wrist stretched but for 0.05 rad.
    from mimicik_ros.cli.setup import robot_of
    from mimicik_ros.core import se3

    k = robot_of(Config())
    start = np.array([0.0, -1.0, 1.2, 0.5, 0.05, -0.5])
    poses = [k.fk(start), k.fk(start + np.array([0, 0, 0, 1.2, 0, 0]))]  # the first anchors the arm
    rows = [[float(v) for v in (*T[:3, 3], *se3.quat_from_rotation(T[:3, :3]))] for T in poses]
    targets.write_text("t,x,y,z,qx,qy,qz,qw\n" + "".join(f"{0.05 * i},{','.join(map(repr, r))}\n" for i, r in enumerate(rows)))
    fastest = {}
    for limit in ("100", "3.14"):
        assert replay(targets, tmp_path, "--solver", "closed-form", "--velocity-limit", limit, "--json", str(tmp_path / "f.json"),
                      "--config", bad_file(tmp_path, "wide.yaml", "servo: {max_angular_speed_rad_s: 30}"),
                      q_init=" ".join(map(str, start))) == 0
        fastest[limit] = json.loads((tmp_path / "f.json").read_text())["max_velocity"]
    assert fastest["100"] == pytest.approx(24.0, abs=1e-6)
    assert fastest["3.14"] <= 3.14 + 1e-6


@pytest.mark.parametrize(("solver", "module"), [
    ("pink", "pink"), ("trac-ik", "pytracik"), ("pybullet", "pybullet"), ("curobo", "torch")])
def test_a_baseline_without_its_package_is_one_line_with_the_pip_command(targets, tmp_path, solver, module, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, module, None)
    assert replay(targets, tmp_path, "--solver", solver) == 2
    line = capsys.readouterr().err
    assert line.startswith(f"error: {solver}") and "pip install" in line and line.count("\n") == 1


def test_the_solvers_of_replay_are_those_of_the_servo_and_the_baselines():
    from mimicik_ros.cli.replay import SHIPPED
    from mimicik_ros.core.servo import SOLVERS

    assert SHIPPED == SOLVERS


def test_replay_with_a_velocity_limit_keeps_it_for_every_joint_and_no_acceleration_limit(targets, tmp_path):
    targets.write_text("t,x,y,z,qx,qy,qz,qw\n" + "".join(f"{i / 20},0.45,0.1,0.3,0,0.48,0,0.877\n" for i in range(20)))
    assert replay(targets, tmp_path, "--velocity-limit", "0.5") == 0
    with (tmp_path / "out.csv").open() as file:
        q = np.array([[float(r[f"q{i}"]) for i in range(1, 7)] for r in csv.DictReader(file)])
    steps = np.diff(np.vstack([np.array(HOME.split(), dtype=float), q]), axis=0) / 0.05
    assert np.abs(steps).max() <= 0.5 + 1e-6
    assert np.abs(steps[0]).max() > 0.49  # at once at full speed


def test_replay_goes_on_after_a_gap(targets, tmp_path):
    lines = targets.read_text().splitlines()
    del lines[5:16]
    targets.write_text("\n".join(lines) + "\n")
    assert replay(targets, tmp_path) == 0
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [r["status"] for r in rows] == ["ok"] * 19
    q = np.array([[float(r[f"q{i}"]) for i in range(1, 7)] for r in rows])
    # The target jumped meanwhile; the command must neither jump nor change its speed beyond the limits.
    steps = np.diff(np.vstack([np.array(HOME.split(), dtype=float), q]), axis=0)
    assert np.abs(steps).max() <= 1.57 * 0.05 + 1e-6
    assert np.abs(np.diff(steps, axis=0)).max() <= 10.0 * 0.05**2 + 1e-6


def test_replay_keeps_the_times_of_the_targets_to_the_last_digit(targets, tmp_path):
    times = ["0.0", "0.05", "12345.05", "1764592000.123"]
    targets.write_text("t,x,y,z,qx,qy,qz,qw\n" + "".join(f"{t},0.3,0,0.2,0,0,0,1\n" for t in times))
    assert replay(targets, tmp_path) == 0
    with (tmp_path / "out.csv").open() as file:
        assert [r["t"] for r in csv.DictReader(file)] == times


def test_replay_starts_inside_the_limits_from_joints_measured_slightly_outside(targets, tmp_path):
    assert replay(targets, tmp_path, "--json", str(tmp_path / "f.json"), q_init="0 -1 -0.1 1.5708 -1.2 -1.5708") == 0
    assert json.loads((tmp_path / "f.json").read_text())["limit_violations"] == 0


def test_replay_json_holds_the_figures(targets, tmp_path):
    assert replay(targets, tmp_path, "--json", str(tmp_path / "f.json")) == 0
    figures = json.loads((tmp_path / "f.json").read_text())
    assert figures["ticks"] == 30 and figures["strict_percent"] == 100.0 and figures["status"] == {"ok": 30}


@pytest.mark.parametrize(("row_s", "words"), [
    (0.05, None), (0.054, None), (1 / 30, "1.50 times as fast"), (0.1, "0.50 times as fast")])
def test_replay_says_where_rows_and_ticks_differ_in_pace(targets, tmp_path, row_s, words, capsys):
    targets.write_text("t,x,y,z,qx,qy,qz,qw\n" + "".join(f"{i * row_s:.6f},0.37,0,0.23,0,0.48,0,0.877\n" for i in range(20)))
    assert replay(targets, tmp_path) == 0
    said = capsys.readouterr().err
    assert words in said if words else not said


def test_replay_judges_the_first_command_as_well(targets, tmp_path, monkeypatch):
    from mimicik_ros.evaluation import rollout as loop

    real = loop.rollout

    def jumps_at_once(servo, stream, q_init):
        done = real(servo, stream, q_init)
        return dataclasses.replace(done, q=done.q + 0.2)

    monkeypatch.setattr(loop, "rollout", jumps_at_once)
    assert replay(targets, tmp_path, "--json", str(tmp_path / "f.json")) == 0
    assert json.loads((tmp_path / "f.json").read_text())["limit_violations"] >= 1


@pytest.mark.parametrize(("q_init", "words"), [
    ("0 0 0", "expected 6 finite numbers"), ("a b c d e f", "expected 6 finite numbers"), ("0 0 0 0 0 nan", "expected 6 finite"),
    ("0 0 0 0 9 0", r"joint5 = 9 rad lies outside")])
def test_bad_initial_joints_are_refused_by_name(targets, tmp_path, q_init, words, capsys):
    assert replay(targets, tmp_path, q_init=q_init) == 2
    line = capsys.readouterr().err
    assert words in line and line.startswith("error: --q-init") and line.count("\n") == 1


def bad_file(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(("make", "words"), [
    (lambda p: ["--config", "nowhere.yaml"], "cannot read 'nowhere.yaml'"),
    (lambda p: ["--config", bad_file(p, "c.yaml", "servo: [")], "c.yaml: not a YAML file"),
    (lambda p: ["--config", bad_file(p, "c.yaml", "servo: {rate: 20}")], "did you mean 'servo.rate_hz'"),
    (lambda p: ["--config", bad_file(p, "c.yaml", "servo: {rate_hz: 0}")], "servo.rate_hz must lie in"),
    (lambda p: ["--config", bad_file(p, "c.yaml", "robot: {urdf: nowhere.urdf}")], "no file 'nowhere.urdf'"),
    (lambda p: ["--config", bad_file(p, "c.yaml", f"robot: {{urdf: {bad_file(p, 'r.urdf', '<robot')}}}")], "r.urdf"),
    (lambda p: ["--config", bad_file(p, "c.yaml", "robot: {tool_frame: hand}")], "no frame named 'hand'"),
    (lambda p: ["--config", bad_file(p, "c.yaml", "robot: {urdf: urdf/airbot_play_e2b.urdf}")], "trained for another robot"),
    (lambda p: ["--model", "nowhere.onnx"], "no file 'nowhere.onnx'"),
    (lambda p: ["--model", bad_file(p, "m.onnx", "no model")], "m.onnx: ONNX Runtime cannot load it"),
    (lambda p: ["--velocity-limit", "-1"], "--velocity-limit: must lie in")])
def test_bad_set_up_is_one_line_and_exit_code_two(targets, tmp_path, make, words, capsys):
    assert replay(targets, tmp_path, *make(tmp_path)) == 2
    line = capsys.readouterr().err
    assert words in line and line.startswith("error: ") and line.count("\n") == 1


def test_an_unwritable_output_is_named(targets, capsys):
    assert main(["replay", str(targets), "--q-init", HOME, "--out", str(targets / "out.csv")]) == 2
    assert f"--out: '{targets}' is a file, not a folder" in capsys.readouterr().err


def test_solve_finds_the_joints_of_a_reachable_pose(capsys):
    from mimicik_ros.cli.setup import robot_of
    from mimicik_ros.core import se3

    k = robot_of(Config())
    q = np.array([0.4, -0.8, 1.1, 0.7, -0.9, 0.3])
    T = k.fk(q)
    pose = [*T[:3, 3], *se3.quat_from_rotation(T[:3, :3])]
    assert main(["solve", *(f"{v:.12f}" for v in pose), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["reachable"]
    np.testing.assert_allclose(k.fk(np.array(list(answer["q_rad"].values()))), T, atol=1e-5)


def test_solve_says_what_is_out_of_reach(capsys):
    assert main(["solve", "3", "0", "0", "0", "0", "0", "1", "--starts", "2"]) == 1
    assert "not reachable" in capsys.readouterr().out


def test_solve_stays_near_the_initial_joints(capsys):
    from mimicik_ros.cli.setup import robot_of
    from mimicik_ros.core import se3

    q = np.array(HOME.split(), dtype=float)
    T = robot_of(Config()).fk(q + 0.1)
    pose = [*T[:3, 3], *se3.quat_from_rotation(T[:3, :3])]
    assert main(["solve", *(f"{v:.12f}" for v in pose), "--q-init", HOME, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["starts"] == 1
    np.testing.assert_allclose(list(answer["q_rad"].values()), q + 0.1, atol=1e-4)


def test_solve_reads_numbers_as_they_are_printed(capsys):
    assert main(["solve", "0.2866", "-1e-05", "0.2146", "-1.5E-7", "0", "-.0", "1", "--solver", "dls"]) == 0
    assert capsys.readouterr().out.startswith("reachable")


def test_solve_refuses_a_zero_quaternion(capsys):
    assert main(["solve", "0.3", "0", "0.2", "0", "0", "0", "0"]) == 2
    assert "quaternion that is not zero" in capsys.readouterr().err


def test_doctor_passes_here_and_names_robot_and_model(capsys):
    code = main(["doctor", "--json"])
    report = json.loads(capsys.readouterr().out)
    failed = [c for c in report["checks"] if c["ok"] is False]
    assert (code, failed) == (0, [])
    assert {"robot", "model", "onnxruntime", "pinocchio"} <= {c["name"] for c in report["checks"]}


def test_doctor_fails_on_two_builds_of_onnxruntime(monkeypatch, capsys):
    from mimicik_ros.cli import doctor

    monkeypatch.setattr(doctor, "_version", lambda package: "1.0")
    assert main(["doctor"]) == 1
    assert "both installed" in capsys.readouterr().out


def test_doctor_fails_on_a_missing_model_and_goes_on(capsys):
    assert main(["doctor", "--model", "nowhere.onnx"]) == 1
    out = capsys.readouterr().out
    assert "FAIL model" in out and "ok   robot" in out


def test_evaluate_prints_the_definitions_and_figures(capsys):
    assert main(["evaluate", "--samples", "500", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 500


@pytest.mark.parametrize(("out", "figures", "words"), [
    ("targets", "f.json", "is read as well and would be lost"), ("o.csv", "targets", "is read as well and would be lost"),
    ("o.csv", "o.csv", "is written by --out already"), (".", "f.json", "is a folder")])
def test_replay_writes_over_no_other_file(tmp_path, targets, capsys, out, figures, words):
    before = targets.read_bytes()
    named = [str(targets) if name == "targets" else str(tmp_path / name) for name in (out, figures)]
    assert main(["replay", str(targets), "--q-init", HOME, "--out", named[0], "--json", named[1]]) == 2
    assert words in capsys.readouterr().err
    assert targets.read_bytes() == before and not (tmp_path / "o.csv").exists() and not (tmp_path / "f.json").exists()


def test_more_than_the_memory_holds_is_one_line(capsys):
    assert main(["evaluate", "--samples", str(10**15)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: not enough memory") and error.count("\n") == 1


def test_a_missing_extra_prints_the_pip_command(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [m for m in sys.modules if m.startswith("mimicik_ros.training")]:
        monkeypatch.delitem(sys.modules, name)
    assert main(["train", "--preset", "tiny"]) == 2
    assert "pip install 'mimicik_ros[train]'" in capsys.readouterr().err


@pytest.mark.parametrize(("module", "content", "words"), [
    ("pinocchio", "wrong = True", "FAIL pinocchio      an unrelated package"),
    ("pinocchio", "raise ModuleNotFoundError('none', name='pinocchio')", "pip install pin"),
    ("onnxruntime", "raise ModuleNotFoundError('none', name='onnxruntime')", "FAIL onnxruntime    cannot import 'onnxruntime'"),
    ("launch", "wrong = True", "FAIL launch         an unrelated package"),
    ("rclpy", "raise ImportError('no C extension')", "FAIL ROS 2          cannot import")])
def test_doctor_names_a_broken_package_and_goes_on(tmp_path, module, content, words):
    (tmp_path / f"{module}.py").write_text(content)
    done = mimicik(tmp_path, "doctor")
    assert done.returncode == 1 and not done.stderr
    assert words in done.stdout and "interpreter" in done.stdout and "model" in done.stdout


@pytest.mark.parametrize(("module", "content", "words"), [
    ("pinocchio", "wrong = True", "pip uninstall pinocchio; pip install pin"),
    ("onnxruntime", "raise ModuleNotFoundError('none', name='onnxruntime')", "needs 'onnxruntime'; pip install onnxruntime"),
    ("yaml", "raise ModuleNotFoundError('none', name='yaml')", "needs 'yaml'; pip install pyyaml"),
    ("onnxruntime", "raise ImportError('libx.so', name='onnxruntime')", "cannot load 'onnxruntime' (libx.so)")])
def test_a_broken_dependency_is_one_line_with_the_pip_command(tmp_path, targets, module, content, words):
    (tmp_path / f"{module}.py").write_text(content)
    done = mimicik(tmp_path, "replay", str(targets), "--q-init", HOME, "--out", str(tmp_path / "out.csv"))
    assert done.returncode == 2
    assert words in done.stderr and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1


def mimicik(shadow, *arguments):
    """`mimicik` in a process of its own, with the modules in the folder `shadow` found before the installed ones."""
    path = os.pathsep.join([str(shadow), str(Path(mimicik_ros.__file__).parent.parent)])
    return subprocess.run([sys.executable, "-m", "mimicik_ros.cli.main", *arguments], capture_output=True, text=True, check=False,
                          timeout=120, env={**os.environ, "PYTHONPATH": path})


@pytest.mark.parametrize("argv", [[], ["fly"], ["replay"]])
def test_wrong_usage_exits_with_two(argv):
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2
