"""The contract of every store of conversations; run against the one in memory and the databases."""

from collections.abc import Awaitable, Callable

import pytest

from oracle.agent.conversations.protocol import Conversations, ConversationStep, Exchange
from oracle.classify import QueryClassification, classify_query
from oracle.core.chunks import Source, SystemNotice

Promise = Callable[[Conversations], Awaitable[None]]

NOTICE = SystemNotice("limit_warning", "Approaching.", "warning", "t1", metadata={"current_value": 7})
STEP = ConversationStep("t1", NOTICE)
CLASSIFICATION = classify_query("Where is the class RetryPolicy defined in the code?")
UNSURE = QueryClassification("action", ("code", "vault"), 0.31, ("put", "ünïcödé\0"), "code")


def exchange(question: str = "Q?", answer: str = "A.", *, run_id: str = "run-1", **more: object) -> Exchange:
    return Exchange(question, answer, "t0", "t2", "completed", run_id, **more)  # type: ignore[arg-type]


async def texts_of(kept: Conversations, user_id: str, context_id: str) -> list[str]:
    found = await kept.load(user_id, context_id)
    assert found is not None
    return [message.content for message in found.messages]


async def a_new_conversation_is_empty(kept: Conversations) -> None:
    made = await kept.create("ann", project_id="p")
    assert (made.user_id, made.project_id, made.messages, made.classification) == ("ann", "p", (), None)
    assert await kept.load("ann", made.context_id) == made


async def names_differ(kept: Conversations) -> None:
    made = [await kept.create("ann") for _ in range(20)]
    assert len({each.context_id for each in made}) == 20


async def a_conversation_grows_by_what_is_appended(kept: Conversations) -> None:
    made = await kept.create("ann")
    await kept.append("ann", made.context_id, exchange(steps=(STEP,), had_tool_errors=True))
    await kept.append("ann", made.context_id, exchange("Q2?", "A2.", run_id="run-2"))
    found = await kept.load("ann", made.context_id)
    assert found is not None
    assert [(each.role, each.content) for each in found.messages] == [
        ("user", "Q?"),
        ("system", "Approaching."),
        ("assistant", "A."),
        ("user", "Q2?"),
        ("assistant", "A2."),
    ]
    assert made.messages == ()


async def messages_come_back_as_they_were(kept: Conversations) -> None:
    made = await kept.create("ann")
    given = exchange(sources=(Source("a.py", "code", line=3, score=0.5),), steps=(STEP,))
    await kept.append("ann", made.context_id, given)
    found = await kept.load("ann", made.context_id)
    assert found is not None
    assert found.messages == given.messages()


async def the_state_is_that_of_the_latest_query(kept: Conversations) -> None:
    made = await kept.create("ann")
    await kept.append("ann", made.context_id, exchange(classification=CLASSIFICATION, had_tool_errors=True))
    found = await kept.load("ann", made.context_id)
    assert found is not None
    assert (found.classification, found.had_tool_errors) == (CLASSIFICATION, True)
    await kept.append("ann", made.context_id, exchange(run_id="run-2", classification=UNSURE))
    found = await kept.load("ann", made.context_id)
    assert found is not None
    assert (found.classification, found.had_tool_errors) == (UNSURE, False)


async def a_query_without_a_classification_leaves_the_one_before(kept: Conversations) -> None:
    made = await kept.create("ann")
    await kept.append("ann", made.context_id, exchange(classification=CLASSIFICATION))
    await kept.append("ann", made.context_id, exchange(run_id="run-2"))
    found = await kept.load("ann", made.context_id)
    assert found is not None
    assert found.classification == CLASSIFICATION


async def a_querys_exchange_is_kept_once(kept: Conversations) -> None:
    made = await kept.create("ann")
    await kept.append("ann", made.context_id, exchange(had_tool_errors=True))
    await kept.append("ann", made.context_id, exchange("Q2?", "A2.", run_id="run-2"))
    await kept.append("ann", made.context_id, exchange("Other?", "Other.", had_tool_errors=True))
    found = await kept.load("ann", made.context_id)
    assert found is not None
    assert [message.content for message in found.messages] == ["Q?", "A.", "Q2?", "A2."]
    assert found.had_tool_errors is False


async def texts_that_trouble_databases_survive(kept: Conversations) -> None:
    texts = ["\0", "a\0b", "🌍 ünïcödé", "'; DROP TABLE message; --", "\ufeff\u2028\x1b[0m", "x" * 200_000]
    made = await kept.create("ann", project_id="p\0'")
    for at, text in enumerate(texts):
        await kept.append("ann", made.context_id, exchange(text, text, run_id=f"run-{at}"))
    assert await texts_of(kept, "ann", made.context_id) == [text for text in texts for _ in range(2)]


async def another_users_conversation_does_not_exist(kept: Conversations) -> None:
    made = await kept.create("ann")
    await kept.append("ann", made.context_id, exchange())
    assert await kept.load("bob", made.context_id) is None
    with pytest.raises(KeyError):
        await kept.append("bob", made.context_id, exchange(run_id="run-2"))
    assert await texts_of(kept, "ann", made.context_id) == ["Q?", "A."]


async def a_conversation_that_never_was_does_not_exist(kept: Conversations) -> None:
    assert await kept.load("ann", "c99") is None
    with pytest.raises(KeyError):
        await kept.append("ann", "c99", exchange())


CONTRACT: list[Promise] = [
    a_new_conversation_is_empty,
    names_differ,
    a_conversation_grows_by_what_is_appended,
    messages_come_back_as_they_were,
    the_state_is_that_of_the_latest_query,
    a_query_without_a_classification_leaves_the_one_before,
    a_querys_exchange_is_kept_once,
    texts_that_trouble_databases_survive,
    another_users_conversation_does_not_exist,
    a_conversation_that_never_was_does_not_exist,
]
