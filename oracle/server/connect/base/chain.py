"""The digests by which a client's conversation is found again.

Rules:

- A conversation is the user's in one protocol. What names it there is the client's own name of it, or the run that is
  followed, or else the first thing that the user has said in it.
- What was said is a chain of digests, one for each text of the user's. Where the conversation has a name, only what the
  user has said is in it. Where it has none, what the client has as our answers is in it too.
- White space is compared as if it were one space: clients trim.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from oracle.core.encoding import to_json


class Said(NamedTuple):
    """Something that was said, as the client has it."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Chain:
    """Where a question stands.

    Args:
        key: of the conversation.
        is_named: the client has named the conversation, or the run that is followed.
        before: of what was said up to and with each text of the user's before the question, oldest first.
        answers: what the client has as the answer to each of them, in plain words.
        said: of all that was said, up to and with the question.
    """

    key: str
    is_named: bool
    before: tuple[str, ...]
    answers: tuple[str, ...]
    said: str


def chain_of(
    said: Sequence[Said], question: str, *, user_id: str, protocol: str, conversation: str | None, after_run: str | None
) -> Chain:
    """The chain of a question.

    Args:
        said: the client's history before it, oldest first; texts that are empty are left out.
        question: what is asked.
        user_id: who asks.
        protocol: of the client.
        conversation: the client's name of the conversation.
        after_run: the run that is followed; goes before the name.
    """
    texts = [(each.role, plain(each.text)) for each in said]
    texts = [each for each in texts if each[1]]
    if after_run is not None:
        named = ["after", after_run]
    elif conversation is not None:
        named = ["named", conversation]
    else:
        named = ["texts", next((text for role, text in texts if role == "user"), plain(question))]
    key = at = _digest([user_id, protocol, *named])
    is_named = named[0] != "texts"
    before: list[str] = []
    answers: list[list[str]] = []
    for role, text in texts:
        if role == "user":
            at = _digest([at, text])
            before.append(at)
            answers.append([])
            continue
        if answers:
            answers[-1].append(text)
        if not is_named:
            at = _digest([at, role, text])
    joined = tuple(plain(" ".join(each)) for each in answers)
    return Chain(key, is_named, tuple(before), joined, _digest([at, plain(question)]))


def plain(text: str) -> str:
    """The text with one space for all white space."""
    return " ".join(text.split())


def _digest(value: object) -> str:
    return hashlib.sha256(to_json(value)).hexdigest()
