"""What Open WebUI and LibreChat send: which of it is a question, and in which conversation.

The requests are those of their sources (`utils/headers.py`, `routers/tasks.py`, `config.py`; `utils/title.ts`) in the
order in which one conversation makes them; of the long prompts they have the beginning.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from oracle.testing import ScriptedTurn
from tests.oracle.server.api.conftest import ALICE, BOB, TOKENS
from tests.oracle.server.connect.openai.conftest import COMPLETIONS, chunks_of, run_count, text_of

RECORDED = Path(__file__).parents[5] / "tests" / "data" / "clients"
USERS = {"u-1": ALICE, "u-2": BOB}
TASKS = {"title", "tags", "follow_ups", "queries", "other"}
ANSWERS = [ScriptedTurn(text=f"Answer {n}.") for n in range(1, 30)]
OBJECTS = [ScriptedTurn(text='{"title": "Login"}')] * 30


def recorded(product: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((RECORDED / f"{product}.json").read_text(encoding="utf-8"))
    return rows


async def said(service: Any, row: dict[str, Any]) -> str:
    response = await service.client.post(COMPLETIONS, json=row["body"], headers=row["headers"] | USERS[row["user"]])
    assert response.status_code == 200, response.text
    if row["body"]["stream"]:
        return text_of(chunks_of(response.content))
    return response.json()["choices"][0]["message"]["content"]


async def conversations(service: Any, user: str) -> dict[str, list[str]]:
    """The texts of the user's conversations, by their names."""
    listed = (await service.client.get("/api/oracle/conversations", headers=USERS[user])).json()["conversations"]
    found = {}
    for each in listed:
        path = f"/api/oracle/conversations/{each['context_id']}"
        messages = (await service.client.get(path, headers=USERS[user])).json()["messages"]
        found[each["context_id"]] = [message["content"] for message in messages]
    return found


@pytest.mark.long("asks some thirty requests")
@pytest.mark.parametrize("product", ["open_webui", "librechat"])
async def test_questions_make_runs_and_what_the_product_asks_for_itself_makes_none(start, product):
    service = await start(ANSWERS, tokens=TOKENS, requests_per_minute=0)
    for row in recorded(product):
        before = [await run_count(service, headers=headers) for headers in USERS.values()]
        known = await conversations(service, row["user"])
        assert await said(service, row), row["name"]
        after = [await run_count(service, headers=headers) for headers in USERS.values()]
        mine = list(USERS).index(row["user"])
        made = after[mine] - before[mine]
        assert (made, after[1 - mine]) == (0 if row["makes"] in TASKS else 1, before[1 - mine]), row["name"]
        now = await conversations(service, row["user"])
        assert len(now) == len(known) if row["makes"] in TASKS else len(now) >= len(known), row["name"]
        if row["makes"] == "fork":
            assert len(now) == len(known) + 1, row["name"]
            assert {name: now[name] for name in known} == known, row["name"]
            [forked] = [texts for name, texts in now.items() if name not in known]
            assert forked[:2] == ["Where does login begin?", "Answer 1."], row["name"]
            assert forked[2] == row["body"]["messages"][-1]["content"]
            assert len(forked) == 4


@pytest.mark.parametrize("product", ["open_webui", "librechat"])
async def test_each_auxiliary_request_is_known_for_what_it_is_and_counted(start, product):
    service = await start(OBJECTS, tokens=TOKENS, requests_per_minute=0)
    for row in recorded(product):
        if row["makes"] not in TASKS:
            continue
        await said(service, row)
        [request] = service.model.requests[-1:]
        assert request.tools == ()
        assert request.thinking_tokens == 0
        figures = (await service.client.get("/metrics")).text
        assert f'oracle_auxiliary_requests_total{{outcome="answered",task="{row["makes"]}"}}' in figures, row["name"]
    assert "oracle_runs_started_total{" not in figures


async def test_users_of_one_product_never_see_each_other(start):
    service = await start(ANSWERS, tokens=TOKENS, requests_per_minute=0)
    for row in recorded("open_webui"):
        await said(service, row)
    mine, theirs = [await conversations(service, user) for user in USERS]
    assert not mine.keys() & theirs.keys()
    assert len(theirs) == 1
    asked = {text for texts in theirs.values() for text in texts}
    assert "And where does it end?" in asked
    assert not {"And who calls it?", "hello"} & asked
