import pytest

from oracle.decision import AgentConfig
from oracle.server.api.bodies import Limits
from oracle.server.api.replies import AgentSettings, ConfigValues
from tests.oracle.server.api.conftest import in_shared_loop

PATH = "/api/settings/agent-config"
DEFAULTS = AgentConfig().model_dump()
CAMEL = {
    "maxIterations": 5,
    "softWarningPercent": 60,
    "tokenBudget": 2_000,
    "tokenWarningPercent": 70,
    "timeoutSeconds": 30,
    "maxToolCallsPerTurn": 2,
    "maxParallelTools": 1,
}


def test_the_bodies_have_the_fields_of_the_config():
    assert list(Limits.model_fields) == list(ConfigValues.model_fields) == list(AgentConfig.model_fields)
    assert set(AgentSettings.model_fields) - set(ConfigValues.model_fields) == {"effective", "capped", "fields", "tree"}


async def test_who_has_set_nothing_has_the_defaults(service):
    told = (await service.client.get(PATH)).json()
    assert told.pop("fields").keys() == DEFAULTS.keys()
    assert told == {**DEFAULTS, "effective": DEFAULTS, "capped": {}, "tree": "oracle"}


async def test_each_field_has_its_bounds_its_default_and_who_may_cap_it(start):
    service = await start(max_token_budget=20_000)
    fields = (await service.client.get(PATH)).json()["fields"]
    assert fields["token_budget"] == {
        "description": AgentConfig.model_fields["token_budget"].description,
        "default": 50_000,
        "minimum": 1_000,
        "maximum": 200_000,
        "ceiling": 20_000,
        "tree": None,
    }
    assert fields["timeout_seconds"]["ceiling"] == 600
    assert fields["max_iterations"]["tree"] == 30


async def test_a_whole_number_may_be_written_with_a_fraction_of_nothing(service):
    response = await service.client.put(
        PATH, content=b'{"max_iterations": 6.0}', headers={"Content-Type": "application/json"}
    )
    assert response.json()["max_iterations"] == 6


async def test_camel_case_is_read_and_snake_case_is_written(service):
    told = (await service.client.put(PATH, json=CAMEL)).json()
    assert [told[name] for name in DEFAULTS] == list(CAMEL.values())
    assert not set(CAMEL) & set(told)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"max_iterations": 0}, "max_iterations must be a whole number from 1 to 50, not 0"),
        ({"soft_warning_percent": 91}, "soft_warning_percent must be a whole number from 50 to 90, not 91"),
        ({"token_budget": 999}, "token_budget must be a whole number from 1,000 to 200,000, not 999"),
        ({"timeoutSeconds": "60"}, "timeout_seconds must be a whole number from 10 to 600, not '60'"),
        ({"max_parallel_tools": True}, "max_parallel_tools must be a whole number from 1 to 10, not True"),
        ({"max_iterations": 10**400}, None),
        ({"max_iterations": None}, "max_iterations must be a whole number from 1 to 50, not None"),
        ({"max_iterations": "x" * 9_000}, None),
        ({"user": "bob"}, None),
        ({"max_iterations": 5, "maxIterations": 6}, None),
        ([], None),
        (None, None),
    ],
)
@in_shared_loop
async def test_with_one_wrong_value_nothing_is_saved(shared, body, message):
    before = (await shared.client.put(PATH, json={"token_budget": 9_000})).json()
    if isinstance(body, dict):
        body = {"max_tool_calls_per_turn": 3, **body}
    response = await shared.client.put(PATH, json=body)
    assert response.status_code == 422
    assert len(response.content) < 2_000
    if message is not None:
        assert message in [mistake["msg"] for mistake in response.json()["detail"]]
    assert (await shared.client.get(PATH)).json() == before


async def test_all_wrong_values_are_reported_together(service):
    response = await service.client.put(PATH, json={"max_iterations": 0, "timeout_seconds": 1, "nope": 1})
    told = {mistake["loc"][-1] for mistake in response.json()["detail"]}
    assert told == {"max_iterations", "timeout_seconds", "nope"}


async def test_what_another_tree_allows_is_told_for_that_tree(start, tmp_path):
    text = "tree: brief\ndescription: Two.\nblackboard: {max_turns: {type: int, default: 2}}\nroot: {llm_turn: {}}\n"
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "brief.yaml").write_text(text)
    service = await start(trees_folder=tmp_path / "trees")
    await service.client.put(PATH, json={"max_iterations": 40})
    told = (await service.client.get(PATH, params={"tree": "brief"})).json()
    assert told["tree"] == "brief"
    assert told["max_iterations"] == 40
    assert told["effective"]["max_iterations"] == 2
    assert told["capped"] == {"max_iterations": {"limit": 2, "by": "tree"}}


@pytest.mark.parametrize("tree", ["nowhere", "../oracle", ""])
async def test_a_tree_that_cannot_be_asked_is_refused(service, tree):
    response = await service.client.get(PATH, params={"tree": tree})
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["query", "tree"]


async def test_without_a_tree_nothing_is_capped_by_it(start):
    service = await start(control="loop")
    told = (await service.client.put(PATH, json={"max_iterations": 40})).json()
    assert told["capped"] == {}


async def test_a_saved_value_that_no_longer_fits_counts_as_missing(service):
    kept = {"max_iterations": 5_000, "gone": 1, "token_budget": 9_000}
    await service.parts.store.settings.change("local", lambda _: kept)
    told = (await service.client.get(PATH)).json()
    assert (told["max_iterations"], told["token_budget"]) == (15, 9_000)
    assert (await service.ask()).done["termination_reason"] == "completed"
