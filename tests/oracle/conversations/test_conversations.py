"""What a conversation keeps, and what of it the model sees again (decisions 8, 24)."""

from itertools import count

import pytest

from oracle.chunks import Source, SystemNotice
from oracle.classify import classify_query
from oracle.conversations import ConversationMessage, Exchange, MemoryConversations, history_for_model

NOTICE = SystemNotice("limit_warning", "Approaching.", "warning", "t1", {"current_value": 7})
CLASSIFICATION = classify_query("Where is the class RetryPolicy defined in the code?")


def exchange(question: str = "Q?", answer: str = "A.", **more: object) -> Exchange:
    return Exchange(question, answer, "t0", "t2", "completed", "run-1", **more)  # type: ignore[arg-type]


@pytest.fixture
def kept() -> MemoryConversations:
    numbers = count(1)
    return MemoryConversations(new_id=lambda: f"c{next(numbers)}")


def said(role: str, content: str) -> ConversationMessage:
    return ConversationMessage(role, content, "t")  # type: ignore[arg-type]


def test_an_exchange_is_the_question_the_notifications_and_the_answer() -> None:
    messages = exchange(sources=(Source("a.py", "code"),), notices=(NOTICE,)).messages()
    assert [(message.role, message.content, message.at) for message in messages] == [
        ("user", "Q?", "t0"),
        ("system", "Approaching.", "t1"),
        ("assistant", "A.", "t2"),
    ]
    assert messages[1].metadata["system_type"] == "limit_warning"
    assert messages[2].metadata == {
        "run_id": "run-1",
        "termination_reason": "completed",
        "sources": [{"path": "a.py", "source_type": "code"}],
    }


def test_an_exchange_without_an_answer_has_no_message_of_the_assistant() -> None:
    assert [message.role for message in exchange(answer="").messages()] == ["user"]


async def test_a_conversation_grows_by_what_is_appended(kept: MemoryConversations) -> None:
    made = await kept.create("ann", project_id="p")
    await kept.append("ann", made.context_id, exchange(classification=CLASSIFICATION, had_tool_errors=True))
    await kept.append("ann", made.context_id, exchange("Q2?", "A2."))
    found = await kept.load("ann", made.context_id)
    assert found is not None
    assert [message.content for message in found.messages] == ["Q?", "A.", "Q2?", "A2."]
    assert found.project_id == "p"
    assert found.classification == CLASSIFICATION
    assert found.had_tool_errors is False
    assert made.messages == ()


async def test_a_user_never_learns_of_another_users_conversation(kept: MemoryConversations) -> None:
    made = await kept.create("ann")
    assert await kept.load("bob", made.context_id) is None
    with pytest.raises(KeyError):
        await kept.append("bob", made.context_id, exchange())
    assert await kept.load("ann", "c99") is None


@pytest.mark.parametrize(
    ("messages", "history"),
    [
        ([], []),
        ([said("user", "Q"), said("assistant", "A")], [("user", "Q"), ("assistant", "A")]),
        ([said("user", "Q"), said("system", "S"), said("assistant", "A")], [("user", "Q"), ("assistant", "A")]),
        ([said("user", "Q"), said("user", "R"), said("assistant", "A")], [("user", "Q\n\nR"), ("assistant", "A")]),
        ([said("assistant", "A"), said("user", "Q")], [("user", "Q")]),
        ([said("user", "Q"), said("assistant", " \n"), said("user", "R")], [("user", "Q\n\nR")]),
    ],
    ids=["none", "plain", "system", "unanswered", "begins-with-an-answer", "blank"],
)
def test_decision_08_the_history_alternates_and_holds_nothing_empty(
    messages: list[ConversationMessage], history: list[tuple[str, str]]
) -> None:
    assert [(message["role"], message["content"]) for message in history_for_model(messages)] == history
