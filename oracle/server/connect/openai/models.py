"""The models that a client may name: the trees, and the provider's models under a tree, as `oracle/claude-…`."""

from typing import Any, NamedTuple

from fastapi import APIRouter
from starlette.responses import Response

from oracle.agent.control.choosing import DEFAULT_TREE
from oracle.core.errors import UserError
from oracle.runs.storage.records import RunRecord
from oracle.server.api.access import Parts
from oracle.server.api.answers import json_answer
from oracle.server.api.errors import bounded
from oracle.server.api.parts import ServiceParts

router = APIRouter()


class ModelChoice(NamedTuple):
    """What a name of a model stands for: a tree, and the provider's model; `None`: the configured one."""

    tree: str
    model: str | None = None


@router.get("/v1/models")
async def list_models(parts: Parts) -> Response:
    """All models, `oracle` first."""
    return json_answer({"object": "list", "data": [_described(name) for name in model_names(parts)]})


@router.get("/v1/models/{model:path}")
async def read_model(model: str, parts: Parts) -> Response:
    """One of them."""
    choose_model(model, parts)
    return json_answer(_described(model))


def model_names(parts: ServiceParts) -> list[str]:
    """All that are listed: a request may name others where the operator has listed no models."""
    trees = sorted(parts.oracle.named_trees, key=lambda name: name != DEFAULT_TREE)
    models = parts.settings.models if parts.provider_answers else ()
    return [*trees, *(f"{DEFAULT_TREE}/{model}" for model in models)]


def choose_model(name: object, parts: ServiceParts) -> ModelChoice:
    """What a name stands for.

    Raises:
        UserError: there is no such model, or it may not be named.
    """
    known = ", ".join(model_names(parts)[:20])
    if name is None:
        raise UserError(f"a model is to be named; there are {known}", loc=("body",))
    text = str(name)
    tree, slash, model = text.partition("/")
    if parts.oracle.may_name(tree):
        if not slash:
            return ModelChoice(tree)
        if model.strip() and parts.provider_answers and parts.settings.allows_model(model):
            return ModelChoice(tree, model)
    raise UserError(f"there is no model {bounded(text)!r}; there are {known}", loc=("body", "model"))


def model_of(run: RunRecord) -> str:
    """The name by which a request names what has answered a run."""
    model = run.input.get("model")
    return run.tree if model is None else f"{run.tree}/{model}"


def _described(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "oracle"}
