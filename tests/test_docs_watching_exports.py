"""docs/watching.md, replays and exports: the commands run in order, and print what the page shows."""

import asyncio
import re
from pathlib import Path

import pytest

import trees
from oracle.cli import main
from oracle.runs.storage.store import open_store
from tests.oracle.replay.exports.stand_in import stand_in_page
from tests.oracle.replay.test_replays import recorded

WATCHING = (Path(__file__).parents[1] / "docs" / "watching.md").read_text(encoding="utf-8")
PAGE = WATCHING.split("\n## What would my edit")[1].split("\n## Pause a run\n")[0]
BLOCKS = re.findall(r"^```(sh|text)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def runs(tmp_path, monkeypatch, capfd):
    """The ids of two recorded runs, by those of the page; a changed tree beside them."""
    monkeypatch.chdir(tmp_path)
    stand_in_page(monkeypatch, tmp_path)
    monkeypatch.setenv("ORACLE_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "my-trees").mkdir()
    text = (trees.FOLDER / "fallback.yaml").read_text(encoding="utf-8")
    (tmp_path / "my-trees" / "fallback.yaml").write_text(
        text.replace("- condition: turn_left", "- condition: turn_left and turn < 1")
    )

    async def ask():
        async with open_store(f"sqlite:///{tmp_path}/data/oracle.db", worker="w") as store:
            return [(await recorded(store, name)).id for name in ("stuck twice", "no progress")]

    ids = asyncio.run(ask())
    capfd.readouterr()
    return dict(zip(("d02e564a", "7b19c0de"), ids, strict=True))


def plain(text, runs):
    """The text without what differs from run to run: ids, versions, durations, lines."""
    for shown, run in runs.items():
        text = text.replace(run[:8], shown)
    return re.sub(r"@[0-9a-f]{7}|in [\d,]+ ms|\.yaml:\d+", "", text)


@pytest.mark.long("exports a run in every format")
def test_its_commands_print_what_it_shows(runs, capfd):
    printed = ""
    for kind, block in BLOCKS:
        if kind == "text":
            assert plain(printed, runs) == plain(block, {})
            continue
        for line in block.splitlines():
            arguments = [runs.get(word, word) for word in line.split()]
            assert arguments.pop(0) == "oracle"
            code = main(arguments)
            printed, error = capfd.readouterr()
            assert (code, error) == (1 if {"--tree", "diff"} & set(arguments) else 0, ""), line
    assert main(["trees", "test", "recorded.yaml"]) == 0
