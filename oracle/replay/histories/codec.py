"""Histories as JSON: the form of exports, of what the HTTP API returns, and of what is kept beside a log.

Why the nodes of a run decided so is computed once, when a run that has ended is first looked at. The result is
kept without its row, which is renewed, and without its system prompts, which the store has once for all runs.
"""

from dataclasses import replace
from functools import cache
from importlib.metadata import version
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from oracle.core.encoding import from_json, to_json
from oracle.replay.histories.model import History, run_facts
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import RunRecord

_ANY: Final[TypeAdapter[Any]] = TypeAdapter(Any)


def history_to_json(history: History) -> bytes:
    """The history as a JSON object."""
    return to_json(plain(history))


def plain(data: Any) -> Any:  # noqa: ANN401  any part of a history
    """Any part of a history as JSON data."""
    return _ANY.dump_python(data, mode="json", warnings=False)


@cache
def history_reader() -> TypeAdapter[History]:
    """Reads the JSON of a history; slow to make, and of no use where none is read."""
    return TypeAdapter(History)


async def kept_history(archive: Archive, record: RunRecord) -> History | None:
    """The history that is kept of a run; `None` if it is to be made from the log.

    Raises:
        StoreUnavailableError: the database cannot be read at present.
    """
    data = await archive.history(record.id, made_by=version("oracle-bt")) if record.kept == "whole" else None
    if data is None:
        return None
    try:
        history = history_reader().validate_python(from_json(data) | {"run": run_facts(record)})
    except (ValueError, ValidationError):  # of another form, which the next one replaces
        return None
    await add_prompts(archive, history)
    return history


async def keep_history(archive: Archive, record: RunRecord, history: History) -> None:
    """Keep the history of a run that has ended, if all of it could be explained; else it is made anew each time."""
    if record.status == "finished" and record.kept == "whole" and not history.problem:
        fields = plain(history)
        del fields["run"]
        for turn in fields["turns"]:
            if turn["request"] is not None and turn["request"]["prompt_sha"] is not None:
                turn["request"]["prompt"] = None
        await archive.keep_history(record.id, to_json(fields), made_by=version("oracle-bt"))


async def add_prompts(archive: Archive, history: History) -> None:
    """Add the texts of the system prompts that the requests of a history name, as far as the store has them.

    Raises:
        StoreUnavailableError: the database cannot be read at present.
    """
    texts: dict[str, str | None] = {}
    for at, turn in enumerate(history.turns):
        request = turn.request
        if request is None or request.prompt is not None or request.prompt_sha is None:
            continue
        if request.prompt_sha not in texts:
            texts[request.prompt_sha] = await archive.prompt(request.prompt_sha)
        history.turns[at] = replace(turn, request=replace(request, prompt=texts[request.prompt_sha]))
