"""Runs from a database and from a service: the same histories, complete and live."""

import asyncio
import copy
from contextlib import AsyncExitStack
from dataclasses import fields, replace
from types import SimpleNamespace

import httpx2
import pytest

from oracle.agent.nodes import REGISTRY
from oracle.cli.errors import CommandError
from oracle.cli.run_sources import local
from oracle.cli.run_sources.local import LocalSource
from oracle.cli.run_sources.protocol import RunSource
from oracle.cli.run_sources.served import ServedSource, open_service
from oracle.replay.exports.imported import ImportedRuns
from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.model import History
from oracle.runs.storage.archive import open_archive
from oracle.runs.storage.errors import UnclearRunError
from oracle.runs.storage.run_pages import RunFilter
from oracle.server.settings.reading import misspelt_variables
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.server.api.conftest import (  # noqa: F401  fixtures
    ALICE,
    BOB,
    HANGS,
    TOKENS,
    database_url,
    start,
)
from tests.support.waiting import until

CALL = ScriptedTurn(text="Looking. ", tool_calls=(ScriptedCall("list_files", {}),))
QUESTION = "Which files does the code have?"
PATIENCE_S = 30


def shown(history: History) -> bytes:
    """The history, but for the texts of system prompts, which only a whole one from the database has."""
    turns = [
        turn if turn.request is None else replace(turn, request=replace(turn.request, prompt=None))
        for turn in history.turns
    ]
    return history_to_json(replace(history, turns=turns))


class Places:
    """One service, and its runs by way of its database and of its API."""

    def __init__(self, service, archive: LocalSource, served: ServedSource) -> None:
        self.service = service
        self.all = {"archive": archive, "served": served}


@pytest.fixture
async def places(start, tmp_path, database_url):  # noqa: F811
    """The places of a service on each kind of database."""
    async with AsyncExitStack() as stack:

        async def begin(turns) -> Places:
            service = await start(turns, url=database_url)
            url = database_url or f"sqlite:///{tmp_path / 'oracle.db'}"
            archive = await stack.enter_async_context(open_archive(url))
            return Places(
                service,
                LocalSource(archive, lambda: REGISTRY, lambda: ImportedRuns(tmp_path / "imports")),
                ServedSource(service.client),
            )

        yield begin


async def test_both_places_have_the_same_history(places):
    found = await places([CALL, ScriptedTurn(text="Done.")])
    asked = await found.service.ask(QUESTION)
    archived, served = [await source.history(asked.run_id) for source in found.all.values()]
    assert shown(archived) == shown(served)
    assert served.end is not None


async def test_a_run_is_followed_until_it_ends(places):
    found = await places([CALL, HANGS])
    async with found.service.asking(QUESTION) as asked:
        await asked.until("here")
        begun = {name: asyncio.Event() for name in found.all}

        async def follow(name: str, source: RunSource) -> tuple[list[int], object]:
            seen, last = [], None
            async for history in source.follow(asked.run_id):
                seen.append(len(history.ticks))
                last = copy.copy(history)
                if history.ticks:
                    begun[name].set()
            return seen, last

        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
            following = [group.create_task(follow(*each)) for each in found.all.items()]
            for each in begun.values():
                await each.wait()
            await found.service.client.post(f"/api/oracle/runs/{asked.run_id}/cancel")
    for task, source in zip(following, found.all.values(), strict=True):
        seen, last = task.result()
        assert len(seen) > 1
        assert seen == sorted(seen)
        assert last.end.reason == "user_cancelled"
        assert [tick.tick for tick in last.ticks] == list(range(1, len(last.ticks) + 1))
        assert shown(last) == shown(await source.history(asked.run_id))


async def test_an_ended_run_is_followed_in_one_step(places):
    found = await places([ScriptedTurn(text="Done.")])
    asked = await found.service.ask()
    for source in found.all.values():
        histories = [history async for history in source.follow(asked.run_id)]
        assert len(histories) == 1


async def test_runs_are_found_by_the_beginning_of_their_id(places):
    found = await places([ScriptedTurn(text="Done.")])
    asked = [(await found.service.ask()).run_id for _ in range(2)]
    for source in found.all.values():
        assert (await source.history(asked[0])).run.id == asked[0]
        with pytest.raises(UnclearRunError, match="several runs"):
            await source.history(asked[0][0])
        with pytest.raises(UnclearRunError, match="there is no run 'zzz'"):
            await source.history("zzz")
        for odd in ("../../healthz", "a b", "?"):
            with pytest.raises(UnclearRunError):
                await source.history(odd)


async def test_both_places_list_the_same_runs(places):
    found = await places([ScriptedTurn(text="Done.")])
    asked = [(await found.service.ask(question)).run_id for question in ("Why?", "How?", "When?")]
    for source in found.all.values():
        listed = await source.list(RunFilter(), limit=2)
        assert [row.run.id for row in listed] == asked[:0:-1]
    first, second = [(await source.list(RunFilter(), limit=3)) for source in found.all.values()]
    for one, other in zip(first, second, strict=True):
        assert (one.run.tree_version, one.run.turns, one.run.termination_reason, one.run.limits) == (
            *(other.run.tree_version, other.run.turns, other.run.termination_reason, other.run.limits),
        )
        assert abs(one.run.created_at - other.run.created_at) < 0.01


async def test_every_filter_means_the_same_in_both_places(places):
    found = await places([ScriptedTurn(text="Done.")])
    asked = [await found.service.ask(question) for question in ("Why?", "How?")]
    filters = {
        "reasons": (("completed", "stuck"), ("parked",)),
        "tree": ("oracle", "other"),
        "version": ("", "0" * 64),
        "user_id": ("local", "other"),
        "since": (0.0, 4e9),
        "until": (4e9, 0.0),
        "slow_s": (0.0, 1e6),
        "with_errors": (False, True),
        "text": ("?", "Where?"),
        "context_id": (None, "0" * 32),
        "statuses": (("finished", "parked"), ("running", "queued")),
        "shadows": (None, True),
        "rating": (None, "down"),
    }
    assert filters.keys() == {each.name for each in fields(RunFilter)}
    for name, (all_of_them, none_of_them) in filters.items():
        for source in found.all.values():
            listed = await source.list(RunFilter(**{name: all_of_them}), limit=9)
            assert [row.run.id for row in listed] == [each.run_id for each in reversed(asked)], name
            assert await source.list(RunFilter(**{name: none_of_them}), limit=9) == [], name
    context_id = asked[0].chunks[-1]["context_id"]
    for source in found.all.values():
        listed = await source.list(RunFilter(context_id=context_id), limit=9)
        assert [row.run.id for row in listed] == [asked[0].run_id]


async def test_of_a_run_whose_texts_were_deleted_its_row_is_left(places):
    found = await places([ScriptedTurn(text="Done.")])
    asked = await found.service.ask()
    context_id = asked.chunks[-1]["context_id"]
    await found.service.client.delete(f"/api/oracle/conversations/{context_id}")
    for source in found.all.values():
        history = await source.history(asked.run_id)
        assert (history.run.kept, history.ticks) == ("gone", [])


async def test_a_service_knows_only_the_runs_of_the_token(start):  # noqa: F811
    service = await start([ScriptedTurn(text="Done.")], tokens=TOKENS)
    asked = await service.ask(headers=ALICE)
    for headers, error, words in (
        ({}, CommandError, "does not accept the token; set ORACLE_TOKEN"),
        (BOB, UnclearRunError, "there is no run"),
    ):
        async with httpx2.AsyncClient(
            base_url=str(service.client.base_url), headers=headers, trust_env=False
        ) as client:
            with pytest.raises(error, match=words):
                await ServedSource(client).history(asked.run_id)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", "http://", "http://me:secret@host", "http://h?token=x"])
async def test_an_address_that_is_none_is_refused_without_its_password(url):
    with pytest.raises(CommandError, match="--url needs the address of a service") as refused:
        async with open_service(url):
            pass
    assert "secret" not in str(refused.value)


async def test_a_service_that_cannot_be_reached_or_is_another_one_says_so(start, monkeypatch):  # noqa: F811
    monkeypatch.setenv("ORACLE_TOKEN", "a-token-0123456789")
    async with open_service("http://127.0.0.1:9") as source:
        with pytest.raises(CommandError, match=r"cannot be read: .*; start one with `oracle serve`") as refused:
            await source.list(RunFilter(), limit=1)
    assert "a-token" not in str(refused.value)
    service = await start()
    async with open_service(f"http://127.0.0.1:{service.port}/docs") as source:
        with pytest.raises((CommandError, UnclearRunError)):
            await source.history("x" * 32)


async def test_the_commands_read_a_service_with_the_token_of_the_environment(oracle, start, monkeypatch):  # noqa: F811
    service = await start([CALL, ScriptedTurn(text="Done.")], tokens=TOKENS)
    asked = await service.ask(QUESTION, headers=ALICE)
    url = ("--url", f"http://127.0.0.1:{service.port}")
    monkeypatch.setenv("ORACLE_TOKEN", ALICE["Authorization"].removeprefix("Bearer "))
    listed = await asyncio.to_thread(oracle, "runs", "list", *url)
    assert (listed.code, listed.err) == (0, "")
    assert "Which files" in listed.out
    shown = await asyncio.to_thread(oracle, "runs", "show", asked.run_id, *url)
    assert (shown.code, shown.err) == (0, "")
    assert "✓ completed" in shown.out
    assert "stop: completed" in next(line for line in shown.out.splitlines() if line.startswith("▸"))
    monkeypatch.setenv("ORACLE_TOKEN", "another-0123456789")
    refused = await asyncio.to_thread(oracle, "runs", "list", *url)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == "Error: the service does not accept the token; set ORACLE_TOKEN\n"


async def test_a_run_whose_service_has_died_says_so(places, monkeypatch):
    found = await places([HANGS])
    async with found.service.asking(QUESTION) as asked:
        await asked.until("here")
        source = found.all["archive"]
        assert (await source.history(asked.run_id)).problem == ""
        run = await source.archive.find(asked.run_id)
        beat = await until(lambda: source.archive.last_beat(run.worker))  # the service writes it each second
        monkeypatch.setattr(local, "time", SimpleNamespace(time=lambda: beat + 42))
        assert "its service was 42 s ago" in (await source.history(asked.run_id)).problem
        await found.service.client.post(f"/api/oracle/runs/{asked.run_id}/cancel")
        await asked.rest()
        assert (await source.history(asked.run_id)).problem == ""


def test_the_service_that_the_environment_names_is_read_unless_a_data_folder_is_given(oracle, monkeypatch, tmp_path):
    monkeypatch.setenv("ORACLE_URL", "http://127.0.0.1:9")
    ran = oracle("runs", "list")
    assert (ran.code, "127.0.0.1:9" in ran.err) == (1, True)
    local = oracle("runs", "list", "--data-dir", tmp_path)
    assert "127.0.0.1:9" not in local.err


def test_what_clients_set_is_no_misspelt_setting_of_a_service():
    assert list(misspelt_variables({"ORACLE_TOKEN": "t", "ORACLE_URL": "http://127.0.0.1:8000"})) == []
    assert list(misspelt_variables({"ORACLE_TOKNES": "t"})) == [
        "ORACLE_TOKNES is not a setting and has no effect; did you mean ORACLE_TOKENS?"
    ]
