"""docs/watching.md, reading runs: the commands work, and print what the page shows."""

import asyncio
import re
import shlex
from pathlib import Path

import pytest

from oracle.cli import main
from oracle.runs.storage.store import open_store
from tests.oracle.replay.test_replays import recorded

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "watching.md").read_text(encoding="utf-8").split("\n## What would my edit")[0]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
COMMANDS = [line.partition("oracle ")[2] for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]
SHOWN = [text for kind, text in BLOCKS if not kind]
GOLDEN = ROOT / "tests" / "oracle" / "cli" / "data" / "runs"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A recorded run, and the folder of its database."""
    folder = tmp_path_factory.mktemp("data")

    async def ask():
        async with open_store(f"sqlite:///{folder}/oracle.db", worker="w") as store:
            return await recorded(store, "stuck twice")

    return folder, asyncio.run(ask())


@pytest.mark.parametrize("line", [line for line in COMMANDS if "--url" not in line])
def test_each_command_works(line, run, capfd):
    folder, record = run
    words = shlex.split(line.replace("d02e564a", record.id[:8]))
    assert main([*words, "--data-dir", str(folder)]) == 0
    printed = capfd.readouterr()
    assert printed.err in ("", "No runs.\n")


def test_the_pages_are_what_is_printed():
    for shown, name in zip(SHOWN, ("tree-100.txt", "why-100.txt"), strict=True):
        printed = (GOLDEN / name).read_text(encoding="utf-8")
        assert [part for part in shown.split("\n…\n") if part not in printed] == []


@pytest.mark.parametrize("option", re.findall(r"`(--[a-z]+)", PAGE))
def test_each_option_exists(option, capfd):
    helps = []
    for command in ("list", "show", "watch"):
        main(["runs", command, "--help"])
        helps.append(capfd.readouterr().out)
    assert option in "".join(helps)
