"""What chat products ask for themselves: answered by one plain call, or by what is known, and bounded."""

import json
from dataclasses import replace

import pytest

from oracle.features.usage.prices import Price, Prices
from oracle.llm.protocol import ModelFault, Usage
from oracle.runs.storage.errors import StoreUnavailableError
from oracle.server.connect.base.auxiliary import auxiliary_of
from oracle.testing import ScriptedTurn
from tests.oracle.server.api.conftest import ALICE, BOB, TOKENS
from tests.oracle.server.connect.openai.conftest import chunks_of, post, run_count, text_of, user

TITLE = (
    '### Task:\nGenerate a concise title summarizing the chat history.\n{ "title": "x" }\n'
    "<chat_history>\nUSER: Where does login begin?\n</chat_history>"
)
PLAIN = (
    "Provide a concise, 5-word-or-less title for the conversation\n\n"
    "Conversation:\nUser: Where does login begin?\nAI: There."
)
SAID = ScriptedTurn(text='{"title": "Login"}', usage=Usage(input_tokens=90, output_tokens=8))


@pytest.fixture
def database_url():
    return None


async def test_a_title_is_one_plain_call_of_the_model(start):
    service = await start([SAID])
    response = await post(service, user(TITLE))
    whole = response.json()
    assert whole["choices"][0]["message"]["content"] == '{"title": "Login"}'
    assert whole["usage"]["total_tokens"] == 98
    [request] = service.model.requests
    assert TITLE in request.messages[0]["content"]
    assert (request.tools, request.thinking_tokens, request.web_search) == ((), 0, False)
    assert await run_count(service) == 0
    assert (await service.client.get("/api/oracle/conversations")).json()["conversations"] == []
    figures = (await service.client.get("/metrics")).text
    assert "oracle_auxiliary_tokens_total 98.0" in figures


async def test_what_it_used_is_in_the_users_usage_and_in_no_list_of_runs(start):
    said = replace(SAID, model="claude-small")
    failed = ScriptedTurn(fault=ModelFault("provider_overloaded", "Too busy."))
    service = await start(
        [said, failed],
        tokens=TOKENS,
        prices=Prices("EUR", {"claude-*": Price(input=1.0, output=5.0, cache_creation=2.0, cache_read=0.5)}),
    )
    for _ in range(2):
        await post(service, user(TITLE), headers=ALICE)
    report = (await service.client.get("/api/usage", headers=ALICE)).json()
    (row,) = report["rows"]
    assert (row["user_id"], row["model"], row["runs"], row["turns"]) == ("alice", "claude-small", 0, 0)
    assert (row["auxiliary_requests"], row["tokens_used"], row["input_tokens"], row["output_tokens"]) == (1, 98, 90, 8)
    assert row["cost"] == report["totals"]["cost"] == pytest.approx(0.00013)
    assert report["totals"]["auxiliary_requests"] == 1
    table = (await service.client.get("/api/usage?format=csv", headers=ALICE)).text.splitlines()
    assert dict(zip(table[0].split(","), table[1].split(","), strict=True))["auxiliary_requests"] == "1"
    assert (await service.client.get("/api/usage", headers=BOB)).json()["rows"] == []
    assert (await service.client.get("/api/runs", headers=ALICE)).json()["runs"] == []


async def test_it_is_answered_although_it_cannot_be_counted(start, monkeypatch):
    service = await start([SAID])

    async def unwritable(*_, **__):
        raise StoreUnavailableError("no database")

    monkeypatch.setattr(service.parts.store.usage, "add_auxiliary", unwritable)
    assert (await post(service, user(TITLE))).status_code == 200


async def test_it_can_be_streamed(start):
    service = await start([SAID])
    response = await post(service, user(TITLE), stream=True, stream_options={"include_usage": True})
    chunks = chunks_of(response.content)
    assert text_of(chunks) == '{"title": "Login"}'
    assert chunks[-1]["usage"]["total_tokens"] == 98


async def test_another_model_may_answer_it(start):
    service = await start([SAID], auxiliary_model="claude-small")
    await post(service, user(TITLE))
    assert service.model.requests[0].model == "claude-small"


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (TITLE, '{"title":"Where does login begin?"}'),
        (PLAIN, "Where does login begin?"),
        (TITLE.replace('"title"', '"tags"'), '{"tags":[]}'),
        (TITLE.replace('"title"', '"follow_ups"'), '{"follow_ups":[]}'),
        (TITLE.replace('"title"', '"queries"'), '{"queries":[]}'),
        (TITLE.replace('"title"', '"text"'), "{}"),
    ],
)
@pytest.mark.parametrize("options", [{"auxiliary": "known"}, {"provider_answers": False}], ids=str)
async def test_what_is_known_needs_no_model(start, prompt, said, options):
    service = await start([SAID], **options)
    response = await post(service, user(prompt))
    assert response.json()["choices"][0]["message"]["content"] == said
    assert service.model.requests == []


@pytest.mark.parametrize(
    ("prompt", "said", "answered"),
    [
        (TITLE, '```json\n{"title": "Login"}\n```', '{"title": "Login"}'),
        (TITLE, 'Here it is: {"title": "{x}"}. Anything else?', '{"title": "{x}"}'),
        (TITLE, "Login", '{"title":"Where does login begin?"}'),
        (TITLE, '{"title": "Log', '{"title":"Where does login begin?"}'),
        (TITLE, '["Login"]', '{"title":"Where does login begin?"}'),
        (TITLE.replace('"title"', '"tags"'), "", '{"tags":[]}'),
        (f"### Task:\nName this.\n{TITLE.partition('}')[2]}", "Login", "Login"),
        (PLAIN, "Login {", "Login {"),
    ],
)
async def test_where_a_product_wants_json_it_gets_an_object(start, prompt, said, answered):
    """That of the model's answer, or else what is known; a text where the prompt names no form of an object."""
    service = await start([replace(SAID, text=said)])
    whole = (await post(service, user(prompt))).json()
    assert whole["choices"][0]["message"]["content"] == answered
    assert whole["usage"]["total_tokens"] == 98
    figures = (await service.client.get("/metrics")).text
    outcome = "answered" if answered in said else "known"
    assert f'oracle_auxiliary_requests_total{{outcome="{outcome}"' in figures


async def test_a_response_format_wants_an_object_too(start):
    service = await start([replace(SAID, text="Login")])
    response = await post(service, user(PLAIN), response_format={"type": "json_object"})
    assert response.json()["choices"][0]["message"]["content"] == '{"title":"Where does login begin?"}'


async def test_a_prompt_that_is_too_long_is_cut_in_its_middle(start):
    service = await start([SAID])
    long = TITLE.replace("begin?", "begin" + "x" * 1_000_000)
    assert (await post(service, user(long))).status_code == 200
    sent = service.model.requests[0].messages[0]["content"]
    assert len(sent) < 25_000
    assert sent.startswith("### Task:")
    assert sent.endswith("</chat_history>")
    assert service.model.requests[0].max_tokens <= 1_000


async def test_a_provider_that_fails_is_an_error_and_no_answer(start):
    service = await start([ScriptedTurn(fault=ModelFault("provider_overloaded", "Too busy."))])
    response = await post(service, user(TITLE))
    assert response.status_code == 503
    assert response.json()["error"]["message"] == "Too busy."
    assert response.headers["x-should-retry"] == "false"
    figures = (await service.client.get("/metrics")).text
    assert 'oracle_auxiliary_requests_total{outcome="failed",task="title"} 1.0' in figures


async def test_they_are_rate_limited_like_all_requests(start):
    service = await start([SAID], requests_per_minute=1)
    assert (await post(service, user(TITLE))).status_code == 200
    refused = await post(service, user(TITLE))
    assert refused.status_code == 429
    assert refused.json()["error"]["type"] == "rate_limit_error"
    assert int(refused.headers["retry-after"]) > 0


async def test_a_model_that_may_not_be_named_may_not_be_named_here_either(start):
    service = await start([SAID])
    assert (await post(service, user(TITLE), model="gpt-4o")).status_code == 404


@pytest.mark.parametrize(
    ("named", "task"),
    [
        ("title_generation", "title"),
        ("tags_generation", "tags"),
        ("follow_up_generation", "follow_ups"),
        ("query_generation", "queries"),
        ("emoji_generation", "other"),
        ("whatever", "other"),
    ],
)
def test_the_header_says_it_whatever_the_words_are(named, task):
    found = auxiliary_of(named, ["Name this."])
    assert found is not None
    assert found.task == task


@pytest.mark.parametrize("named", [None, ""])
@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "### Task:\nAdd two numbers.",
        "What is <chat_history>?",
        "Give me a title.",
        " ",
        json.dumps({"title": "x"}),
    ],
)
def test_what_a_user_writes_is_a_question(named, text):
    assert auxiliary_of(named, [text]) is None
