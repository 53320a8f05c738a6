"""The messages of an exchange, and the contract of conversations in memory."""

from itertools import count

import pytest

from oracle.agent.conversations.memory import MemoryConversations
from oracle.core.chunks import Source
from tests.oracle.agent.conversations.contract import CONTRACT, STEP, Promise, exchange


def test_an_exchange_is_the_question_the_notifications_and_the_answer() -> None:
    messages = exchange(sources=(Source("a.py", "code"),), steps=(STEP,)).messages()
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


@pytest.mark.parametrize("promise", CONTRACT, ids=lambda promise: promise.__name__)
async def test_conversations_in_memory_fulfil_the_contract(promise: Promise) -> None:
    numbers = count(1)
    await promise(MemoryConversations(new_id=lambda: f"c{next(numbers)}"))
