"""`POST /api/trees/check`, `…/complete`, `…/hover` and `…/definition`: what an editor asks of a text while it is typed.

Nothing is saved. All but the check take texts that are incomplete, one at a time, because that takes processor time.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bt_runtime import Mistake
from bt_runtime.text import MOST_MISTAKES
from oracle.authoring.editing.completion import complete
from oracle.authoring.editing.describing import hover
from oracle.authoring.editing.diagnosing import with_offers
from oracle.authoring.editing.symbols import definition
from oracle.server.api.access import OperatorNow, Parts
from oracle.server.api.answers import json_answer
from oracle.server.api.bodies import TextToCheck, TreeCursor, TreeWord
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.parts import ServiceParts
from oracle.server.api.tree_bodies import mistake_bodies
from oracle.server.api.tree_replies import TreeCheck, TreeCompletions, TreeHover, TreePlaces
from oracle.server.api.waiting import while_present

T = TypeVar("T")

router = APIRouter(prefix="/api/trees", tags=["trees"], route_class=DescribedRoute)

_MOST_COMPLETIONS = 500


@router.post("/check", summary="Check a text", response_model=TreeCheck, responses=refusals(409))
async def check_tree(request: Request, body: TextToCheck, parts: Parts, _: OperatorNow) -> Response:
    """Check a text as the file of a tree; each mistake in it comes with everything that would remove it.

    Of many errors or warnings the first hundred are returned. Judging the control of the tree ends after two seconds of
    processor time, with the warning `not-judged`, and when the client has disconnected.
    """
    checked = await while_present(request, parts.trees.check(body.source, name=body.name))
    if checked is None:
        return Response(status_code=204)

    def offer() -> tuple[list[Mistake], list[Mistake]]:
        registry, file = parts.desk().registry, checked.file
        return (
            with_offers(checked.mistakes, body.source, file=file, registry=registry),
            with_offers(checked.warnings[:MOST_MISTAKES], body.source, file=file, registry=registry),
        )

    async with parts.typing:
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
    """What a function of `oracle.authoring.editing` says about a position."""
    file = parts.trees.folder / f"{body.name or 'new'}.yaml"
    async with parts.typing:
        return await asyncio.to_thread(ask, parts.desk(), body.source, file, line=body.line, column=body.column)
