"""`/api/trees…`: the trees of the service; operators try, save and take back."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from bt_runtime import TreeDefinition, TreeState, render
from bt_runtime.language.reading.header import TREE_NAME
from bt_runtime.text import iso
from oracle.authoring.editor import NO_TREE, Save, TreeConflictError, TreeRefusedError, text_of, version_of
from oracle.authoring.figures import TreeAnswers
from oracle.core.errors import NotFoundError, UserError
from oracle.replay.comparing import Comparison
from oracle.runs.storage.archive import Archive
from oracle.server.api.access import CallerNow, OperatorNow, Parts, find_run
from oracle.server.api.auth import Caller
from oracle.server.api.bodies import TreeReplay, TreeSave, TreeVersionNow
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import bounded, json_answer
from oracle.server.api.parts import ServiceParts
from oracle.server.api.tree_bodies import figures_for, mistake_bodies
from oracle.server.api.tree_replies import (
    TreeAnswersBody,
    TreeBody,
    TreeComparison,
    TreeConflict,
    TreeEditList,
    TreeList,
    TreeRefusal,
    TreeTextBody,
)
from oracle.server.api.waiting import while_present

router = APIRouter(prefix="/api/trees", tags=["trees"], route_class=DescribedRoute)

_LONGEST_MESSAGE = 1_000

SAVING = {
    **refusals(404, 409),
    409: {
        "model": TreeConflict,
        "description": "The edit was not made from the present version, or the folder cannot be written.",
    },
    422: {
        "model": TreeRefusal,
        "description": "All mistakes of the tree and of those that include it; nothing is saved.",
    },
}


@router.get("", summary="The trees", response_model=TreeList, responses=refusals())
async def list_trees(parts: Parts, caller: CallerNow) -> Response:
    """Those that a question may name; for operators all, with their files and the number of their mistakes."""
    states = parts.trees.trees.states()
    figures = await figures_for(parts, caller)
    shown = [state for state in states if _may_see(parts, caller, state)]
    heads = [{**await _head(parts, state, states, caller), **figures.of(state)} for state in shown]
    return json_answer(
        {
            "trees": heads,
            "problem": parts.trees.trees.problem if caller.is_operator else None,
            "folder": str(parts.trees.folder) if caller.is_operator else None,
        }
    )


@router.post("/compare", summary="Replay runs", response_model=TreeComparison, responses=refusals(404, 409))
async def compare_trees(request: Request, body: TreeReplay, parts: Parts, caller: OperatorNow) -> Response:
    """Replay the latest recorded queries on the present trees, and with a text in place.

    The queries are those that named the tree, or one that includes it; of one query that named another tree there is
    nothing to say.
    """
    runs = await while_present(request, _compared(body, parts, caller))
    return Response(status_code=204) if runs is None else json_answer({"runs": runs})  # 204: the client has gone


@router.get("/{name}", summary="A tree", response_model=TreeBody, responses=refusals(404))
async def read_tree(name: str, parts: Parts, caller: CallerNow) -> Response:
    """Its text, its version, and a picture of what new runs use."""
    if not _may_see(parts, caller, parts.trees.state(name)):
        raise NotFoundError(NO_TREE)
    return await _tree(parts, name, caller)


@router.put("/{name}", summary="Save a tree", response_model=TreeBody, responses=SAVING)
async def save_tree(name: str, body: TreeSave, parts: Parts, caller: OperatorNow) -> Response:
    """Save a text; new runs use it at once, runs under way end on theirs. If anything is wrong nothing is changed."""
    if not TREE_NAME.fullmatch(name):
        raise UserError(
            "a tree's name must begin with a lower-case letter, followed by letters, digits, '_' and '-'; 60 "
            "characters at most",
            loc=("path", "name"),
            value=name,
        )
    return await _saved(parts, Save(name, body.source, body.version, caller.user_id, body.note), caller)


@router.get("/{name}/answers", summary="What nodes answered", response_model=TreeAnswersBody, responses=refusals(404))
async def count_answers(
    name: str,
    parts: Parts,
    _: OperatorNow,
    runs: Annotated[int, Query(ge=1, le=1_000, description="Count this many of the latest runs.")] = 200,
) -> Response:
    """How often each node of the file answered yes and no, in the latest runs of what new runs use.

    Counted are runs of the tree and of those that include it, of all users, as long as the figures of their ticks are
    kept.
    """
    state = parts.trees.state(name)
    found = TreeAnswers((), 0, True, None) if state.tree is None else await parts.answers().count(state.tree, runs=runs)  # noqa: FBT003
    return json_answer(
        {
            "name": name,
            "run_version": state.tree.sha if state.tree else None,
            "is_current": state.error is None,
            "runs": found.runs,
            "is_complete": found.is_complete,
            "since": None if found.since is None else iso(found.since),
            "nodes": [asdict(node) for node in found.nodes],
        }
    )


@router.get(
    "/{name}/versions", summary="List the versions of a tree", response_model=TreeEditList, responses=refusals(404)
)
async def list_versions(name: str, parts: Parts, _: OperatorNow) -> Response:
    """All former versions and the present one: who, when and why; newest first."""
    edits = await parts.trees.versions(name)
    present = next((version_of(state) for state in parts.trees.trees.states() if state.name == name), None)
    versions = [
        {
            "version": edit.sha,
            "how": edit.how,
            "user_id": edit.user_id,
            "note": edit.note,
            "at": iso(edit.at),
            "size": edit.size,
            "is_present": edit.sha == present,
        }
        for edit in edits
    ]
    return json_answer({"name": name, "versions": versions})


@router.get(
    "/{name}/versions/{sha}", summary="Show the text of a version", response_model=TreeTextBody, responses=refusals(404)
)
async def read_version(name: str, sha: str, parts: Parts, _: OperatorNow) -> Response:
    """The text of a former version, exactly."""
    text = await parts.trees.version_text(name, sha)
    return json_answer({"name": name, "version": sha, "source": text})


@router.post("/{name}/versions/{sha}/restore", summary="Restore a version", response_model=TreeBody, responses=SAVING)
async def restore_version(name: str, sha: str, body: TreeVersionNow, parts: Parts, caller: OperatorNow) -> Response:
    """Save the text of a former version as a new one, with the same checks as any other."""
    text = await parts.trees.version_text(name, sha)
    return await _saved(parts, Save(name, text, body.version, caller.user_id, body.note, how="restored"), caller)


async def _compared(body: TreeReplay, parts: ServiceParts, caller: Caller) -> list[dict[str, Any]]:
    parts.trees.state(body.name)
    archive = Archive(parts.store.database)
    run = None if body.run_id is None else await find_run(body.run_id, parts, user_id=caller.reads_runs_of)
    runs = []
    for state in parts.trees.trees.states():
        is_concerned = body.name in (state.name, *state.includes) and not state.internal
        has_runs = run.tree == state.name if run else is_concerned and await archive.runs(tree=state.name, limit=1)
        if is_concerned and has_runs:
            replayed = await parts.trials().compare(
                body.name, body.source, of=state.name, runs=body.runs, run_id=body.run_id
            )
            runs += [{"tree": state.name, **await _shown(parts, each, caller)} for each in replayed]
    return runs


async def _shown(parts: ServiceParts, replayed: Comparison, caller: Caller) -> dict[str, Any]:
    """A replayed query without the texts of other users' queries."""
    found = replayed.to_json()
    question, difference = found.pop("question"), found.pop("difference")
    is_own = await parts.store.runs.find(found["run_id"], user_id=caller.user_id) is not None
    if difference is not None:
        texts = {} if is_own else {"old": None, "new": None, "answer": None}
        difference |= {**texts, "file": difference["file"] and Path(difference["file"]).name}
    return found | {"question": question if is_own else None, "difference": difference}


async def _saved(parts: ServiceParts, save: Save, caller: Caller) -> Response:
    try:
        await parts.trees.save(save)
    except TreeRefusedError as error:
        return json_answer({"detail": mistake_bodies(error.mistakes)}, status=422)
    except TreeConflictError as error:
        edit = error.edit
        return json_answer(
            {
                "detail": bounded(error, most=_LONGEST_MESSAGE),
                "version": error.version,
                "user_id": edit.user_id if edit else None,
                "at": iso(edit.at) if edit else None,
                "note": edit.note if edit else None,
                "difference": error.difference,
            },
            status=409,
        )
    return await _tree(parts, save.name, caller)


def _may_see(parts: ServiceParts, caller: Caller, state: TreeState) -> bool:
    """Users see what they may name; not a file that was never right: who knows whether it is `internal`."""
    return caller.is_operator or (state.tree is not None and parts.oracle.may_name(state.name))


async def _tree(parts: ServiceParts, name: str, caller: Caller) -> Response:
    state = parts.trees.state(name)
    figures = await figures_for(parts, caller)
    head = {**await _head(parts, state, parts.trees.trees.states(), caller), **figures.of(state)}
    warnings = await parts.trees.warnings(state.tree) if state.error is None else ()
    drawn = await asyncio.to_thread(_drawn, state.tree)
    return json_answer(
        {
            **head,
            "source": text_of(state),
            **drawn,
            "mistakes": mistake_bodies(state.mistakes),
            "warnings": mistake_bodies(warnings),
        }
    )


def _drawn(tree: TreeDefinition | None) -> dict[str, Any]:
    if tree is None:
        return {"outline": None, "picture": None, "nodes": []}
    nodes = [
        {
            "path": node.path,
            "kind": node.kind,
            "name": node.name,
            "file": Path(node.place.file).name,
            "line": node.place.line,
            "column": node.place.column,
        }
        for node in tree.nodes()
    ]
    return {"outline": render(tree, "text"), "picture": render(tree, "svg"), "nodes": nodes}


async def _head(parts: ServiceParts, state: TreeState, states: Sequence[TreeState], caller: Caller) -> dict[str, Any]:
    tree = state.tree
    warnings = await parts.trees.warnings(tree) if state.error is None else ()
    return {
        "name": state.name,
        "description": tree.description if tree else "",
        "internal": state.internal,
        "origin": "shipped" if parts.trees.is_shipped(state) else "operator",
        "version": version_of(state),
        "run_version": tree.sha if tree else None,
        "is_current": state.error is None,
        "includes": sorted(state.includes),
        "used_by": [other.name for other in states if state.name in other.includes],
        "mistake_count": len(state.mistakes),
        "warning_count": len(warnings),
        "shadows": parts.trees.shadows(state),
        "file": state.source.file if caller.is_operator and state.source else None,
    }
