"""`recall` finds what was said in the conversation of its query, and nothing else."""

from typing import Any

import pytest

from bt_runtime.text import iso
from oracle.agent.conversations.protocol import Exchange
from oracle.agent.equipment import Hooks
from oracle.features.long_conversations.compacting import Compact
from oracle.features.long_conversations.reading import Sayings
from oracle.features.long_conversations.recalling import NAME, recall
from oracle.runs.storage.store import Store, open_store
from tests.acceptance.harness import answers, calls, says
from tests.oracle.agent.nodes.running import tree_of
from tests.oracle.features.long_conversations.test_compact import LONG, TREE
from tests.oracle.runs.running import managed

OFFERED = tree_of("""
    - offer_tools: [recall]
    - llm_turn:
    - run_tools:
    - llm_turn:
""")
SAID = {
    "My cat is called Grimalkin. What is a good diet for her?": "Meat, mostly.",
    "Wie heißt die Hauptstadt? Größenwahn!": "Wien.",
    "And a dog?": "Bones, and the odd biscuit. " * 2_000,
}


async def begun(store: Store, user_id: str = "local") -> str:
    context_id = (await store.conversations.create(user_id)).context_id
    for number, (question, answer) in enumerate(SAID.items(), start=1):
        exchange = Exchange(question, answer, iso(0), iso(0), "completed", f"{user_id}-{number}")
        await store.conversations.append(user_id, context_id, exchange)
    return context_id


async def recalled(url: str, *, stored: bool = True, other: bool = False, **arguments: Any) -> dict[str, Any]:
    """The result of a call in a conversation of `local`; with `other`, another user has one that says more."""
    turns = [says("Looking.", calls("recall", **arguments)), answers()]
    async with open_store(url, worker="w1") as store:
        context_id = await begun(store, "bob" if other else "local")
        given = {NAME: Sayings(store.database)} if stored else {}
        async with managed(store, turns, tools=[recall], hooks=Hooks(parts=given)) as it:
            it.harness.write_tree("sample", OFFERED)
            told = await it.ask("hello", tree="sample", context_id=None if other else context_id)
    (result,) = [chunk for chunk in told.chunks if chunk["type"] == "tool_result"]
    return result


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (
            {"query": "What was the name of the cat?"},
            "Exchange 1, the user, 1970-01-01T00:00:\nMy cat is called Grimalkin.",
        ),
        ({"query": "größenwahn"}, "Exchange 2, the user"),
        ({"query": "biscuits"}, "Exchange 3, your answer"),
        ({"query": "é" * 30_000}, "Nothing that was said in this conversation matches 'ééé"),
        ({"exchange": 2}, "Exchange 2 of 3\n\nthe user, 1970-01-01T00:00:\nWie heißt"),
        ({"exchange": 3}, "characters are left out"),
    ],
    ids=["words", "umlauts", "other-form", "endless-word", "exchange", "long-exchange"],
)
async def test_it_finds_what_was_said(url: str, arguments: dict[str, Any], found: str) -> None:
    result = await recalled(url, **arguments)
    assert found in result["tool_result"]
    assert not result["is_error"]
    assert len(result["tool_result"]) < 32_000


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"exchange": 4}, "exchange 4 has not been: this conversation has 3"),
        ({}, "give query, words to search for, or exchange"),
        ({"query": "%_\\'\""}, "has no word to search for"),
    ],
    ids=["too-high", "neither", "no-words"],
)
async def test_what_cannot_be_found_is_an_error_that_says_what_would_be_right(
    url: str, arguments: dict[str, Any], told: str
) -> None:
    result = await recalled(url, **arguments)
    assert told in result["tool_result"]
    assert result["is_error"]


async def test_another_users_conversation_does_not_exist(url: str) -> None:
    assert "Nothing that was said" in (await recalled(url, other=True, query="Grimalkin"))["tool_result"]
    assert "Nothing was said" in (await recalled(url, other=True, exchange=1))["tool_result"]


async def test_without_a_store_nothing_was_said(url: str) -> None:
    assert "Nothing was said" in (await recalled(url, stored=False, query="Grimalkin"))["tool_result"]


async def test_compact_offers_it_where_the_model_does_not_have_everything(url: str) -> None:
    async with open_store(url, worker="w1") as store:
        turns = [answers("Short."), answers("Facts."), answers("Red."), answers("Red.")]
        async with managed(store, turns, tools=[recall], kinds=[Compact.kind]) as it:
            it.harness.write_tree("sample", TREE)
            told = await it.ask(tree="sample")
            context_id = told.record.context_id
            for number, answer in enumerate(LONG):
                exchange = Exchange("And?", answer, iso(0), iso(0), "completed", f"earlier-{number}")
                await store.conversations.append("local", context_id, exchange)
            for _ in range(2):
                await it.ask(tree="sample", context_id=context_id)
            assert it.harness.scripted is not None
            offered = [[each.name for each in request.tools] for request in it.harness.scripted.requests]
    assert ["recall" in names for names in offered] == [False, True, True, True]
    assert offered[1] == offered[2]


@pytest.mark.long("PostgreSQL")
async def test_postgresql_finds_the_same(postgresql_url: str) -> None:
    assert "Grimalkin" in (await recalled(postgresql_url, query="What was the name of the cat?"))["tool_result"]
