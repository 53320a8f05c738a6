"""`POST /api/trees/test`: the scenarios, played with a text of a tree in place."""

from pathlib import Path
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.json_schema import SkipJsonSchema
from starlette.requests import Request
from starlette.responses import Response

from oracle.authoring.figures import is_served
from oracle.authoring.trials import Trials
from oracle.core.errors import UserError
from oracle.features.scenarios.suites import FOLDER_NAME
from oracle.server.api.access import OperatorNow, Parts
from oracle.server.api.bodies import TreePresent
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.replies import ReplyBody
from oracle.server.api.waiting import while_present

router = APIRouter(prefix="/api/trees", tags=["trees"], route_class=DescribedRoute)


class ScenarioDifference(BaseModel):
    """What happened in place of what is stated."""

    model_config = ConfigDict(extra="allow")

    line: int
    path: SkipJsonSchema[list[str | int]] = []
    expected: Any
    got: Any
    hint: str | None = None


class ScenarioResult(BaseModel):
    """A scenario that was played."""

    model_config = ConfigDict(extra="allow")

    name: str
    line: SkipJsonSchema[int | None] = None
    tree: str = Field(description="The tree that the scenario runs.")
    visited_trees: list[str] | None = Field(
        default=None, description="This tree and the parts of it that were reached."
    )
    passed: bool
    problem: str | None = Field(default=None, description="Why it could not be played.")
    differences: list[ScenarioDifference] | None = None


class ScenarioFile(BaseModel):
    """A file of scenarios."""

    file: str
    passed: bool
    mistakes: str | None
    scenarios: list[ScenarioResult]


class TreeTest(ReplyBody):
    """The scenarios, with the text in place."""

    passed: bool
    files: list[ScenarioFile]


_FILES = TypeAdapter(tuple[ScenarioFile, ...])


@router.post("/test", summary="Play scenarios", response_model=TreeTest, responses=refusals(404, 409))
async def try_scenarios(request: Request, body: TreePresent, parts: Parts, _: OperatorNow) -> Response:
    """Play all scenario files, also with a text in place of a tree's file.

    Lists show how they went with the present files.
    """
    state, states = parts.trees.state(body.name), parts.trees.trees.states()
    text = parts.trees.text(state, body.source)
    found = await while_present(request, play_scenarios(parts.trials(), body.name, text))
    if found is None:
        return Response(status_code=204)  # nobody gets it: the client has disconnected
    if is_served(state, text):
        scenarios = [each for file in found for each in file.scenarios]
        await parts.results().note_tested(
            states, [({each.tree, *(each.visited_trees or ())}, each.passed) for each in scenarios]
        )
    files = [file.model_copy(update={"file": Path(file.file).name}) for file in found]
    tested = TreeTest(passed=all(file.passed for file in files), files=files)
    return json_answer(tested.model_dump(exclude_unset=True))


async def play_scenarios(trials: Trials, name: str, text: str) -> tuple[ScenarioFile, ...]:
    """Play all scenarios with this text of a tree in place.

    Raises:
        NotFoundError: there is no tree of this name.
        UserError: there are no scenarios, or it took too long.
    """
    if not any((folder / FOLDER_NAME).is_dir() for folder in trials.trees.library.folders):
        raise UserError(f"there are no scenarios; put them into {FOLDER_NAME!r} in the folder of trees", status=409)
    return await trials.find(name, text, "oracle.features.scenarios.suites:try_scenarios", _FILES, beside=FOLDER_NAME)
