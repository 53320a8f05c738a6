"""The part of docs/testing.md on shadow mode: its report is one, and its calls exist."""

import asyncio
import re
from functools import cache
from pathlib import Path

import pytest

from oracle.cli import main
from oracle.features.shadow.running import other_control
from oracle.runs.storage.feedback import rate
from oracle.runs.storage.records import Feedback
from oracle.runs.storage.store import open_store
from oracle.server.api.app import describe_service
from oracle.server.settings.fields import Settings
from tests.acceptance.harness import answers, calls, says
from tests.oracle.features.shadow.conftest import shadowed

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "testing.md").read_text(encoding="utf-8")
REFERENCE = (DOCS / "internals" / "testing.md").read_text(encoding="utf-8")
(COMMAND,) = re.findall(r"^```sh\n(oracle shadow .*)\n```", PAGE, re.MULTILINE)
DESCRIPTION = cache(describe_service)
(SHOWN,) = re.findall(r"^```text\n(\d+ sampled .*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def plain(text: str) -> str:
    """Without what differs from run to run: versions, times and ids."""
    return re.sub(r"(?<=oracle@)[0-9a-f]+|\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9a-f]{32} ?", "", text).strip()


def test_the_report_is_the_one_that_is_shown(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("ORACLE_DATA_DIR", str(tmp_path))

    async def ask() -> None:
        async with open_store(f"sqlite:///{tmp_path}/oracle.db", worker="w") as store:
            users = [answers("It is in retry.py."), answers("RetryPolicy is in the file retry.py.")]
            shadows = [
                answers("It is in retry.py."),
                says("", calls("list_files")),
                answers("In a file of the project."),
            ]
            async with shadowed(store, users, shadows) as it:
                for _ in users:
                    last = (await it.runs.ask()).record
                    await it.shadows.idle()
            down = Feedback("down")
            await store.write(lambda connection: rate(connection, last.id, user_id=last.user_id, feedback=down))

    asyncio.run(ask())
    capfd.readouterr()
    assert main(COMMAND.split()[1:]) == 0
    printed, error = capfd.readouterr()
    assert error == ""
    shown = ".*".join(re.escape(part) for part in re.split(r" *…\n", plain(SHOWN)))
    assert re.fullmatch(shown, plain(printed.partition("\nHow: ")[0]), re.DOTALL)


@pytest.mark.parametrize("call", re.findall(r"`GET (/api/[^`?]+)\?([^`]*)` \|", REFERENCE), ids=str)
def test_its_calls_exist(call):
    path, query = call
    parameters = DESCRIPTION()["paths"][path]["get"]["parameters"]
    assert {part.partition("=")[0] for part in query.split("&")} <= {each["name"] for each in parameters}


def test_the_loop_is_the_shadow_of_the_tree_and_the_other_way_round():
    shadow = Settings(control="shadow")
    assert (shadow.primary_control, other_control(shadow)) == ("tree", "loop")
    turned = Settings(control="shadow", shadow_primary="loop")
    assert (turned.primary_control, other_control(turned)) == ("loop", "oracle")
    named = Settings(control="shadow", shadow_control="oracle@3f2a91c07d55")
    assert other_control(named) == "oracle@3f2a91c07d55"
