"""What of a conversation the model sees again (decisions 8, 24).

Rules:

- An exchange is a question and its answer. Notifications and blank texts are in none. A question that got no answer has
  a stand-in that says so, because the history ends with an answer; an answer that has lost its question is left out.
- An exchange that the model declined is left out: what was refused is refused again when it is sent again, and with it
  all that follows (the provider's "Stop reasons and fallback").
- The newest exchanges are kept whole as far as they fit; from the first one that does not, all older ones are left out.
- If the newest exchange alone does not fit, it is kept all the same, shortened in the middle of its texts, with a mark
  that says how much is missing.
- Where messages are left out, one sentence before the first question says how many. Nothing is forgotten silently.
- A text of `n` characters counts as `ceil(n / 4)` tokens. What is told of missing parts counts as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bt_runtime.text import CHARACTERS_PER_TOKEN, estimate_tokens
from oracle.chunks import ErrorType
from oracle.conversations.protocol import ConversationMessage
from oracle.models.protocol import Message

LEAST_TOKENS = 100
"""With less room than this, not even a shortened exchange with its marks fits."""
NO_ANSWER = "(This question was not answered.)"
DECLINED: Final[ErrorType] = "provider_refused"


@dataclass(frozen=True, slots=True)
class History:
    """The part of a conversation that goes to the model.

    Args:
        messages: alternating, none empty; the first is the user's, the last the model's.
        omitted: how many earlier messages of user and model are left out.
        shortened: texts of the newest exchange have lost their middle.
    """

    messages: tuple[Message, ...] = ()
    omitted: int = 0
    shortened: bool = False


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A question, its answer, and how many messages of the conversation they are."""

    question: str
    answer: str
    messages: int

    @property
    def tokens(self) -> int:
        return estimate_tokens(len(self.question)) + estimate_tokens(len(self.answer))


def history_for_model(messages: Sequence[ConversationMessage], *, most_tokens: int, earlier: int = 0) -> History:
    """The messages that go to the provider, at most `most_tokens` of them.

    Args:
        messages: the conversation, oldest first.
        most_tokens: the room there is. Below `LEAST_TOKENS` nothing is kept that has to be shortened.
        earlier: how many messages of user and model there are before those.
    """
    exchanges, orphans = _exchanges(messages)
    orphans += earlier
    said = orphans + sum(each.messages for each in exchanges)
    kept = _newest_that_fit(exchanges, most_tokens)
    if len(kept) == len(exchanges) and not orphans:
        return History(_as_messages(kept))
    room = most_tokens - estimate_tokens(len(_note(said) + "\n\n"))
    kept = _newest_that_fit(exchanges, room)
    shortened = not kept and bool(exchanges) and most_tokens >= LEAST_TOKENS
    if shortened:
        lone = len(exchanges) == 1 and not orphans
        kept = [_shortened(exchanges[-1], most_tokens if lone else room)]
    omitted = said - sum(each.messages for each in kept)
    if omitted and kept:
        first = kept[0]
        kept[0] = _Exchange(f"{_note(omitted)}\n\n{first.question}", first.answer, first.messages)
    return History(_as_messages(kept), omitted, shortened)


def _exchanges(messages: Sequence[ConversationMessage]) -> tuple[list[_Exchange], int]:
    """The exchanges, oldest first, and how many answers there are before the first question."""
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
    """The exchange in the room there is: the shorter text keeps what it needs, up to half of it."""
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
