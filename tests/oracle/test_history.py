"""The history for the model is well-formed and fits its room, and what is left out is counted."""

import re
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.agent.conversations.protocol import ConversationMessage, ModelHistory
from oracle.history import DECLINED, LEAST_TOKENS, NO_ANSWER, history_for_model

PLENTY = 100_000


def message(role: str, content: str) -> ConversationMessage:
    return ConversationMessage(role, content, "t")  # type: ignore[arg-type]


def exchanges(*texts: tuple[str, str]) -> list[ConversationMessage]:
    return [message(role, text) for pair in texts for role, text in zip(("user", "assistant"), pair, strict=True)]


def pairs(history: ModelHistory) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in history.messages]


def tokens(history: ModelHistory) -> int:
    return sum(-(-len(message["content"]) // 4) for message in history.messages)


@pytest.mark.parametrize(
    ("messages", "history"),
    [
        ([], []),
        ([message("user", "Q"), message("assistant", "A")], [("user", "Q"), ("assistant", "A")]),
        (
            [message("user", "Q"), message("system", "S"), message("assistant", "A")],
            [("user", "Q"), ("assistant", "A")],
        ),
        ([message("user", "Q")], [("user", "Q"), ("assistant", NO_ANSWER)]),
        (
            [message("user", "Q"), message("assistant", " \n"), message("user", "R"), message("assistant", "A")],
            [("user", "Q"), ("assistant", NO_ANSWER), ("user", "R"), ("assistant", "A")],
        ),
        (
            [message("user", "Q"), message("assistant", "A"), message("assistant", "B")],
            [("user", "Q"), ("assistant", "A\n\nB")],
        ),
        ([message("system", "S"), message("user", "\t")], []),
    ],
    ids=["none", "plain", "notification", "unanswered", "blank", "two-answers", "no-text"],
)
def test_decision_08_the_history_alternates_and_ends_with_an_answer(
    messages: list[ConversationMessage], history: list[tuple[str, str]]
) -> None:
    found = history_for_model(messages, most_tokens=PLENTY)
    assert (pairs(found), found.omitted, found.shortened) == (history, 0, False)


def test_the_oldest_exchanges_are_left_out_with_a_note_of_their_number() -> None:
    messages = exchanges(*((f"Q{at}" + "q" * 398, f"A{at}" + "a" * 398) for at in range(5)))
    found = history_for_model(messages, most_tokens=430)
    assert [content[:2] for _, content in pairs(found)[1:]] == ["A3", "Q4", "A4"]
    assert pairs(found)[0][1].startswith("[6 earlier messages of this conversation are left out here.]\n\nQ3")
    assert (found.omitted, found.shortened) == (6, False)


def test_a_short_exchange_before_a_long_one_is_left_out_too() -> None:
    messages = exchanges(("Hi", "Hello"), ("Q" * 4_000, "A" * 4_000), ("Q2", "A2"))
    found = history_for_model(messages, most_tokens=500)
    assert [content for _, content in pairs(found)][1:] == ["A2"]
    assert found.omitted == 4


def test_a_conversation_that_fits_exactly_is_whole() -> None:
    messages = exchanges(("Q" * 400, "A" * 400), ("Q" * 400, "A" * 400))
    assert history_for_model(messages, most_tokens=400).omitted == 0
    assert history_for_model(messages, most_tokens=399).omitted == 2


def test_an_exchange_that_alone_is_too_long_loses_the_middle_of_its_longer_text() -> None:
    answer = "".join(f"{number:05}" for number in range(4_000))
    found = history_for_model(exchanges(("Short?", answer)), most_tokens=1_000)
    (_, question), (_, shortened) = pairs(found)
    assert question == "Short?"
    assert shortened.startswith("0000000001")
    assert shortened.endswith("0399803999")
    (mark,) = re.findall(r"\n\n\[\.\.\. ([\d,]+) characters are left out here \.\.\.\]\n\n", shortened)
    head, tail = re.split(r"\n\n\[.*\]\n\n", shortened)
    assert len(head) + len(tail) + int(mark.replace(",", "")) == len(answer)
    assert (found.omitted, found.shortened) == (0, True)
    assert 990 <= tokens(found) <= 1_000


def test_a_long_newest_exchange_is_shortened_and_older_ones_are_counted() -> None:
    found = history_for_model(exchanges(("Q1", "A1"), ("Q" * 8_000, "A" * 8_000)), most_tokens=1_000)
    assert (found.omitted, found.shortened) == (2, True)
    (_, question), (_, answer) = pairs(found)
    assert question.startswith("[2 earlier messages of this conversation are left out here.]\n\nQQ")
    assert abs(len(question) - len(answer)) < 100


def test_an_answer_without_its_question_is_left_out_and_counted() -> None:
    found = history_for_model([message("assistant", "A0"), *exchanges(("Q", "A"))], most_tokens=PLENTY)
    note = "[1 earlier message of this conversation is left out here.]"
    assert (pairs(found), found.omitted) == ([("user", f"{note}\n\nQ"), ("assistant", "A")], 1)


def test_without_any_room_everything_counts_as_left_out() -> None:
    found = history_for_model(exchanges(("Q" * 500, "A" * 500)), most_tokens=10)
    assert found == ModelHistory((), 2, shortened=False)


roles: st.SearchStrategy[Literal["user", "assistant", "system"]] = st.sampled_from(["user", "assistant", "system"])
texts = st.one_of(
    st.text(max_size=20), st.builds(lambda text, times: text * times, st.text(min_size=1), st.integers(0, 900))
)
conversations = st.lists(st.builds(message, roles, texts), max_size=12)
rooms = st.integers(LEAST_TOKENS, 3_000)


@given(conversations, rooms)
def test_decision_08_any_conversation_in_any_room_is_well_formed_and_fits(messages, most_tokens):
    found = history_for_model(messages, most_tokens=most_tokens)
    assert [message["role"] for message in found.messages] == ["user", "assistant"] * (len(found.messages) // 2)
    assert all(message["content"].strip() for message in found.messages)
    assert tokens(found) <= most_tokens


@given(conversations, rooms)
def test_decision_24_only_notifications_are_left_out_without_a_note(messages, most_tokens):
    found = history_for_model(messages, most_tokens=most_tokens)
    given_texts = [each.content for each in messages if each.role != "system" and each.content.strip()]
    sent = "".join(f"{content}\n" for _, content in pairs(found))
    if found.omitted and found.messages:
        assert re.match(rf"\[{found.omitted:,} earlier messages? of", sent)
    if not found.shortened:
        assert all(text in sent for text in given_texts[found.omitted :])
    assert 0 <= found.omitted <= len(given_texts)


@given(conversations, rooms)
def test_the_newest_question_is_always_included(messages, most_tokens):
    questions = [each.content for each in messages if each.role == "user" and each.content.strip()]
    found = history_for_model(messages, most_tokens=most_tokens)
    assert bool(found.messages) is bool(questions)
    if questions and not found.shortened:
        assert questions[-1] in found.messages[-2]["content"]


def test_an_exchange_that_the_model_declined_is_left_out_without_a_note() -> None:
    declined = ConversationMessage("assistant", "Stopped: declined.", "t", {"error_type": DECLINED})
    failed = ConversationMessage("assistant", "Stopped: busy.", "t", {"error_type": "provider_overloaded"})
    messages = [*exchanges(("Q1", "A1")), message("user", "Q2"), declined, message("user", "Q3"), failed]
    history = history_for_model(messages, most_tokens=PLENTY)
    assert pairs(history) == [("user", "Q1"), ("assistant", "A1"), ("user", "Q3"), ("assistant", "Stopped: busy.")]
    assert (history.omitted, history.shortened) == (0, False)
    assert history_for_model([message("user", "Q"), declined], most_tokens=PLENTY) == ModelHistory()
