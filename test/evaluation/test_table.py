"""The table from end to end on short trials: every row is there, and markdown, CSV and JSON say the same."""

import csv
import json

import numpy as np
import pytest

from mimicik_ros.config import Config
from mimicik_ros.evaluation import render
from mimicik_ros.evaluation.bars import Bar
from mimicik_ros.evaluation.columns import ACCURACY, CALM, COLUMNS, COST, DEFINITIONS, EPISODES
from mimicik_ros.evaluation.contenders import Contender, contenders
from mimicik_ros.evaluation.rollout import with_velocity_limit, without_gates
from mimicik_ros.evaluation.seeds import spread_of
from mimicik_ros.evaluation.table import ALL, CLOSED, LOOPS, OPEN, run_table

HOME = np.array([0.0, -1.0, 1.2, 1.5708, -1.2, -1.5708])
CONFIG = with_velocity_limit(without_gates(Config()), 100.0)


@pytest.fixture(scope="module")
def cases():
    from mimicik_ros.cli.setup import robot_of
    from mimicik_ros.core import se3
    from mimicik_ros.evaluation.cases import Case
    from mimicik_ros.evaluation.streams import Stream

    arm, made = robot_of(CONFIG), []
    for suite, along in (("random", [1, 0, 0, 0, 1, 0]), ("singular", [0, 0, 0, 0, 4, 0])):  # joint 5 ends at its singular 0
        path = HOME + np.linspace(0.0, 0.3, 24)[:, None] * np.array(along, dtype=float)
        T = arm.fk_batch(path)
        stream = Stream(0.05 * np.arange(24), T[:, :3, 3], se3.quat_from_rotation(T[:, :3, :3]))
        made.append(Case(suite, f"{suite}_000", stream, path[0], path, np.ones(24, dtype=bool)))
    return made


@pytest.fixture(scope="module")
def table(cases):
    from mimicik_ros.cli.setup import robot_of

    rivals = contenders(robot_of(CONFIG), CONFIG, ("servo", "model", "dls"), ())
    return run_table([*rivals, Contender("magic", "classical", None, skipped="needs a GPU")], cases)


def measured(table):
    return [r for r in table.rows if r.kind != "published" and not r.note]


def test_every_solver_has_a_row_for_every_suite_in_both_loops(table):
    rows = {(r.solver, r.loop, r.suite) for r in measured(table)}
    suites = (ALL, "random", "singular")
    assert rows == {(s, loop, suite) for s in ("servo", "model", "dls") for loop in LOOPS for suite in suites}


def test_what_cannot_run_and_what_was_published_stand_beside_and_say_so(table):
    (skipped,) = [r for r in table.rows if r.solver == "magic"]
    assert skipped.note == "skipped: needs a GPU" and not skipped.figures
    published = {r.solver: r for r in table.rows if r.kind == "published"}
    assert published["MimicIK"].note == "published (other data, other arm)"
    assert published["MimicIK"].figures["position_mean_mm"] == 4.65 and "strict_percent" not in published["MimicIK"].figures


def test_all_pools_the_ticks_of_the_suites(table):
    rows = {r.suite: r.figures for r in measured(table) if (r.solver, r.loop) == ("dls", CLOSED)}
    assert rows[ALL]["ticks"] == 48
    mean = (rows["random"]["position_mean_mm"] + rows["singular"]["position_mean_mm"]) / 2  # as many ticks in each
    assert rows[ALL]["position_mean_mm"] == pytest.approx(mean)


def test_a_second_run_gives_the_same_figures_but_for_times(table, cases):
    from mimicik_ros.cli.setup import robot_of

    again = run_table(contenders(robot_of(CONFIG), CONFIG, ("dls",), ()), cases)
    keys = [c.key for c in (*ACCURACY, *EPISODES, *CALM)]
    before = {(r.loop, r.suite): [r.figures[k] for k in keys] for r in measured(table) if r.solver == "dls"}
    assert {(r.loop, r.suite): [r.figures[k] for k in keys] for r in measured(again)} == before


def sections(text):
    """Rows of the markdown tables by suite, loop and solver: heading -> cell."""
    found, suite, loop, heads = {}, "", "", []
    for line in text.splitlines():
        if line.startswith("## "):
            suite = ALL if line.startswith("## All") else line.split("`")[1] if "`" in line else ""
        elif line.startswith("### "):
            loop = CLOSED if line.startswith("### Closed") else OPEN
        elif line.startswith("| ") and suite:
            cells = [c.strip() for c in line.strip("|").split(" | ")]
            if cells[0] == "solver":
                heads = cells
            elif not cells[0].startswith("---"):
                found.setdefault((cells[0], loop, suite), {}).update(zip(heads[1:], cells[1:], strict=False))
    return found


def test_markdown_csv_and_json_agree(table, tmp_path):
    render.write_csv(table.rows, tmp_path / "t.csv")
    lines = list(csv.DictReader((tmp_path / "t.csv").open()))
    rows = json.loads(render.as_json({}, table.rows, [], []))["rows"]
    page = sections(render.markdown({}, table.rows, [], []))
    assert len(lines) == len(rows) == len(table.rows)
    compared = 0
    for line, row in zip(lines, rows, strict=True):
        assert line == {k: "" if v is None else str(v) for k, v in row.items()}
        shown = page.get((row["solver"], row["loop"], row["suite"]), {}) if row["kind"] != "published" and not row["note"] else {}
        for column in (*ACCURACY, *EPISODES, *CALM, *COST):
            if column.heading in shown:
                assert shown[column.heading] == render.number(row[column.key], column.digits)
                compared += 1
    closed, opened = len((*ACCURACY, *EPISODES, *CALM, *COST)), len(ACCURACY)
    assert compared == 9 * (closed + opened)


def test_a_table_in_which_nothing_could_run_still_says_why():
    rows = run_table([Contender("magic", "classical", None, skipped="needs a GPU")], []).rows
    text = render.markdown({}, rows, [], [])
    assert "## All suites: nothing measured" in text and "| magic | skipped: needs a GPU |" in text


def test_markdown_prints_the_definitions_the_skipped_and_the_published(table):
    text = render.markdown({"machine": "a desk"}, table.rows, [], [])
    assert all(f"- {name}: {meaning}." in text for name, meaning in DEFINITIONS)
    assert "- machine: a desk" in text and "| magic | skipped: needs a GPU |" in text
    assert "| MimicIK, published (other data, other arm) | 4.65 | - |" in text


def test_few_seeds_are_shown_as_too_few_and_bars_with_their_verdict():
    text = render.markdown({}, [], [spread_of("mip", ALL, "strict_percent", [90.0, 92.0])],
                           [Bar("a bar", "<= 1 mm", 2.0, False), Bar("another", "<= 1", None, None, "no data")])
    assert "| mip | all | strict_percent | 2 | n < 3 | n < 3 | n < 3 | 90, 92 |" in text
    assert "| a bar | <= 1 mm | 2 | MISSED |" in text and "| another | <= 1 | - | not judged (no data) |" in text


@pytest.mark.parametrize(("value", "digits", "text"), [
    (None, 2, "-"), ("not measured", 1, "not measured"), (0.000123456, None, "0.0001235"), (12345.6, None, "12346"), (7, 0, "7"),
    (99.996, 2, "100.00"), (float("inf"), 2, "inf")])
def test_numbers_keep_their_digits_and_what_is_none_is_a_dash(value, digits, text):
    assert render.number(value, digits) == text


def test_numbers_that_json_lacks_are_text(table):
    row = table.rows[0]
    broken = row.__class__(**{**row.__dict__, "figures": {**row.figures, "position_mean_mm": float("inf")}})
    assert json.loads(render.as_json({}, [broken], [], []))["rows"][0]["position_mean_mm"] == "inf"


def test_columns_have_keys_and_headings_of_their_own():
    assert len({c.key for c in COLUMNS}) == len({c.heading for c in COLUMNS}) == len(COLUMNS)
