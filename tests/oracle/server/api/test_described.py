"""Responses are described by reference, and built for the document alone."""

import pytest
from fastapi import APIRouter, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel

from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.replies import RunList


async def _call() -> Response:
    return Response()


def _route(**settings: object) -> APIRoute:
    router = APIRouter(route_class=DescribedRoute)
    router.add_api_route("/here", _call, **settings)  # type: ignore[arg-type]  any of its settings
    [route] = router.routes
    assert isinstance(route, APIRoute)
    return route


def test_a_route_builds_no_validator_of_a_response():
    route = _route(response_model=RunList, responses=refusals(404))
    assert (route.response_field, route.response_fields) == (None, {})


def test_the_model_of_a_response_is_described_at_the_status_of_the_call():
    route = _route(response_model=RunList, status_code=202, responses={202: {"headers": {}}})
    schema = {"$ref": "#/components/schemas/RunList"}
    assert route.responses == {202: {"headers": {}, "content": {"application/json": {"schema": schema}}}}


def test_two_models_of_one_name_are_refused():
    other = type("RunList", (BaseModel,), {})
    _route(response_model=RunList)
    with pytest.raises(ValueError, match="two models of responses are called 'RunList'"):
        _route(response_model=other)
