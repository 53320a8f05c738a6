"""A stand-in for the page of exported runs, for tests of what is put into it, which need no Node.js."""

from pathlib import Path

import pytest

from oracle.replay.exports import formats

_PAGE = """<!doctype html>
<title>RUN_TITLE</title>
<script type="application/json" id="run">RUN_DATA</script>
"""


def stand_in_page(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have exports be made of a page that shows nothing.

    Args:
        monkeypatch: that of the test.
        folder: where the page is written.
    """
    path = folder / "export.html"
    path.write_text(_PAGE, encoding="utf-8")
    monkeypatch.setattr(formats, "EXPORT_PAGE", path)
