"""`POST /api/trees/explain`: what a tree does with a text in place, and which rows that changes."""

from pathlib import PurePath
from typing import Any, Final

from fastapi import APIRouter
from pydantic import BaseModel, Field, TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from bt_runtime import NodeDefinition, TreeFileError
from oracle.authoring.trials import TrialGround
from oracle.features.explaining.changes import changes_of
from oracle.features.explaining.table import Row, Table, table_of
from oracle.server.api.access import OperatorNow, Parts
from oracle.server.api.bodies import TreeName, TreePresent
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.waiting import while_present

router = APIRouter(prefix="/api/trees", tags=["trees"], route_class=DescribedRoute)

_SHARE: Final = 0.4  # of a trial's time, for each of the two trees


class TreeToExplain(TreePresent):
    """A tree, or a text of it."""

    of: TreeName | None = Field(
        default=None, description="The tree to explain with this text in use; by default the tree itself."
    )


class ExplainedRow(BaseModel):
    """Situations in which the tree does the same."""

    ids: list[str] = Field(description="Stable names of the situations.")
    when: str = Field(description='The end of a sentence that begins with "When".')
    does: str
    sees: str = Field(description="What the user sees.")
    ends: str
    line: int | None = Field(description="Of the node that gave the reason for the end; null if not in this file.")
    lines: list[int] = Field(description="Of the nodes of this file that were visited.")
    broken_rules: list[str]


class ExplainedChange(BaseModel):
    """Situations in which the text behaves differently from the present file."""

    ids: list[str]
    when: str
    change: str = Field(description="In short, such as `was not written, now written`.")
    old: ExplainedRow | None = Field(description="Null: it could not come about.")
    new: ExplainedRow | None
    rules: list[str] = Field(description="Rules of the tree that speak of what differs.")


class TreeExplanation(BaseModel):
    """What a tree does, situation by situation."""

    tree: str
    offered: str = Field(description="The tools of the first turn, by the type of the question.")
    rows: list[ExplainedRow] = Field(description="The shortest first.")
    changes: list[ExplainedChange]
    unreached: list[int] = Field(description="The lines of nodes of this file that no situation reaches.")
    left_out: list[str] = Field(description="Situations for which there was no time.")


_EXPLANATION = TypeAdapter(TreeExplanation)


@router.post("/explain", summary="Explain a tree", response_model=TreeExplanation, responses=refusals(404, 409))
async def explain_tree(request: Request, body: TreeToExplain, parts: Parts, _: OperatorNow) -> Response:
    """Say what a tree does in each situation with a text in place, and what that changes."""
    state, of = parts.trees.state(body.name), parts.trees.state(body.of or body.name)
    text, trials = parts.trees.text(state, body.source), parts.trials()
    place, seconds = f"{__name__}:try_explanation", trials.longest_s * _SHARE
    work = trials.find(body.name, text, place, _EXPLANATION, of=of.name, shown=body.name, seconds=seconds)
    found = await while_present(request, work)
    return Response(status_code=204) if found is None else json_answer(found.model_dump())


def try_explanation(ground: TrialGround, of: str, shown: str, seconds: float) -> dict[str, Any]:
    """Explain the tree `of` with the text of a trial in place; lines are those of the file of the tree `shown`."""
    registry = ground.library.registry
    table = table_of(ground.tree(of), registry, seconds=seconds)
    try:
        before = ground.tree(of, is_old=True)
    except TreeFileError:  # the present file has mistakes: there is nothing to compare with
        before = table.tree
    old = table if before.sha == table.tree.sha else table_of(before, registry, seconds=seconds)
    return {
        "tree": of,
        "offered": table.offered,
        "rows": [_row(row, table, shown) for row in table.rows],
        "changes": [
            change.to_json()
            | {
                "old": change.old and _row(change.old, old, shown),
                "new": change.new and _row(change.new, table, shown),
            }
            for change in changes_of(old, table)
        ],
        "unreached": [node.place.line for node in table.unreached if _is_in(node, shown)],
        "left_out": table.left_out,
    }


def _row(row: Row, table: Table, shown: str) -> dict[str, Any]:
    told, decided = row.told, row.told.decided_by
    visited = {node.place.line for node in table.tree.nodes() if node.path in told.visited and _is_in(node, shown)}
    return {
        **{name: value for name, value in row.to_json().items() if name != "decided_by"},
        "line": decided.place.line if decided is not None and _is_in(decided, shown) else None,
        "lines": sorted(visited),
    }


def _is_in(node: NodeDefinition, tree: str) -> bool:
    return PurePath(node.place.file).stem == tree
