"""The generated parts of the documentation are what `make docs` would write."""

import runpy
from pathlib import Path

import pytest

GENERATE = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "generate.py"))


@pytest.mark.parametrize(("path", "text"), GENERATE["generated"]().items(), ids=lambda each: getattr(each, "name", ""))
def test_generated_parts_are_current(path, text):
    assert path.read_text(encoding="utf-8") == text, f"run `make docs`: {path.name} is not current"
