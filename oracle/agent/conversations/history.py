"""The part of a conversation that is sent to the model again.

Rules:

- An exchange is a question and its answer, without notifications and blank texts. A question without an answer gets a
  placeholder, because the history must end with an answer; an answer without its question is left out.
- An exchange that the model declined is left out: sent again it would be refused again, with everything after it (the
  provider's "Stop reasons and fallback").
- The newest exchanges are kept whole as far as they fit; the first that does not fit is left out with all older ones.
- If even the newest exchange does not fit, it is kept and its texts are shortened in the middle, with a mark that says
  how much is missing.
- If messages are left out, a sentence before the first question says how many.
- A text of `n` characters counts as `ceil(n / 4)` tokens; so do the marks and that sentence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bt_runtime.text import CHARACTERS_PER_TOKEN, estimate_tokens
from oracle.agent.conversations.protocol import ConversationMessage
from oracle.core.chunks import ErrorType
from oracle.llm.protocol import Message

LEAST_TOKENS = 100
"""With less room than this, not even a shortened exchange and its marks fit."""
NO_ANSWER = "(This question was not answered.)"
DECLINED: Final[ErrorType] = "provider_refused"


@dataclass(frozen=True, slots=True)
class ModelHistory:
    """The part of a conversation that goes to the model.

    Args:
        messages: alternating, none empty; the first is the user's, the last the model's.
        omitted: number of earlier messages of user and model that are left out.
        shortened: whether the texts of the newest exchange were shortened in the middle.
    """

    messages: tuple[Message, ...] = ()
    omitted: int = 0
    shortened: bool = False


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A question, its answer, and the number of messages of the conversation that they stand for."""

    question: str
    answer: str
    messages: int

    @property
    def tokens(self) -> int:
        return estimate_tokens(len(self.question)) + estimate_tokens(len(self.answer))


def history_for_model(messages: Sequence[ConversationMessage], *, most_tokens: int, earlier: int = 0) -> ModelHistory:
    """The messages that go to the provider, of at most `most_tokens` tokens.

    Args:
        messages: the conversation, oldest first.
        most_tokens: the room for them. Below `LEAST_TOKENS` an exchange that would have to be shortened is left out.
        earlier: number of messages of user and model before those.
    """
    exchanges, orphans = _exchanges(messages)
    orphans += earlier
    total = orphans + sum(each.messages for each in exchanges)
    kept = _newest_that_fit(exchanges, most_tokens)
    if len(kept) == len(exchanges) and not orphans:
        return ModelHistory(_as_messages(kept))
    room = most_tokens - estimate_tokens(len(_note(total) + "\n\n"))
    kept = _newest_that_fit(exchanges, room)
    shortened = not kept and bool(exchanges) and most_tokens >= LEAST_TOKENS
    if shortened:
        lone = len(exchanges) == 1 and not orphans
        kept = [_shortened(exchanges[-1], most_tokens if lone else room)]
    omitted = total - sum(each.messages for each in kept)
    if omitted and kept:
        first = kept[0]
        kept[0] = _Exchange(f"{_note(omitted)}\n\n{first.question}", first.answer, first.messages)
    return ModelHistory(_as_messages(kept), omitted, shortened)


def _exchanges(messages: Sequence[ConversationMessage]) -> tuple[list[_Exchange], int]:
    """The exchanges, oldest first, and the number of answers before the first question."""
    questions: list[tuple[str, list[ConversationMessage]]] = []
    orphans = 0
    for message in messages:
        if message.role == "system" or not message.content.strip():
            continue
        if message.role == "user":
            questions.append((message.content, []))
        elif questions:
            questions[-1][1].append(message)
        else:
            orphans += 1
    found = [_exchange(question, answers) for question, answers in questions if not _is_declined(answers)]
    return found, orphans


def _exchange(question: str, answers: Sequence[ConversationMessage]) -> _Exchange:
    answer = "\n\n".join(each.content for each in answers)
    return _Exchange(question, answer or NO_ANSWER, 1 + len(answers))


def _is_declined(answers: Sequence[ConversationMessage]) -> bool:
    return any(each.metadata.get("error_type") == DECLINED for each in answers)


def _newest_that_fit(exchanges: Sequence[_Exchange], room_tokens: int) -> list[_Exchange]:
    kept: list[_Exchange] = []
    for exchange in reversed(exchanges):
        room_tokens -= exchange.tokens
        if room_tokens < 0:
            break
        kept.append(exchange)
    return kept[::-1]


def _shortened(exchange: _Exchange, room_tokens: int) -> _Exchange:
    """The exchange cut to the room: the shorter text keeps what it needs, up to half of the room."""
    half = room_tokens // 2
    asked, answered = estimate_tokens(len(exchange.question)), estimate_tokens(len(exchange.answer))
    for_question = max(half, room_tokens - answered)
    for_answer = max(half, room_tokens - asked)
    return _Exchange(
        _without_middle(exchange.question, for_question * CHARACTERS_PER_TOKEN),
        _without_middle(exchange.answer, for_answer * CHARACTERS_PER_TOKEN),
        exchange.messages,
    )


def _without_middle(text: str, most_chars: int) -> str:
    if len(text) <= most_chars:
        return text
    kept = max(0, most_chars - len(_mark(len(text))))
    tail = kept // 2
    return text[: kept - tail] + _mark(len(text) - kept) + text[len(text) - tail :]


def _mark(missing_chars: int) -> str:
    return f"\n\n[... {missing_chars:,} characters are left out here ...]\n\n"


def _note(omitted: int) -> str:
    if omitted == 1:
        return "[1 earlier message of this conversation is left out here.]"
    return f"[{omitted:,} earlier messages of this conversation are left out here.]"


def _as_messages(exchanges: Sequence[_Exchange]) -> tuple[Message, ...]:
    return tuple(
        message
        for exchange in exchanges
        for message in (
            {"role": "user", "content": exchange.question},
            {"role": "assistant", "content": exchange.answer},
        )
    )
