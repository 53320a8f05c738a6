"""Each user's limits over HTTP: kept, checked, capped, and in force with the next query (012 US1, FR-001 to FR-003)."""

import asyncio
import json

import pytest
import pytest_asyncio

from tests.acceptance.scripts import answers
from tests.service.provider import Desk
from tests.service.scenarios import searching
from tests.service.server import Client, under_both

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATH = "/api/settings/agent-config"
DEFAULTS = {
    "max_iterations": 15,
    "soft_warning_percent": 70,
    "token_budget": 50_000,
    "token_warning_percent": 80,
    "timeout_seconds": 120,
    "max_tool_calls_per_turn": 5,
    "max_parallel_tools": 3,
}
BOUNDS = {
    "max_iterations": (1, 50),
    "soft_warning_percent": (50, 90),
    "token_budget": (1_000, 200_000),
    "token_warning_percent": (50, 95),
    "timeout_seconds": (10, 600),
    "max_tool_calls_per_turn": (1, 20),
    "max_parallel_tools": (1, 10),
}


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def _as_it_was(client: Client, alice: Client):
    yield
    for one in (client, alice):
        await one.http.post(f"{PATH}/reset")


async def fields(client: Client) -> dict[str, int]:
    """The seven fields as they are kept."""
    response = await client.http.get(PATH)
    assert response.status_code == 200
    kept = response.json()
    return {name: kept[name] for name in DEFAULTS}


async def change(client: Client, **changes: int) -> None:
    response = await client.http.put(PATH, json=changes)
    assert response.status_code == 200, response.text


async def test_012_fr_001_a_user_who_has_set_nothing_has_the_defaults(client: Client) -> None:
    assert await fields(client) == DEFAULTS


async def test_012_us1_1_what_was_changed_is_there_when_it_is_looked_at_again(client: Client) -> None:
    await change(client, max_iterations=10)
    assert await fields(client) == DEFAULTS | {"max_iterations": 10}
    await change(client, tokenBudget=9_000, timeoutSeconds=33)
    assert await fields(client) == DEFAULTS | {"max_iterations": 10, "token_budget": 9_000, "timeout_seconds": 33}
    response = await client.http.post(f"{PATH}/reset")
    assert response.status_code == 200
    assert await fields(client) == DEFAULTS


async def test_changes_at_the_same_moment_are_all_kept(client: Client) -> None:
    wanted = {name: greatest for name, (_, greatest) in BOUNDS.items()}
    await asyncio.gather(*(change(client, **{name: value}) for name, value in wanted.items()))
    assert await fields(client) == wanted


@under_both
async def test_012_us1_2_a_change_is_in_force_with_the_next_query(client: Client, desk: Desk) -> None:
    await change(client, max_iterations=2)
    desk.play(*searching(2))
    heard = await client.ask()
    assert heard.answer.endswith("Stopped: iteration limit reached (2/2).")
    assert (await client.run(heard.run_id))["limits"]["max_iterations"] == 2
    desk.play(*searching(3))
    heard = await client.ask(limits={"maxIterations": 3})
    assert heard.answer.endswith("Stopped: iteration limit reached (3/3).")
    assert (await fields(client))["max_iterations"] == 2


async def test_a_change_does_not_touch_a_query_under_way(client: Client, desk: Desk) -> None:
    desk.play(*searching(3))
    async with client.stream(limits={"max_iterations": 3}) as stream:
        await change(client, max_iterations=1)
        await stream.rest()
    assert stream.answer.endswith("Stopped: iteration limit reached (3/3).")


@pytest.mark.parametrize(("name", "bounds"), BOUNDS.items(), ids=BOUNDS)
async def test_012_fr_003_values_are_held_to_their_bounds_over_http(
    client: Client, name: str, bounds: tuple[int, int]
) -> None:
    least, greatest = bounds
    for good in bounds:
        await change(client, **{name: good})
        assert (await fields(client))[name] == good
    for bad in (least - 1, greatest + 1, -(10**30), "many", None, 1.5, [least], True, float("nan")):
        body = json.dumps({name: bad, "max_parallel_tools" if name != "max_parallel_tools" else "token_budget": 1_000})
        response = await client.http.put(PATH, content=body, headers={"Content-Type": "application/json"})
        assert response.status_code == 422, (bad, response.text)
        asked = await client.http.post(
            "/api/oracle",
            content=json.dumps({"question": "x", "limits": {name: bad}}),
            headers={"Content-Type": "application/json"},
        )
        assert asked.status_code == 422, (bad, asked.text)
    assert await fields(client) == DEFAULTS | {name: greatest}


async def test_012_us1_3_a_wrong_value_is_refused_with_a_message_that_helps_and_nothing_is_saved(
    client: Client,
) -> None:
    response = await client.http.put(PATH, json={"max_iterations": 0, "token_budget": 9_000})
    assert response.status_code == 422
    (detail,) = response.json()["detail"]
    assert "max_iterations" in detail["loc"]
    for word in ("max_iterations", "0", "1", "50"):
        assert word in json.dumps(detail)
    assert await fields(client) == DEFAULTS


@pytest.mark.parametrize(
    "body",
    [
        {"max_iteration": 3},
        {"max_iterations": 3, "maxIterations": 4},
        {"effective": {}},
        {"": 1},
        [],
        None,
        "x",
        {"__proto__": 1},
    ],
    ids=repr,
)
async def test_decision_03_unknown_fields_change_nothing_over_http(client: Client, body: object) -> None:
    response = await client.http.put(PATH, json=body)
    assert response.status_code == 422
    assert await fields(client) == DEFAULTS


async def test_decision_01_the_answer_names_what_ceiling_and_tree_cap(alice: Client) -> None:
    await change(alice, max_iterations=50, token_budget=200_000)
    kept = (await alice.http.get(PATH)).json()
    assert (kept["max_iterations"], kept["token_budget"]) == (50, 200_000)
    effective = kept["effective"]
    assert effective["max_iterations"] == 30  # the tree's
    assert effective["token_budget"] == 60_000  # the operator's
    assert effective["timeout_seconds"] == 120
    assert kept["capped"] == {
        "max_iterations": {"limit": 30, "by": "tree"},
        "token_budget": {"limit": 60_000, "by": "operator"},
    }


async def test_a_ceiling_holds_for_a_query_too(alice: Client, guarded_desk: Desk) -> None:
    guarded_desk.play(answers("Yes."))
    heard = await alice.ask(limits={"token_budget": 200_000})
    assert (await alice.run(heard.run_id))["limits"]["token_budget"] == 60_000
