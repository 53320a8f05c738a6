"""docs/start.md: its steps are done in order in a small project, and print what the page shows."""

import re
import runpy
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import pytest

from oracle.cli import main
from oracle.features.demo.serving import _announce
from oracle.server.process.process import Listening
from tests.oracle.features.demo import story
from tests.test_docs_control_tutorial import Reader, served
from tests.test_readme import DEMO

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
PROGRAM = ".venv/bin/oracle "
SERVE = "oracle serve\n"
ELSEWHERE = ("uv tool install oracle-bt\n", "cd ~/code/shop\n")
"""What installs the package, and goes to the reader's project."""
LOGIN = '"""How users log in."""\n\n\ndef log_in(name: str) -> None:\n    """Begin the session of the login."""\n'


def test_the_demo_announces_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    (command, shown), *_ = [(text, shown) for (_, text), (_, shown) in pairwise(BLOCKS)]
    url = "http://127.0.0.1:43210"
    _announce(Listening(url, model="", control="", store="", auth="", note=""), opens=False)
    assert (command, shown) == (DEMO + "\n", capsys.readouterr().out)
    assert f'"{story.LOOP}"' in PAGE


@pytest.mark.long("starts a service")
def test_the_service_has_the_console(tmp_path: Path) -> None:
    assert ("sh", SERVE) in BLOCKS
    with ExitStack() as stack:
        Reader(tmp_path, stack, capture=None)  # type: ignore[arg-type]  it runs nothing in this process
        address = stack.enter_context(served(tmp_path, SERVE.replace("oracle ", PROGRAM).strip()))
        with build_opener(ProxyHandler({})).open(f"{address}/api/me", timeout=60) as response:
            assert response.status == 200
        assert (tmp_path / ".oracle").is_dir()


@pytest.mark.long("asks several questions")
def test_each_step_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "login.py").write_text(LOGIN, encoding="utf-8")
    with ExitStack() as stack:
        reader = Reader(tmp_path, stack, capfd)
        for (kind, text), (next_kind, shown) in pairwise([*BLOCKS, ("", "")]):
            if kind == "diff":
                reader.edits(text)
            elif kind == "sh" and text not in {DEMO + "\n", SERVE}:
                lines = [line for line in text.splitlines(keepends=True) if line not in ELSEWHERE]
                commands = re.sub(r"^oracle ", PROGRAM, "".join(lines), flags=re.MULTILINE)
                reader.runs(commands, shown=shown if next_kind == "text" else "…")


@pytest.mark.parametrize("line", re.findall(r"`oracle (trees (?:list|show)[^`]*)`", PAGE))
def test_the_commands_in_the_text_work(line: str) -> None:
    assert main(line.split()) == 0


def test_a_mistake_reads_as_the_page_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (shown,) = re.findall(r"```\n(my-trees/oracle\.yaml:.*?)```", PAGE, re.DOTALL)
    mistaken = runpy.run_path(str(ROOT / "docs" / "generate.py"))["mistaken"]
    (tmp_path / "my-trees").mkdir()
    text = (ROOT / "trees" / "oracle.yaml").read_text(encoding="utf-8")
    (tmp_path / "my-trees" / "oracle.yaml").write_text(mistaken(text), encoding="utf-8")
    assert main(["trees", "check", "my-trees/oracle.yaml"]) == 1
    assert capsys.readouterr().out == shown


def test_the_folder_of_the_page_is_ignored_by_git() -> None:
    assert "my-trees/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
