"""One run that is forgotten, and what stays of its conversation."""

import pytest

from oracle.runs.storage.errors import ConversationBusyError
from oracle.runs.storage.store import Store
from tests.oracle.agent.conversations.contract import exchange, texts_of
from tests.oracle.runs.storage.runs_made import begun, ended
from tests.oracle.runs.storage.test_conversations import rows_with


async def said(store: Store, question: str, answer: str, *, context_id: str | None = None) -> tuple[str, str]:
    """A run that has answered; its id, and its conversation."""
    record = await (ended(store) if context_id is None else ended(store, context_id=context_id))
    await store.conversations.append("ann", record.context_id, exchange(question, answer, run_id=record.id))
    return record.id, record.context_id


async def title_of(store: Store, context_id: str) -> str | None:
    page = await store.conversations.page("ann", context_id, limit=10)
    assert page is not None
    return page.summary.title


async def test_one_run_is_forgotten_with_its_question_and_its_answer(store: Store) -> None:
    first, context_id = await said(store, "Secret question?", "Secret answer.")
    second, _ = await said(store, "Another?", "Yes.", context_id=context_id)
    await store.conversations.rename("ann", context_id, "Secret question?")  # as the first question has named it
    assert await store.conversations.forget_run("ann", first) is True
    assert await texts_of(store.conversations, "ann", context_id) == ["Another?", "Yes."]
    assert await title_of(store, context_id) == "Another?"
    assert await rows_with(store, "ecret question") == ["run"]  # the other one's, which was asked the same
    assert await store.log.events(first) == []
    gone, kept = await store.runs.find(first), await store.runs.find(second)
    assert gone is not None
    assert kept is not None
    assert (gone.kept, gone.answer, gone.tokens_used) == ("gone", None, 321)
    assert kept.kept == "whole"


async def test_a_name_that_the_user_has_given_stays(store: Store) -> None:
    first, context_id = await said(store, "Q?", "A.")
    await said(store, "Another?", "Yes.", context_id=context_id)
    await store.conversations.rename("ann", context_id, "Mine")
    await store.conversations.forget_run("ann", first)
    assert await title_of(store, context_id) == "Mine"


async def test_a_conversation_in_which_nothing_is_left_goes_too(store: Store) -> None:
    first, context_id = await said(store, "Secret question?", "Secret answer.")
    assert await store.conversations.forget_run("ann", first) is True
    assert await store.conversations.load("ann", context_id) is None
    assert await rows_with(store, "ecret") == []


async def test_a_run_under_way_and_what_is_anothers_is_not_forgotten(store: Store) -> None:
    record, _ = await begun(store)
    with pytest.raises(ConversationBusyError):
        await store.conversations.forget_run("ann", record.id)
    done, context_id = await said(store, "Q?", "A.")
    assert await store.conversations.forget_run("bob", done) is False
    assert await store.conversations.forget_run("ann", "run-99") is False
    assert await texts_of(store.conversations, "ann", context_id) == ["Q?", "A."]
