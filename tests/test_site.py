"""The site that `make site` builds: every page is in its menu, every link leads somewhere, all of it is its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST_WORDS = 32_000


def test_every_page_is_in_the_menu() -> None:
    named = re.findall(r": ([\w-]+\.md)$", (ROOT / ".mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(named) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))


def test_what_users_read_stays_short() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert sum(len(re.findall(r"\S*\w\S*", page.read_text(encoding="utf-8"))) for page in pages) <= MOST_WORDS


@pytest.mark.long("builds a site")
def test_the_site_is_built_and_asks_no_other_host(tmp_path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", ROOT / ".mkdocs.yml"]
    built = subprocess.run([*command, "--site-dir", tmp_path], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert (tmp_path / "index.html").read_bytes() == (tmp_path / "start.html").read_bytes()
    assert not [path for path in tmp_path.rglob("*") if path.suffix in {".py", ".md"}]
    for page in tmp_path.glob("*.html"):
        html = page.read_text(encoding="utf-8")
        assert re.findall(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["'](?:https?:)?//[^"']+""", html) == []
