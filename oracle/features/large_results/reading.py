"""The tool `read_result`: reads on in a large result of the same query, or finds places in it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, Final

from oracle.agent.run import AgentRun
from oracle.core.errors import OracleError
from oracle.tools import ToolError, ToolResult, tool
from oracle.tools.keys import calling_query
from oracle.tools.text import shorten

NAME: Final = "large-results"
MOST_OF_RUN: Final = 20_000_000
"""Characters that are kept of one run."""
_MOST: Final = 28_000
"""Characters of one page; below the limit of a result, so that the page's own end is never cut."""
_PLACES: Final = 20
_AROUND: Final = 200
_LONGEST_SEARCH: Final = 500


@tool(
    group="results",
    when_to_use="For what was left out of a result that was too large.",
    name="read_result",
    query_types=(),
    labels={},  # the result's own tool has said what it reads
)
async def _read_result(
    id: Annotated[str, "The id that stands where the result is cut."],  # noqa: A002  the model's word for it
    start: Annotated[int, "The first character that is wanted, from 0."] = 0,
    length: Annotated[int, f"How many characters, at most {_MOST:,}."] = 12_000,
    search: Annotated[str, "A word or phrase as it stands there, in any case: its places are listed, not a page."] = "",
) -> ToolResult:
    """Read a part of a large result of this question, or list the places where words stand in it."""
    run: AgentRun | None = calling_query()
    results: Any = None if run is None else run.equipment.hooks.parts.get(NAME)
    try:
        text = None if run is None or results is None else await results.shelf.find(run.query.run_id, id.strip())
    except OracleError:
        raise ToolError("the result cannot be read at the moment; try again.") from None
    if text is None:
        raise ToolError(f"this question has no large result {shorten(id, limit=40)!r}; the id stands where one is cut.")
    if search:
        return _places(text, search[:_LONGEST_SEARCH], result_id=id.strip())
    if not 0 <= start < len(text):
        raise ToolError(f"start must be from 0 to {len(text) - 1:,}: the result has {len(text):,} characters.")
    end = min(len(text), start + min(max(length, 1), _MOST))
    rest = f" To read on, start {end}." if end < len(text) else " This is its end."
    return ToolResult(f"[Characters {start:,} to {end:,} of {len(text):,}.{rest}]\n\n{text[start:end]}")


def _places(text: str, search: str, *, result_id: str) -> ToolResult:
    """The places where words stand, ignoring case, each with some text around it."""
    found = list(_found(text, search))
    if not found:
        return ToolResult(f"{shorten(search)!r} does not stand in the result {result_id!r}.", is_empty=True)
    parts = [f"[At {at:,}]\n{text[max(0, at - _AROUND) : at + len(search) + _AROUND]}" for at in found[:_PLACES]]
    end = (
        f"[There are more; these are the first {_PLACES}.]" if len(found) > _PLACES else f"[All places: {len(found)}.]"
    )
    return ToolResult("\n\n".join([*parts, end]))


def _found(text: str, search: str) -> Iterator[int]:
    """The places, apart from each other, one more of them than are shown at most."""
    # Folding could change the length of a text; without case the places stay what they are.
    lowered, wanted = text.lower(), search.lower()
    if len(lowered) != len(text):
        lowered, wanted = text, search
    at = lowered.find(wanted)
    for _ in range(_PLACES + 1):
        if at < 0:
            return
        yield at
        at = lowered.find(wanted, at + len(wanted) + _AROUND)


read_result: Final = replace(_read_result, on_demand=True)
