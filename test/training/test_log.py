"""The log: a CSV that a resumed run continues, and event files that TensorBoard reads."""

import csv

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from mimicik_ros.training.log import Row, RunLog

ROW = Row(step=20, minutes=0.5, lr=0.02, loss=3.25, flow=1.5, fk=2.0, mm=0.75, deg=0.125)


def steps_in(path):
    with path.open() as file:
        return [int(row["step"]) for row in csv.DictReader(file)]


def write(path, first, steps, folder=None):
    with RunLog(path, folder, first, 100, "test") as log:
        for step in steps:
            log.add(Row(step, 0.1, 0.02, 1.0, 1.0, 1.0, 1.0, 1.0))


def test_a_row_holds_what_was_given_under_its_name(tmp_path):
    with RunLog(tmp_path / "run.csv", None, 0, 100, "test") as log:
        log.add(ROW)
    with (tmp_path / "run.csv").open() as file:
        row, = csv.DictReader(file)
    assert row == {"step": "20", "minutes": "0.5", "lr": "0.02", "loss": "3.25", "flow": "1.5", "fk": "2", "mm": "0.75",
                   "deg": "0.125"}


def test_a_resumed_run_appends_and_has_every_step_once(tmp_path):
    path = tmp_path / "run.csv"
    write(path, 0, (20, 40, 60))  # the checkpoint was written at 40, then the run was killed
    write(path, 40, (60, 80))
    assert steps_in(path) == [20, 40, 60, 80]


def test_a_new_run_of_the_same_name_begins_a_new_log(tmp_path):
    write(tmp_path / "run.csv", 0, (20, 40))
    write(tmp_path / "run.csv", 0, (20,))
    assert steps_in(tmp_path / "run.csv") == [20]


def test_resuming_without_the_old_log_begins_one(tmp_path):
    write(tmp_path / "run.csv", 40, (60,))
    assert steps_in(tmp_path / "run.csv") == [60]


def test_tensorboard_reads_the_event_files_of_both_parts_of_a_run(tmp_path):
    write(tmp_path / "run.csv", 0, (20, 40, 60), tmp_path / "events")
    write(tmp_path / "run.csv", 40, (60, 80), tmp_path / "events")
    events = EventAccumulator(str(tmp_path / "events"))
    events.Reload()
    assert set(events.Tags()["scalars"]) == {f"train/{name}" for name in ("minutes", "lr", "loss", "flow", "fk", "mm", "deg")}
    assert [e.step for e in events.Scalars("train/loss")] == [20, 40, 60, 80]
