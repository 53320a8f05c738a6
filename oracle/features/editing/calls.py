"""`POST /api/trees/check`, `…/complete`, `…/hover` and `…/definition`: what an editor asks of a text while it is typed.

Nothing is saved. All but the check take texts that are incomplete, one at a time, because that takes processor time.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import TypeVar

from fastapi import APIRouter
from pydantic import ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from bt_runtime import Mistake
from bt_runtime.text import MOST_MISTAKES
from bt_runtime.text.data import dataclass
from oracle.features.editing.completion import complete
from oracle.features.editing.describing import hover
from oracle.features.editing.desk import Desk, editing_desk
from oracle.features.editing.diagnosing import with_offers
from oracle.features.editing.symbols import definition
from oracle.server.api.access import OperatorNow, Parts
from oracle.server.api.bodies import TreeFile
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.parts import ServiceParts
from oracle.server.api.replies import ReplyBody
from oracle.server.api.tree_bodies import mistake_bodies
from oracle.server.api.tree_replies import TreeMistake
from oracle.server.api.waiting import while_present

T = TypeVar("T")

router = APIRouter(prefix="/api/trees", tags=["trees"], route_class=DescribedRoute)

_MOST_COMPLETIONS = 500


@dataclass(frozen=True, slots=True)
class TypingDesk:
    """The desk of a service, made with its first call.

    Args:
        desk: says what can be typed in a tree file.
        typing: lets one text be looked at at a time, because that takes processor time.
    """

    desk: Desk
    typing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))


class TextToCheck(TreeFile):
    """A text to be checked."""

    __qualname__ = "TreeText"  # its name in `/openapi.json`
    model_config = ConfigDict(title="TreeText")


class TreeCursor(TreeFile):
    """A text that is being typed, and where."""

    line: int = Field(ge=1, le=1_000_000, description="The line of the cursor, from 1.")
    column: int = Field(ge=1, le=1_000_000, description="The column of the cursor, in characters from 1.")


class TreeWord(TreeFile):
    """A text that is being typed, and a place in it."""

    line: int = Field(ge=1, le=1_000_000, description="From 1.")
    column: int = Field(ge=1, le=1_000_000, description="The column of a character of the word, from 1.")


class TreeCheck(ReplyBody):
    """The result of a check."""

    ok: bool = Field(description="Whether there are no mistakes; there may be warnings.")
    mistakes: list[TreeMistake]
    warnings: list[TreeMistake]


class TreeCompletion(ReplyBody):
    """Something that can be typed at a position."""

    label: str = Field(description="The text to show in a list.")
    kind: str = Field(description="What it is: a node kind, a setting, a key, a value, …")
    detail: str
    doc: str = Field(description="Markdown.")
    line: int = Field(description="With the next three fields: the range that it replaces.")
    column: int
    end_line: int
    end_column: int
    insert: str = Field(description="The replacement.")
    snippet: str | None = Field(description="The same with placeholders such as `${1:name}`.")


class TreeCompletions(ReplyBody):
    """What can be typed at a position, the likeliest first."""

    items: list[TreeCompletion]


class TreeHover(ReplyBody):
    """What a word of a tree file means."""

    markdown: str | None = Field(description="Null if there is nothing to say about it.")


class TreePlace(ReplyBody):
    """A place in a tree file; line and column count from 1, the end is behind the last character."""

    tree: str = Field(description="The name of its tree; `new` for a text without a name.")
    file: str = Field(description="The name of the file: `follow_signal.yaml`.")
    line: int
    column: int
    end_line: int
    end_column: int


class TreePlaces(ReplyBody):
    """Where a name is declared."""

    places: list[TreePlace] = Field(description="Empty for what the service declares, or if there is no name.")


@router.post("/check", summary="Check a text", response_model=TreeCheck, responses=refusals(409))
async def check_tree(request: Request, body: TextToCheck, parts: Parts, _: OperatorNow) -> Response:
    """Check a text as the file of a tree; each mistake in it comes with everything that would remove it.

    Of many errors or warnings the first hundred are returned. Judging the control of the tree ends after two seconds of
    processor time, with the warning `not-judged`, and when the client has disconnected.
    """
    checked = await while_present(request, parts.trees.check(body.source, name=body.name))
    if checked is None:
        return Response(status_code=204)

    desk = _desk_of(parts)

    def offer() -> tuple[list[Mistake], list[Mistake]]:
        registry, file = desk.desk.registry, checked.file
        return (
            with_offers(checked.mistakes, body.source, file=file, registry=registry),
            with_offers(checked.warnings[:MOST_MISTAKES], body.source, file=file, registry=registry),
        )

    async with desk.typing:
        mistakes, warnings = await asyncio.to_thread(offer)
    return json_answer({"ok": not mistakes, "mistakes": mistake_bodies(mistakes), "warnings": mistake_bodies(warnings)})


@router.post("/complete", summary="Complete a text", response_model=TreeCompletions, responses=refusals())
async def complete_tree(body: TreeCursor, parts: Parts, _: OperatorNow) -> Response:
    """What can be typed at a position of a text, which may be incomplete; nothing is saved."""
    items = await _at(body, parts, complete)
    return json_answer({"items": [item.to_json() for item in items[:_MOST_COMPLETIONS]]})


@router.post("/hover", summary="Explain a word", response_model=TreeHover, responses=refusals())
async def hover_tree(body: TreeWord, parts: Parts, _: OperatorNow) -> Response:
    """What the word at a position means: a node kind, a setting, a key, a tool, a tree, a function."""
    return json_answer({"markdown": await _at(body, parts, hover)})


@router.post("/definition", summary="Find a declaration", response_model=TreePlaces, responses=refusals())
async def find_definition(body: TreeWord, parts: Parts, _: OperatorNow) -> Response:
    """Where the name at a position is declared: the file of a tree, the line of a key or parameter."""
    places = [
        {
            "tree": Path(each.start.file).stem,
            "file": Path(each.start.file).name,
            "line": each.start.line,
            "column": each.start.column,
            "end_line": each.end.line,
            "end_column": each.end.column,
        }
        for each in await _at(body, parts, definition)
    ]
    return json_answer({"places": places})


async def _at(body: TreeWord | TreeCursor, parts: ServiceParts, ask: Callable[..., T]) -> T:
    """What a function of `oracle.features.editing` says about a position."""
    file = parts.trees.folder / f"{body.name or 'new'}.yaml"
    desk = _desk_of(parts)
    async with desk.typing:
        return await asyncio.to_thread(ask, desk.desk, body.source, file, line=body.line, column=body.column)


def _desk_of(parts: ServiceParts) -> TypingDesk:
    with suppress(KeyError):
        return parts.of(TypingDesk)
    found = TypingDesk(editing_desk(parts.settings, parts.trees.trees.library))
    parts.add(found)
    return found
