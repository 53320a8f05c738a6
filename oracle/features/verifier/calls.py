"""`POST /api/trees/verify`: all behaviours of a tree with a text in place, explored within bounds."""

from typing import Final, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field, TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from oracle.authoring.figures import is_served
from oracle.authoring.trials import Trials
from oracle.server.api.access import OperatorNow, Parts
from oracle.server.api.bodies import TreeName, TreePresent
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.waiting import while_present

router = APIRouter(prefix="/api/trees", tags=["trees"], route_class=DescribedRoute)

MOST_MEGABYTES = 500
"""How much memory the process of a verification may have when it stops exploring: it shares the machine."""
_SHARE: Final = 0.6  # of a trial's time, for the exploration: the process has to start, and to tell its stories


class TreeProof(TreePresent):
    """A tree, or a text of it, and how much of its behaviour is explored."""

    of: TreeName | None = Field(
        default=None, description="The tree to explore with this text in use; by default the tree itself."
    )
    turns: int = Field(default=3, ge=1, le=10, description="The most turns of a run.")
    states: int = Field(default=5_000, ge=1, le=50_000, description="Where the exploration stops.")


class VerifiedProperty(BaseModel):
    """The verdict on one property, or on one rule of the tree."""

    name: str
    text: str
    verdict: Literal["proven", "refuted", "not_decided"]
    problem: str = Field(description="What is wrong, or why it is undecided; empty if it is proven.")
    is_rule: bool
    story: list[str] | None = Field(description="The shortest counterexample, by lines.")
    other_stories: list[list[str]] = Field(description="Further counterexamples through other nodes; two at most.")


class VerifiedWithin(BaseModel):
    """The bounds of an exploration."""

    turns: int
    stopped_at: str | None = Field(description="What stopped it; null if it is complete.")


class TreeVerification(BaseModel):
    """All behaviours of a tree with a text in place, as far as they were explored."""

    tree: str
    verdict: Literal["proven", "refuted", "not_decided"] = Field(description="The worst result of all.")
    properties: list[VerifiedProperty]
    bounds: VerifiedWithin
    states: int
    transitions: int
    ends: int
    seconds: float
    megabytes: float


_VERIFICATION = TypeAdapter(TreeVerification)


@router.post("/verify", summary="Verify a tree", response_model=TreeVerification, responses=refusals(404, 409))
async def verify_tree(request: Request, body: TreeProof, parts: Parts, _: OperatorNow) -> Response:
    """Explore all behaviours of a tree with a text in place, and prove or refute what must hold for every run."""
    state, of = parts.trees.state(body.name), parts.trees.state(body.of or body.name)
    text = parts.trees.text(state, body.source)
    exploration = explore(parts.trials(), body.name, text, of=of.name, turns=body.turns, states=body.states)
    found = await while_present(request, exploration)
    if found is None:
        return Response(status_code=204)  # nobody gets it: the client has disconnected
    if is_served(state, text) and of.error is None:
        within = found.bounds.model_dump()
        await parts.results().note_verified(of, {"verdict": found.verdict, "states": found.states, **within})
    return json_answer(found.model_dump())


async def explore(trials: Trials, name: str, text: str, *, of: str, turns: int, states: int) -> TreeVerification:
    """Explore all behaviours of a tree with a text in place.

    Args:
        trials: gives it a process.
        name: of the tree whose text it would be.
        text: the whole text of the tree's file.
        of: the tree that is explored: the same, or one that includes it.
        turns: the most LLM turns of a run.
        states: where the exploration stops. It also stops in time for an answer.

    Raises:
        NotFoundError: there is no tree of this name.
        UserError: the text has mistakes, or it took too long.
    """
    place = "oracle.features.verifier.verify:try_verification"
    bounds = {"states": states, "seconds": trials.longest_s * _SHARE, "megabytes": MOST_MEGABYTES}
    return await trials.find(name, text, place, _VERIFICATION, of=of, turns=turns, bounds=bounds)
