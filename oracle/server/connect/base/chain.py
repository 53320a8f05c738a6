"""A client's question, the bound of its body, and the digests by which its conversation is found again.

Rules:

- A conversation is the user's in one protocol. What names it there is the client's own name of it, or the run that is
  followed, or else the first thing that the user has said in it.
- What was said is a chain of digests, one for each text of the user's. Where the conversation has a name, only what the
  user has said is in it. Where it has none, what the client has as our answers is in it too.
- White space is compared as if it were one space: clients trim.
- A body has the client's whole history, of unknown size, so little more than the question is read.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, FailFast, model_validator

from bt_runtime.text.data import dataclass
from oracle.core.encoding import to_json
from oracle.core.errors import UserError
from oracle.tools.client_tools import ClientTools

MOST_ITEMS: Final = 20_000
"""Of each list of a body, such as its messages."""
MOST_VALUES: Final = 200_000
"""In a whole body, on all levels."""

_T = TypeVar("_T")

Items = Annotated[list[_T], FailFast()]
"""A list of which the first wrong item refuses the whole: of each mistake the checker keeps a copy."""


class ClientBody(BaseModel, strict=True):
    """A body that is counted before its fields are looked at."""

    @model_validator(mode="before")
    @classmethod
    def _count(cls, given: object) -> object:
        check_amount(given)
        return given


def check_amount(body: object, *, most_values: int = MOST_VALUES) -> None:
    """Refuse a body that has too many values, whatever they are.

    Raises:
        UserError: it has.
    """
    for name, items in body.items() if isinstance(body, dict) else ():
        if isinstance(items, list) and len(items) > MOST_ITEMS:
            problem = f"this may have at most {MOST_ITEMS:,} items, given {len(items):,}: send less of the history"
            raise UserError(problem, loc=("body", name))
    count = 0
    rest = [body]
    while rest:
        each = rest.pop()
        inner = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        count += len(inner)
        if count > most_values:
            problem = f"the body has more than {most_values:,} values, the most that are read"
            raise UserError(problem, loc=("body",))
        rest += [value for value in inner if isinstance(value, dict | list)]


class Said(NamedTuple):
    """Something that was said, as the client has it."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class ClientQuestion:
    """A question as any client's protocol has it.

    Args:
        question: the text of the user's last message.
        said: the client's history before it, oldest first, without what the adapter has put into answers.
        conversation: the client's own name of the conversation, opaque.
        after_run: a run of ours that this follows, and all before it.
        tree: the control; `None`: the default one.
        model: the provider's model; `None`: the configured one.
        limits: `AgentConfig` fields for this question.
        tools: those that the client runs.
        of_features: by the names of the service's own fields, what features read (`oracle.server.api.fields`).
        metadata: kept with the run (`input["metadata"]`), at most 16 names of 64 characters with texts of 512.
        instructions: what the client's system messages say; ignored.
        is_detached: its run needs no reader.
        is_repeat: the client's library has sent the request before, and its answer was lost.
        is_forked: the last question is asked anew; only where the history is not whole this has to be said.
        is_whole: the history is all that the client shows of the conversation; `False`: its last question alone comes,
            and a conversation with a name goes on where it is.
    """

    question: str
    said: tuple[Said, ...] = ()
    conversation: str | None = None
    after_run: str | None = None
    tree: str | None = None
    model: str | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    tools: ClientTools = field(default_factory=ClientTools)
    of_features: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    instructions: str | None = None
    is_detached: bool = False
    is_repeat: bool = False
    is_forked: bool = False
    is_whole: bool = True


class Chain(NamedTuple):
    """Where a question stands.

    Args:
        key: the digest that names the conversation.
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


def chain_of(asked: ClientQuestion, *, user_id: str, protocol: str) -> Chain:
    """The chain of a question; texts of its history that are empty are left out.

    Args:
        asked: the question.
        user_id: the user; chains of different users never meet.
        protocol: the name of the adapter.
    """
    question, texts = plain(asked.question), [(each.role, plain(each.text)) for each in asked.said]
    texts = [each for each in texts if each[1]]
    if asked.after_run is not None:
        named = ["after", asked.after_run]
    elif asked.conversation is not None:
        named = ["named", asked.conversation]
    else:
        named = ["texts", next((text for role, text in texts if role == "user"), question)]
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
    return Chain(key, is_named, tuple(before), joined, _digest([at, question]))


def plain(text: str) -> str:
    """The text with one space for all white space."""
    return " ".join(text.split())


def _digest(value: object) -> str:
    return hashlib.sha256(to_json(value)).hexdigest()
