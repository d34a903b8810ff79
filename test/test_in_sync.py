"""Documents and configuration files say what the code says."""

import re
from pathlib import Path

import pytest

from mimicik_ros import config
from mimicik_ros.cli import docs
from mimicik_ros.core.status import Status

ROOT = Path(__file__).resolve().parent.parent


def test_parameters_page_is_the_one_that_the_schema_generates():
    assert (ROOT / "docs/parameters.md").read_text(encoding="utf-8") == docs.parameters_page(), "run `make docs`"


def test_status_page_is_the_one_that_the_enum_generates():
    assert (ROOT / "docs/status_codes.md").read_text(encoding="utf-8") == docs.status_page(), "run `make docs`"


def test_pages_name_every_parameter_and_every_status():
    page = docs.parameters_page()
    for name in config.parameters():
        assert f"| `{name.split('.')[1]}` |" in page
    assert all(f"| `{status.label}` |" in docs.status_page() for status in Status)


@pytest.mark.parametrize("path", sorted((ROOT / "config").glob("*.yaml")), ids=lambda p: p.name)
def test_every_shipped_configuration_loads(path):
    assert config.load(path).robot.joint_names


def test_status_labels_are_unique():
    assert len({status.label for status in Status}) == len(list(Status))


def test_every_test_that_the_guarantees_name_exists():
    named = re.findall(r"`(test/[^`]+)::(\w+)`", (ROOT / "docs/guarantees.md").read_text(encoding="utf-8"))
    assert named
    for path, function in named:
        assert f"def {function}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{function}"


def test_every_promise_names_a_test():
    rows = [r for r in (ROOT / "docs/guarantees.md").read_text(encoding="utf-8").splitlines() if r.startswith("| ")][1:]
    assert rows
    assert all("::test_" in row for row in rows)
