"""`oracle serve` as a process that may die, a provider that survives it, and what must be true of every run then."""

import os
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.paced import Pace, make_project, pieces_in
from benchmarks.paced_provider import PacedProvider
from benchmarks.processes import ServerProcess, python
from benchmarks.service_client import Stream, call

QUICK = Pace(turns=2, pieces=20, turn_s=0.2)
"""A query that takes half a second."""
LONG = Pace(turns=3, pieces=40, turn_s=0.8)

_FOREIGN = ("ORACLE_", "ANTHROPIC_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "COV_", "PYTEST_")


def service(
    folder: Path,
    provider: PacedProvider,
    *,
    port: int = 0,
    data: str = "data",
    settings: Mapping[str, str] | None = None,
) -> ServerProcess:
    """`oracle serve` over a folder of the test's; not started yet.

    Args:
        folder: the test's.
        provider: who answers.
        port: where it listens; 0 picks one.
        data: the name of its data folder.
        settings: variables.
    """
    project = make_project(folder / "project", LONG)
    foreign = dict.fromkeys(name for name in os.environ if name.upper().startswith(_FOREIGN))
    own = {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": provider.url, "ORACLE_ENCODER": "off"}
    env = foreign | own | dict(settings or {})
    command = python("-m", "oracle", "serve", "--port", str(port), "--data-dir", str(folder / data))
    return ServerProcess([*command, "--project", str(project)], log=folder / f"{data}.log", env=env, cwd=folder)


async def checked_run(address: str, run_id: str, *, seen: Stream | None = None, pace: Pace | None = None) -> Stream:
    """Read a run from its beginning to its end, and check everything that holds for every run that has ended.

    Args:
        address: of the service, now.
        run_id: the run.
        seen: what a client had read of it before.
        pace: of the provider; the text is compared with what it said, and must be all of it if the run completed.
    """
    told = await (await Stream(address).resume(run_id)).read_all()
    assert told.status == 200, f"{run_id}: {told.status}"
    assert told.ids == list(range(1, len(told.ids) + 1)), f"{run_id}: gaps in {told.ids}"
    types = [chunk["type"] for chunk in told.chunks]
    assert types.count("done") == 1, f"{run_id}: {types[-5:]}"
    assert types[-1] == "done", f"{run_id}: {types[-5:]}"
    if seen is not None:
        assert seen.ids == told.ids[: len(seen.ids)], f"{run_id}: a client had seen other numbers"
        assert seen.chunks == told.chunks[: len(seen.chunks)], f"{run_id}: a client had seen other chunks"
    _check_calls(told.chunks)
    _check_end(told)
    if pace is not None:
        _check_text(told, pace)
    await _check_row(address, run_id, told)
    await _check_conversation(address, run_id, told)
    return told


async def runs_of(address: str) -> list[dict[str, Any]]:
    """All runs, newest first."""
    status, _, listed = await call(address, "GET", "/api/runs?limit=200")
    assert status == 200, listed
    runs = listed["runs"]
    assert isinstance(runs, list)
    return runs


def broken_pages(database: Path) -> list[str]:
    """What SQLite finds wrong with the file; nothing, if all is well."""
    with sqlite3.connect(database) as connection:
        found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    connection.close()
    return [] if found == ["ok"] else found


def _check_calls(chunks: Sequence[Mapping[str, Any]]) -> None:
    calls = [chunk["tool_call"]["id"] for chunk in chunks if chunk["type"] == "tool_call"]
    results = [chunk["tool_call_id"] for chunk in chunks if chunk["type"] == "tool_result"]
    assert sorted(calls) == sorted(results), f"calls {calls}, results {results}"
    assert len(set(calls)) == len(calls), calls


def _check_end(told: Stream) -> None:
    reason = told.chunks[-1]["termination_reason"]
    errors = [chunk for chunk in told.chunks if chunk["type"] == "error"]
    assert bool(errors) == (reason == "error"), f"{reason}: {errors}"
    if reason not in ("completed", "user_cancelled"):
        last = [chunk["content"] for chunk in told.chunks if chunk["type"] == "content"][-1]
        assert last.startswith("Stopped: "), last


def _check_text(told: Stream, pace: Pace) -> None:
    places = [piece.place for piece in pieces_in(told.text)]
    expected = pace.expected(places[0][0]) if places else []
    assert places == expected[: len(places)], f"{told.run_id}: not what the provider said"
    if told.chunks[-1]["termination_reason"] == "completed":
        assert len(places) == len(pace.expected("")), f"{told.run_id}: completed, but not whole"


async def _check_row(address: str, run_id: str, told: Stream) -> None:
    status, _, row = await call(address, "GET", f"/api/oracle/runs/{run_id}")
    assert status == 200, row
    assert row["status"] == "finished", row
    done = told.chunks[-1]
    for field in ("termination_reason", "turns", "tokens_used", "context_id"):
        assert row[field] == done[field], f"{field}: {row} and {done}"


async def _check_conversation(address: str, run_id: str, told: Stream) -> None:
    status, _, kept = await call(address, "GET", f"/api/oracle/conversations/{told.chunks[-1]['context_id']}")
    assert status == 200, kept
    own = [message for message in kept["messages"] if message["metadata"].get("run_id", run_id) == run_id]
    answers = [message["content"] for message in own if message["role"] == "assistant"]
    assert told.text in answers if told.text else True, f"{run_id}: the conversation has {answers}"
    assert answers.count(told.text) <= 1, f"{run_id}: kept more than once"
