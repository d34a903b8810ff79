"""The library snippet in the README runs as printed, stays short and reaches its target."""

import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def snippet():
    found = re.search(r"<!-- snippet:.*?-->\n```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    assert found, "the README has no snippet"
    return found.group(1)


def test_the_snippet_reaches_its_target(capsys):
    scope = {}
    exec(compile(snippet(), "README.md", "exec"), scope)
    result = scope["result"]
    assert result.status.label == "reached"
    assert result.target_residual.position_m < 1e-4
    assert capsys.readouterr().out.startswith("reached ")


def test_the_snippet_has_at_most_15_lines_of_code():
    assert len([line for line in snippet().splitlines() if line.strip()]) <= 15
