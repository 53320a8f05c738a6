"""What must be true of a run that was disturbed: it is the undisturbed one, but for a pause."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from benchmarks.service_client import Stream, call
from tests.durable.clients import Told, asked
from tests.durable.fleet import Fleet

Ask = tuple[str, str]
"""The kind of a question, and its tag."""

_AT_ONCE = 12
_OF_THE_RUN = frozenset({"tokens_used", "answers"})
"""Keys of the blackboard that another run has otherwise: what it has cost, and who has answered it when."""
_OF_CALLS = frozenset({"calls_since_strategy", "errors_in_a_row", "failed_tools", "groups_found"})
"""Keys that another result changes: that of a writing call of whose outcome nobody knows."""


@dataclass(frozen=True, slots=True)
class Known:
    """An undisturbed run.

    Args:
        text: its answer.
        reason: why it ended.
        board: the last value of each key that was written, but for those that count.
        results: of its tool calls, by id.
    """

    text: str
    reason: str
    board: Mapping[str, Any]
    results: Mapping[str, Any]

    @property
    def written(self) -> set[str]:
        """The keys of what its tools have written."""
        return {call_id.removeprefix("call_") for call_id, result in self.results.items() if "Written" in result}

    @classmethod
    async def of(cls, fleet: Fleet, told: Told, *, token: str | None = None) -> Self:
        """What a run that nobody has disturbed has told."""
        board = await board_of(fleet, told, token=token)
        return cls(said(told), _done(told)["termination_reason"], board, _results(told))


async def known_answers(fleet: Fleet, asks: Sequence[Ask], *, dice: random.Random) -> dict[str, Known]:
    """Ask everything of a fleet that nobody disturbs; then the doubles forget it all."""
    few, known = asyncio.Semaphore(_AT_ONCE), {}

    async def one(kind: str, tag: str) -> None:
        async with few:
            known[tag] = await Known.of(fleet, await asked(fleet, kind, tag, dice).read())

    async with asyncio.TaskGroup() as group:
        for kind, tag in asks:
            group.create_task(one(kind, tag))
    seen = await fleet.provider.seen()
    assert not seen["again"] + seen["wrong"] + seen["unknown"], seen
    assert set(fleet.effects().values()) <= {1}
    await fleet.provider.forget()
    fleet.forget_ledger()
    return known


async def check_told(fleet: Fleet, told: Told, known: Known, *, token: str | None = None) -> None:
    """Check what a client has read against the undisturbed run, and what the service keeps of it."""
    run_id = told.run_id
    assert told.ids == list(range(1, len(told.ids) + 1)), f"{run_id}: gaps or repeats in {told.ids}"
    errors = told.of_type("error")
    assert said(told) == known.text, f"{run_id}: {_difference(said(told), known.text)}; errors: {errors}"
    done = _done(told)
    assert done["termination_reason"] == known.reason, f"{run_id}: {done}, {errors}"
    assert [chunk["type"] for chunk in told.chunks].count("done") == 1, run_id
    calls = [chunk["tool_call"]["id"] for chunk in told.of_type("tool_call")]
    assert len(calls) == len(set(calls)), f"{run_id}: a call was announced twice: {calls}"
    results = _results(told)
    assert results.keys() == known.results.keys(), run_id
    assert len(told.of_type("tool_result")) == len(results), f"{run_id}: two results of a call"
    address = fleet.live[0].address
    again = await (await Stream(address, token=token).resume(run_id)).read_all()
    assert again.chunks == told.chunks, f"{run_id}: the log has other chunks than those that were sent"
    await _check_kept(address, told, token)
    other = _other(await board_of(fleet, told, token=token), known.board)
    if known.written & set((await fleet.provider.seen())["unknown"]):
        other = {name: values for name, values in other.items() if name not in _OF_CALLS}
    assert not other, f"{run_id}: {other}"
    await _check_record(address, told, token)


async def check_doubles(fleet: Fleet, known: Mapping[str, Known], asks: Sequence[Ask]) -> dict[str, Any]:
    """Check what provider and tools have seen; returns the provider's counts."""
    seen = await fleet.provider.seen()
    assert seen["again"] == [], "turns were asked again that had been completed"
    assert seen["wrong"] == []
    unknown = set(seen["unknown"])
    effects = fleet.effects()
    for entry in fleet.ledger:
        if entry["did"] == "begin":
            effects.setdefault(entry["key"], 0)
    twice = {key: count for key, count in effects.items() if count > 1}
    assert not twice, f"written more than once: {twice}"
    missing = {key for key, count in effects.items() if count == 0} - unknown
    assert not missing, f"never written, and the model was not told: {missing}"
    keyed = {entry["key"] for entry in fleet.ledger if entry["tool"] == "note_keyed"}
    assert not keyed & unknown, "a tool that takes a key was not asked again"
    wanted = {
        call_id.removeprefix("call_")
        for _, tag in asks
        for call_id, told in known[tag].results.items()
        if "Written" in told
    }
    assert wanted <= effects.keys() | unknown, f"never begun: {wanted - effects.keys() - unknown}"
    return seen


async def board_of(fleet: Fleet, told: Told, *, token: str | None = None) -> dict[str, Any]:
    """The blackboard of a run at its end."""
    status, _, first = await call(fleet.live[0].address, "GET", f"/api/runs/{told.run_id}/tree", token=token)
    assert status == 200, first
    board = {key["name"]: key["value"] for key in first["keys"]}
    after: int | None = 0
    while after is not None:
        path = f"/api/runs/{told.run_id}/ticks?after={after}"
        status, _, page = await call(fleet.live[0].address, "GET", path, token=token)
        assert status == 200, page
        board.update((key, value) for tick in page["ticks"] for key, value in tick["writes"])
        after = page["next"]
    return {key: value for key, value in board.items() if key not in _OF_THE_RUN}


def said(told: Told) -> str:
    """The answer, but for the blank line where the bound on tokens has cut a turn.

    A worker that dies after the last text of such a turn does not know of the bound, and the line is not there.
    """
    return told.text.replace("\n\n more.0", " more.0")


async def _check_record(address: str, told: Told, token: str | None) -> None:
    """The joined record is explained to its end, and keeps the rules of its tree."""
    after: int | None = 0
    while after is not None:
        status, _, page = await call(address, "GET", f"/api/runs/{told.run_id}/history?after={after}", token=token)
        assert status == 200, page
        assert (page["problem"], page["unexplained_from"]) == ("", None), told.run_id
        assert page["breaches"] == [], told.run_id
        after = page["next"]


async def _check_kept(address: str, told: Told, token: str | None) -> None:
    done = _done(told)
    status, _, row = await call(address, "GET", f"/api/oracle/runs/{told.run_id}", token=token)
    assert (status, row["status"]) == (200, "finished"), row
    assert {name: row[name] for name in ("termination_reason", "turns", "tokens_used")} == {
        name: done[name] for name in ("termination_reason", "turns", "tokens_used")
    }
    status, _, kept = await call(address, "GET", f"/api/oracle/conversations/{done['context_id']}", token=token)
    assert status == 200, kept
    answers = [message["content"] for message in kept["messages"] if message["role"] == "assistant"]
    assert answers == [told.text], f"{told.run_id}: the conversation has another answer than the stream"


def _done(told: Told) -> dict[str, Any]:
    assert told.done is not None, told.chunks[-1:]
    return told.done


def _results(told: Told) -> dict[str, Any]:
    return {chunk["tool_call_id"]: str(chunk["tool_result"]) for chunk in told.of_type("tool_result")}


def _difference(found: str, wanted: str) -> str:
    pairs = enumerate(zip(found, wanted, strict=False))
    at = next((n for n, pair in pairs if pair[0] != pair[1]), min(len(found), len(wanted)))
    around = slice(max(at - 40, 0), at + 60)
    return f"at {at} of {len(wanted)}: {found[around]!r}, in place of {wanted[around]!r}"


def _other(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    names = {name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name)}
    return {name: (found.get(name), wanted.get(name)) for name in sorted(names)}
