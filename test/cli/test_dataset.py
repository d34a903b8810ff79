"""`mimicik dataset` as its users meet it: files, printed accounts, exit codes, one line for bad input."""

import json
import shutil
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mimicik_ros.cli.main import main
from mimicik_ros.cli.setup import robot_of
from mimicik_ros.config import Config
from mimicik_ros.core import se3

HOME = np.array([0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708])


def path_of(rows, seed=0):
    rng = np.random.default_rng(seed)
    t = 0.05 * np.arange(rows)
    rate, phase = rng.uniform(0.5, 1.5, 6), rng.uniform(0.0, 6.0, 6)
    return t, HOME + 0.3 * np.sin(np.outer(t - 0.1, rate) + phase), HOME + 0.3 * np.sin(np.outer(t, rate) + phase)


def write_csv(path, names, *columns):
    rows = np.column_stack(columns)
    path.write_text("\n".join([names, *(",".join(f"{v:.9f}" for v in row) for row in rows)]) + "\n")
    return str(path)


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    out = tmp_path_factory.mktemp("made") / "synth.parquet"
    assert main(["dataset", "synth", str(out), "--episodes", "10", "--seconds", "2", "--seed", "3"]) == 0
    return out


@pytest.fixture
def made(made_once, tmp_path):
    """A small synthetic dataset, to do with as one likes."""
    return str(shutil.copy(made_once, tmp_path))


def csv_log(tmp_path, name="log.csv", factor=1.0, rows=60):
    t, q, command = path_of(rows)
    names = ",".join(["t", *(f"q{i}" for i in range(1, 7)), *(f"qc{i}" for i in range(1, 7))])
    return write_csv(tmp_path / name, names, t, factor * q, factor * command)


def lerobot(folder, broken=False):
    (folder / "meta").mkdir(parents=True)
    (folder / "data" / "chunk-000").mkdir(parents=True)
    (folder / "meta" / "info.json").write_text('{"codebase_version": "v2.1", "fps": 20}')
    for i in range(2):
        t, q, command = path_of(60, i)
        table = pa.table({"observation.state": np.hstack([q, q[:, :1]]).tolist(),
                          "action": np.hstack([command, q[:, :1]]).tolist(), "timestamp": t, "episode_index": np.full(60, i)})
        file = folder / "data" / "chunk-000" / f"episode_{i:06d}.parquet"
        pq.write_table(table, file)
        if broken and i == 0:
            file.write_bytes(file.read_bytes()[:300])
    return str(folder)


def test_synth_info_and_split_in_a_row(tmp_path, capsys):
    made = str(tmp_path / "synth.parquet")
    assert main(["dataset", "synth", made, "--episodes", "10", "--seconds", "2"]) == 0
    assert "10 episodes, 400 rows (0.3 min at 20 Hz)" in capsys.readouterr().out
    assert main(["dataset", "info", made, "--plots", str(tmp_path / "plots")]) == 0
    text = capsys.readouterr().out
    assert "10 episodes, 400 rows" in text and "faults: none" in text and "joint6" in text
    assert sorted(p.name for p in (tmp_path / "plots").iterdir()) == ["coverage.png", "joints.png", "steps.png"]
    assert main(["dataset", "split", made, "--out", str(tmp_path / "parts")]) == 0
    assert "train          8 episodes" in capsys.readouterr().out
    assert main(["dataset", "info", str(tmp_path / "parts"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["episodes"] == 10


def test_two_workers_write_the_bytes_of_one(made, tmp_path):
    out = str(tmp_path / "two.parquet")
    assert main(["dataset", "synth", out, "--episodes", "10", "--seconds", "2", "--seed", "3", "--workers", "2"]) == 0
    with open(made, "rb") as first, open(out, "rb") as second:
        assert first.read() == second.read()


def test_an_import_says_what_was_kept_and_strict_fails_on_a_loss(tmp_path, capsys):
    folder, out = lerobot(tmp_path / "lr", broken=True), str(tmp_path / "out.parquet")
    assert main(["dataset", "import-lerobot", folder, out, "--joints", "0:6", "--report", str(tmp_path / "r.json")]) == 0
    text = capsys.readouterr().out
    assert "dropped chunk-000/episode_000000.parquet" in text
    assert "found 2 recordings: 1 kept whole, 0 cut, 1 dropped (truncated 1)" in text
    assert [r["state"] for r in json.loads((tmp_path / "r.json").read_text())["recordings"]] == ["dropped", "kept"]
    assert main(["dataset", "import-lerobot", folder, out, "--joints", "0:6", "--strict"]) == 1


def test_an_import_of_nothing_usable_exits_with_two_and_keeps_what_was_there(tmp_path, capsys):
    out = tmp_path / "out.parquet"
    assert main(["dataset", "import-csv", csv_log(tmp_path), str(out)]) == 0
    before = out.read_bytes()
    degrees = csv_log(tmp_path, "degrees.csv", 180.0 / np.pi)
    assert main(["dataset", "import-csv", degrees, str(out)]) == 2
    said = capsys.readouterr()
    assert "looks like degrees" in said.out and said.err.startswith("error: nothing usable") and said.err.count("\n") == 1
    assert out.read_bytes() == before
    assert main(["dataset", "import-csv", degrees, str(out), "--degrees"]) == 0


def test_import_bag_says_which_clock_was_used(tmp_path, capsys):
    from rosbags.rosbag2 import Writer
    from rosbags.typesys import Stores, get_typestore

    store, kind = get_typestore(Stores.ROS2_JAZZY), "sensor_msgs/msg/JointState"
    names = list(Config().robot.joint_names)
    with Writer(tmp_path / "bag", version=9) as writer:
        topics = [writer.add_connection(name, kind, typestore=store) for name in ("/joint_states", "/joint_command")]
        for t, q, command in zip(*path_of(60), strict=True):
            for topic, values in zip(topics, (q, command), strict=True):
                header = store.types["std_msgs/msg/Header"](store.types["builtin_interfaces/msg/Time"](0, 0), "")
                message = store.types[kind](header, names, values, np.zeros(0), np.zeros(0))
                writer.write(topic, round(1e9 * (100.0 + t)), store.serialize_cdr(message, kind))
    assert main(["dataset", "import-bag", str(tmp_path / "bag"), str(tmp_path / "out.parquet")]) == 0
    text = capsys.readouterr().out
    assert "aligned by log times, since /joint_states and /joint_command came without stamps" in text
    assert "1 episodes, 60 rows" in text


def test_retarget_counts_what_was_kept_and_cut(tmp_path, capsys):
    T = robot_of(Config()).fk_batch(path_of(80)[2])
    T[30:40, 2, 3] += 2.0
    stream = write_csv(tmp_path / "s.csv", "t,x,y,z,qx,qy,qz,qw", path_of(80)[0], T[:, :3, 3],
                       se3.quat_from_rotation(T[:, :3, :3]))
    out = str(tmp_path / "out.parquet")
    assert main(["dataset", "retarget", stream, out, "--as-is"]) == 0
    text = capsys.readouterr().out
    assert "70 of 80 rows kept (87.5 %), cut: 10 unreachable" in text and "2 episodes, 68 rows" in text
    assert main(["dataset", "info", out, "--strict"]) == 0


def test_training_takes_files_of_this_robot_only(made, tmp_path, capsys):
    pytest.importorskip("torch", reason="the training extra is not installed")
    run = str(tmp_path / "run.pt")
    assert main(["train", "--preset", "tiny", "--steps", "3", "--batch", "64", "--data", made, "--out", run]) == 0
    assert "of 400 rows of 1 files have a step of 0.102 rad at most" in capsys.readouterr().out
    config = tmp_path / "e2b.yaml"
    config.write_text("robot: {urdf: urdf/airbot_play_e2b.urdf}")
    assert main(["train", "--preset", "tiny", "--config", str(config), "--data", made, "--out", run]) == 2
    assert "made for robot 'airbot_play_g2'" in capsys.readouterr().err


def cut(path):
    with open(path, "r+b") as file:
        file.truncate(1000)
    return path


@pytest.mark.parametrize(("argv", "words"), [
    (lambda p, d: ["info", str(p / "none.parquet")], "none.parquet: no such file"),
    (lambda p, d: ["info", cut(d)], "truncated, or no parquet file"),
    (lambda p, d: ["info", str(p / "folder")], "folder: no such file"),
    (lambda p, d: ["synth", str(p / "x.csv")], "ends in .parquet"),
    (lambda p, d: ["synth", str(p / "x.parquet"), "--episodes", "0"], "--episodes: must be positive"),
    (lambda p, d: ["synth", str(p / "x.parquet"), "--seed", "-1"], "--seed: must not be negative"),
    (lambda p, d: ["synth", str(p / "x.parquet"), "--mix", "fast=1"], "--mix: 'fast=1'"),
    (lambda p, d: ["synth", str(p / "x.parquet"), "--home", "0 0"], "--home: expected 6 finite numbers"),
    (lambda p, d: ["split", d, "--out", str(p / "s"), "--fractions", "a=2"], "--fractions: must be positive and add up to 1"),
    (lambda p, d: ["import-lerobot", str(p), str(p / "x.parquet")], "info.json: cannot read"),
    (lambda p, d: ["import-lerobot", lerobot(p / "lr"), str(p / "x.parquet"), "--joints", "6"], "--joints: expected FIRST:END"),
    (lambda p, d: ["import-lerobot", lerobot(p / "lr"), str(p / "x.parquet"), "--state", "arm"], "no column 'arm'"),
    (lambda p, d: ["import-bag", str(p / "none"), str(p / "x.parquet")], "none: no such bag"),
    (lambda p, d: ["import-csv", str(p / "none.csv"), str(p / "x.parquet")], "none.csv: no such file"),
    (lambda p, d: ["import-csv", csv_log(p), str(p / "x.parquet"), "--pose", "x,y"], "--pose: expected 7 names"),
    (lambda p, d: ["retarget", str(p / "none.csv"), str(p / "x.parquet")], "no CSV file"),
    (lambda p, d: ["retarget", csv_log(p), str(p / "x.parquet"), "--scale", "2:1"], "--scale: expected LOW:HIGH"),
    (lambda p, d: ["retarget", csv_log(p), str(p / "x.parquet")], "nothing usable")])
def test_bad_input_is_one_line_and_exit_code_two(made, tmp_path, argv, words, capsys):
    assert main(["dataset", *argv(tmp_path, made)]) == 2
    line = capsys.readouterr().err
    assert words in line and line.startswith("error: ") and line.count("\n") == 1
    assert not (tmp_path / "x.parquet").exists()


@pytest.mark.parametrize("module", ["pyarrow", "matplotlib"])
def test_a_missing_package_is_one_line_with_the_pip_command(made, tmp_path, module, monkeypatch, capsys):
    for name in [m for m in sys.modules if m.split(".")[0] == module or m.startswith("mimicik_ros.training.dataset")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    capsys.readouterr()
    assert main(["dataset", "info", made, "--plots", str(tmp_path / "plots")]) == 2
    assert "pip install 'mimicik_ros[" in capsys.readouterr().err


def test_nothing_of_the_dataset_needs_torch(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [m for m in sys.modules if m.startswith("mimicik_ros.training")]:
        monkeypatch.delitem(sys.modules, name)
    assert main(["dataset", "info", made]) == 0


@pytest.mark.parametrize("argv", [
    ["info", "IN", "--json", "IN"], ["split", "IN", "--out", "HERE", "--fractions", "in=1"],
    ["import-csv", "IN", "IN"], ["import-csv", "IN", "HERE/o.parquet", "--report", "IN"],
    ["retarget", "IN", "IN"], ["import-lerobot", "LR", "LR/data/chunk-000/episode_000001.parquet"],
    ["import-bag", "IN", "IN"], ["import-bag", "HERE", "IN"], ["info", "IN", "IN"], ["synth", "HERE/o.parquet/x.parquet"],
])
def test_no_output_falls_on_an_input_nor_below_a_file(made, tmp_path, capsys, argv):
    lerobot(tmp_path / "lr")
    shutil.copy(made, tmp_path / "in.parquet")
    (tmp_path / "o.parquet").write_bytes(b"old")
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    words = {"IN": "in.parquet", "LR": "lr", "HERE": ""}
    named = [str(tmp_path / "/".join([words[a.split("/")[0]], *a.split("/")[1:]]).strip("/")) if a.split("/")[0] in words else a
             for a in argv]
    assert main(["dataset", *named]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_the_report_is_json_also_where_nothing_was_kept(tmp_path, capsys):
    log = tmp_path / "log.csv"
    log.write_text("a,b\n")
    assert main(["dataset", "import-csv", str(log), str(tmp_path / "o.parquet"), "--report", str(tmp_path / "new/r.json")]) == 2

    def refuse(text):
        raise AssertionError(f"{text} is not JSON")

    report = json.loads((tmp_path / "new" / "r.json").read_text(), parse_constant=refuse)
    assert report["recordings"][0]["step_s"] is None
