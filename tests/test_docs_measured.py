"""docs/internals/measured.md: its commands work, its agents are the agents, its figures those of the present report."""

import re
import shlex
from pathlib import Path

import pytest

from benchmarks.habits import __main__ as habits
from benchmarks.habits import page
from benchmarks.habits.conversations import CONVERSATIONS
from benchmarks.habits.players import LEGACY, PLAYERS
from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from trees import FOLDER

TEXT = page.PAGE.read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\.venv/bin/python -m benchmarks\.habits(.*?)(?:\s+#.*)?$", TEXT, re.MULTILINE)
FIGURES = re.search(r"(?s)<!-- figures -->\n```\n(.*?)```", TEXT)


def test_the_agents_are_the_agents() -> None:
    assert page.with_parts(TEXT) == TEXT
    assert all(f"| `{each.habit}` |" in TEXT for each in CONVERSATIONS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_works(command, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(habits, "PAGE", tmp_path / "measured.md")
    (tmp_path / "measured.md").write_text(TEXT, encoding="utf-8")
    few = ["--only", "thorough: attempts", "--obedience", "0.5", "--no-latency"]
    habits.main([*shlex.split(command), *few])
    assert "1 good agents, obedience 0.5" in capsys.readouterr().out
    written = (tmp_path / "measured.md").read_text(encoding="utf-8")
    assert ("1 good agents" in written) == ("--page" in command)
    assert (tmp_path / "figures.json").exists() == ("--json" in command)


def test_the_figures_are_of_all_conversations_and_of_every_habit() -> None:
    assert FIGURES is not None
    old = sum(not each.is_good for each in CONVERSATIONS)
    assert f"{old} agents with old habits, obedience 0.5" in FIGURES[1]
    assert f"{len(CONVERSATIONS) - old} good agents, obedience 0.5" in FIGURES[1]
    for each in CONVERSATIONS:
        assert each.is_good or re.search(rf"^  {each.habit} +\d", FIGURES[1], re.MULTILINE)


def test_the_control_of_before_is_as_described() -> None:
    definition = TreeLibrary([FOLDER], registry=REGISTRY).read_text(LEGACY, name="legacy")
    assert definition.name == "legacy"
    assert dict(PLAYERS[2].limits) == {"max_iterations": 30, "token_budget": 200_000}
    assert "(30 turns, 200 000 tokens" in TEXT
