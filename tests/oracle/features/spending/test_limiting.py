"""Users who are limited, over HTTP: what is counted, who is refused, what a query that is under way does."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from oracle.agent.answering import Ask
from oracle.core.chunks import TokenUsage
from oracle.features.spending.meter import Spending, open_spending
from oracle.features.spending.table import KEEPING, spent_turn
from oracle.features.usage.prices import Price, Prices
from oracle.llm.protocol import ToolUse, Usage
from oracle.runs.storage import schema
from oracle.testing import ScriptedTurn
from tests.oracle.features.spending.conftest import FREE, KNOWN, TURN
from tests.oracle.server.api.conftest import ALICE, BOB, OLGA, Service

LOOKS = ScriptedTurn(
    text="Looking.", tool_calls=(ToolUse("c", "list_files", {}),), usage=Usage(100, output_tokens=20), model="m-1"
)
EXAMPLES = Path(__file__).parents[4] / "examples" / "spending"


async def rows(service: Service, table=schema.run) -> int:
    counted = select(func.count()).select_from(table)
    return await service.parts.store.database.read(lambda connection: connection.execute(counted).scalar_one())


async def tokens_of(service: Service, user: str = "alice") -> int:
    added = select(func.sum(spent_turn.c.tokens)).where(spent_turn.c.user_id == user)
    return await service.parts.store.database.read(lambda connection: connection.execute(added).scalar_one()) or 0


async def unexplained(service: Service, run_id: str) -> str:
    """Where a repetition of the run differs from its record; empty: nowhere."""
    told = (await service.client.get(f"/api/runs/{run_id}/history", headers=OLGA)).json()
    assert told["ticks"], told
    return f"{told['problem']}{told['unexplained_from'] or ''}"


async def test_who_has_spent_the_day_is_told_until_when_and_nothing_is_written(limited) -> None:
    service = await limited()
    reasons = [(await service.ask(headers=ALICE)).done["termination_reason"] for _ in range(3)]
    assert reasons == ["completed"] * 3  # the turn that reaches the limit is whole, and so is its answer
    before = await rows(service)
    refused = await service.client.post("/api/oracle", json={"question": "more?"}, headers=ALICE)
    midnight = datetime.combine(datetime.now(UTC).date() + timedelta(days=1), datetime.min.time(), UTC)
    again = midnight.isoformat().replace("+00:00", "Z")
    assert (refused.status_code, refused.json()) == (
        429,
        {"detail": f"Your limit of 300 tokens a day is reached; you can ask again from {again}."},
    )
    assert 0 < int(refused.headers["retry-after"]) <= 86_400
    assert await rows(service) == before
    assert (await service.ask(headers=BOB)).done["termination_reason"] == "completed"


async def test_a_query_that_reaches_the_limit_ends_before_its_tools_with_words_of_the_limit(limited) -> None:
    service = await limited(turns=(LOOKS,))
    streamed = await service.ask(headers=ALICE)
    assert (streamed.done["termination_reason"], streamed.done["turns"]) == ("token_budget", 3)
    text = "".join(chunk.get("content", "") for chunk in streamed.chunks if chunk["type"] == "content")
    assert "Stopped: your limit of 300 tokens a day is reached; you can ask again from 20" in text
    notices = [each for each in streamed.chunks if each.get("system_type") == "limit_reached"]
    assert [each["system_message"][:59] for each in notices] == [
        "Ended because your limit of 300 tokens a day is reached; yo"
    ]
    results = [each["tool_result"] for each in streamed.chunks if each["type"] == "tool_result"]
    assert results[-1].startswith("Not run")
    assert await unexplained(service, streamed.done["run_id"]) == ""


@pytest.mark.parametrize("control", ["tree", "loop"])
async def test_every_control_ends_by_a_limit(limited, control: str) -> None:
    service = await limited(turns=(LOOKS,), control=control)
    streamed = await service.ask(headers=ALICE)
    assert (streamed.done["termination_reason"], streamed.done["turns"]) == ("token_budget", 3)


async def test_a_tree_without_a_guard_of_tokens_ends_as_well(limited, tmp_path: Path) -> None:
    text = "tree: bare\nroot: {sequence: [classify_query, compose_prompt, {repeat: {times: 9, child: llm_turn}}]}\n"
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "bare.yaml").write_text(text, encoding="utf-8")
    service = await limited(trees_folder=tmp_path / "trees")
    streamed = await service.ask(headers=ALICE, tree="bare")
    assert (streamed.done["termination_reason"], streamed.done["turns"]) == ("token_budget", 3)


async def test_many_users_with_several_queries_go_one_turn_each_beyond_the_limit_at_most(limited) -> None:
    users = [f"user-{n}" for n in range(12)]
    service = await limited(turns=(LOOKS,))

    async def ask(user: str) -> None:
        live = await service.parts.runs.start(Ask("Where?", user_id=user))
        await live.wait()

    await asyncio.gather(*(ask(user) for user in users for _ in range(3)))
    for user in users:
        assert 300 <= await tokens_of(service, user) < 300 + 3 * 120


async def test_near_the_soft_limit_a_tree_degrades_and_its_record_says_so(limited) -> None:
    service = await limited(trees_folder=EXAMPLES)
    for _ in range(2):
        await service.ask(headers=ALICE, tree="thrifty")
    streamed = await service.ask(headers=ALICE, tree="thrifty")
    models = [request.model for request in service.model.requests]
    assert models == [None, None, "claude-haiku-4-5"]
    run_id = streamed.done["run_id"]
    first = (await service.client.get(f"/api/runs/{run_id}/ticks", headers=OLGA)).json()["ticks"][0]
    assert (first["cause"], first["causes"]) == ("start", ["spend_state"])
    assert await unexplained(service, run_id) == ""


async def test_a_plan_bounds_the_limits_of_a_query(limited) -> None:
    service = await limited("plans: {small: {bounds: {max_iterations: 2}}}\nusers: {alice: small}\n", turns=(LOOKS,))
    streamed = await service.ask(headers=ALICE, limits={"max_iterations": 9})
    assert (streamed.done["termination_reason"], streamed.done["turns"]) == ("max_iterations", 2)
    for headers, most in ((ALICE, 2), (BOB, 15)):
        told = (await service.client.get("/api/settings/agent-config", headers=headers)).json()
        assert told["effective"]["max_iterations"] == most


async def test_a_query_has_a_limit_of_its_own(limited) -> None:
    service = await limited("plans: {one: {per_query: {tokens: {hard: 200}}}}\ndefault: one\n", turns=(LOOKS,))
    for _ in range(2):
        streamed = await service.ask(headers=ALICE)
        assert (streamed.done["termination_reason"], streamed.done["turns"]) == ("token_budget", 2)


PRICE = Price(input=1_000, output=10_000, cache_creation=0, cache_read=0)
PRICES = Prices("EUR", {"m-1": PRICE, "free": Price(input=0, output=0, cache_creation=0, cache_read=0)})
MONEY = "plans: {paid: {per_day: {money: {hard: 0.5}}}}\ndefault: paid\n"


async def own(service: Service, headers=ALICE) -> dict:
    return (await service.client.get("/api/me/spending", headers=headers)).json()


async def test_money_is_counted_by_the_prices_and_a_model_without_one_as_the_dearest(limited) -> None:
    models = ("m-1", "free", "unknown", "m-1")
    turns = [ScriptedTurn(text="Yes.", usage=Usage(100, output_tokens=20), model=model) for model in models]
    service = await limited(MONEY, turns=turns, prices=PRICES)
    seen = []
    for _ in models[:3]:
        await service.ask(headers=ALICE)
        seen.append((await own(service))["limits"])
    assert [each["used"] for (each,) in seen] == [0.3, 0.3, 0.6]  # 0.1 for the input, 0.2 for the output
    assert seen[-1] == [{"unit": "money", "used": 0.6, "soft": 0.4, "hard": 0.5, "state": "over"}]
    refused = await service.client.post("/api/oracle", json={"question": "more?"}, headers=ALICE)
    assert (refused.status_code, "0.5 EUR a day" in refused.json()["detail"]) == (429, True)


async def test_what_a_query_costs_is_limited_by_its_tree_where_prices_are_known(start, tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    text = (
        "tree: dear\nroot:\n  sequence:\n    - classify_query\n    - compose_prompt\n    - loop:\n"
        "        until: termination_reason\n        guards: [{spend_budget: {money: 0.5}}]\n        child: llm_turn\n"
    )
    (tmp_path / "trees" / "dear.yaml").write_text(text, encoding="utf-8")
    given = {"trees_folder": tmp_path / "trees", "registry": KNOWN, "opens": (open_spending,)}
    service = await start((TURN,), prices=PRICES, **given)
    streamed = await service.ask(tree="dear")
    assert (streamed.done["termination_reason"], streamed.done["turns"]) == ("token_budget", 2)
    assert "Stopped: this run may cost 0.5, and has cost 0.6." in "".join(
        chunk.get("content", "") for chunk in streamed.chunks
    )
    service.parts.of(Spending).currency = ""
    refused = await service.client.post("/api/oracle", json={"question": "hello", "tree": "dear"})
    assert refused.status_code == 503


async def test_the_openai_form_of_the_refusal_is_that_of_a_quota(limited) -> None:
    service = await limited("plans: {none: {per_day: {tokens: {hard: 0}}}}\ndefault: none\n")
    body = {"model": "oracle", "messages": [{"role": "user", "content": "hello"}]}
    refused = await service.client.post("/v1/chat/completions", json=body, headers=ALICE)
    assert refused.status_code == 429
    error = refused.json()["error"]
    assert (error["type"], error["code"]) == ("insufficient_quota", "insufficient_quota")
    assert "0 tokens a day" in error["message"]
    assert refused.headers["x-should-retry"] == "false"
    assert int(refused.headers["retry-after"]) > 0


async def test_what_a_chat_product_asks_for_itself_is_counted_and_refused(limited) -> None:
    service = await limited(FREE)
    prompt = "### Task:\nGenerate a title.\n<chat_history>\nuser: hello\n</chat_history>"
    body = {"model": "oracle", "messages": [{"role": "user", "content": prompt}]}
    for status in (200, 200, 200, 429):
        answered = await service.client.post("/v1/chat/completions", json=body, headers=ALICE)
        assert answered.status_code == status, answered.text
    assert await tokens_of(service) == 360


async def test_a_turn_that_is_counted_twice_counts_once(limited) -> None:
    service = await limited()
    spending = service.parts.of(Spending)
    for _ in range(2):
        await service.parts.store.write(spending.counting("alice", "r", "llm_turn@1", "m-1", TokenUsage(10)))
    assert await tokens_of(service) == 10


async def test_forgetting_a_conversation_gives_nothing_back(limited) -> None:
    service = await limited()
    streamed = await service.ask(headers=ALICE)
    path = f"/api/oracle/conversations/{streamed.done['context_id']}"
    assert (await service.client.delete(path, headers=ALICE)).status_code < 300
    assert await tokens_of(service) == 120


async def test_old_turns_are_tidied_away(limited) -> None:
    service = await limited()
    await service.ask(headers=ALICE)
    now = service.parts.store.database.now()
    await service.parts.store.write(lambda connection: KEEPING.tidy(connection, now))
    assert await tokens_of(service) == 120
    await service.parts.store.write(lambda connection: KEEPING.tidy(connection, now + 8 * 86_400))
    assert await tokens_of(service) == 0


NONE = "plans: {none: {per_day: {tokens: {hard: 0}}}}\ndefault: none\n"
AGUI = {"threadId": "t", "runId": "r", "messages": [{"id": "1", "role": "user", "content": "hello"}]}


async def test_other_protocols_refuse_in_their_own_form(limited) -> None:
    service = await limited(NONE)
    message = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "hello"}]}
    body = {"id": "c", "messages": [message], "trigger": "submit-message"}
    chat = await service.client.post("/api/chat", json=body, headers=ALICE)
    given = AGUI | {"tools": [], "context": [], "state": {}, "forwardedProps": {}}
    agui = await service.client.post("/agui", json=given, headers=ALICE)
    for answer, words in ((chat, chat.text), (agui, agui.json()["message"])):
        assert answer.status_code == 429, answer.text
        assert words.startswith("Your limit of 0 tokens a day is reached; you can ask again from 20")
        assert int(answer.headers["retry-after"]) > 0
    assert await rows(service) == 0


async def test_a_run_that_goes_on_where_the_day_is_spent_meanwhile_asks_the_model_nothing(limited) -> None:
    service = await limited(turns=(LOOKS,))
    parts = service.parts
    spending = parts.of(Spending)
    real = spending.admit

    async def admit_late(checked):
        admitted = await real(checked)  # and then another of the user's questions spends the day
        await parts.store.write(spending.counting("alice", "other", "llm_turn@1", "m-1", TokenUsage(300)))
        return admitted

    parts.runs.meter = Late(spending, admit_late)
    streamed = await service.ask(headers=ALICE)
    assert (streamed.done["termination_reason"], streamed.done["turns"]) == ("token_budget", 0)
    assert service.model.requests == []


class Late:
    """A meter that lets a question in before the day is spent."""

    def __init__(self, spending: Spending, admit) -> None:
        self.admit = admit
        self.open = spending.open
