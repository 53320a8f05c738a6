"""What a request for a chat completion says, read from a body of which nothing is certain.

Rules:

- Parameters without a meaning for trees (`temperature`, `stop`, `tools`, ...), and those that nobody knows, are
  accepted: clients send them by themselves, and cannot all leave them out. Each name is in the log once.
- What would change the meaning of the answer (two of them, a schema, sound) is refused.
- Roles may come in any order, and texts may be missing; only that the last one is the user's is required.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from oracle.core.encoding import to_json
from oracle.server.api.errors import bounded
from oracle.server.connect.base.chain import Said
from oracle.server.connect.openai.requests import IGNORED, metadata_of, typed, wrong

_READ: Final = frozenset({"messages", "model", "stream", "stream_options", "metadata", "n", "response_format"})
_INSTRUCTING: Final = frozenset({"system", "developer"})
_SKIPPED: Final = frozenset({"tool", "function"})


class ChatRequest(NamedTuple):
    """A request for a chat completion.

    Args:
        model: as it was given.
        said: what the user and the assistant have said before the question, oldest first.
        question: the last text of the user's.
        instructions: what system messages say.
        streams: the answer is to be streamed.
        with_usage: the stream is to end with the usage.
        metadata: the pairs of texts in `metadata`.
        response_format: the form of the answer, as JSON; empty: a text.
    """

    model: object
    said: tuple[Said, ...]
    question: str
    instructions: str
    streams: bool
    with_usage: bool
    metadata: Mapping[str, str]
    response_format: str


def read_chat(body: Mapping[str, Any]) -> ChatRequest:
    """What a body asks for.

    Raises:
        InvalidRequestError: it asks for what there is not, or a part of it is not what it must be.
    """
    IGNORED.note([name for name, value in body.items() if name not in _READ and value is not None])
    if body.get("n") not in (None, 1):
        raise wrong("a question has one answer; `n` may only be 1", "n")
    if any(kind != "text" for kind in typed(body, "modalities", list)):
        raise wrong('answers are text; `modalities` may only have "text"', "modalities")
    form = typed(body, "response_format", dict)
    instructions, said = _read_messages(body)
    return ChatRequest(
        model=body.get("model"),
        said=tuple(said[:-1]),
        question=said[-1].text,
        instructions=instructions,
        streams=typed(body, "stream", bool),
        with_usage=bool(typed(body, "stream_options", dict).get("include_usage")),
        metadata=metadata_of(body),
        response_format="" if form.get("type", "text") == "text" else to_json(form).decode(),
    )


def refuse_form(wanted: ChatRequest) -> None:
    """Refuse a question whose answer is to have a form.

    Raises:
        InvalidRequestError: it is to have one.
    """
    if wanted.response_format:
        raise wrong("answers are text as the tree writes it; `response_format` may only be text", "response_format")


def _read_messages(body: Mapping[str, Any]) -> tuple[str, list[Said]]:
    """What system messages say, and the texts of user and assistant up to the question, which is the last."""
    instructions: list[str] = []
    said: list[Said] = []
    for n, message in enumerate(typed(body, "messages", list)):
        if not isinstance(message, dict):
            raise wrong("a message is to be an object with `role` and `content`", "messages", n)
        role: Any = str(message.get("role"))
        if role in _INSTRUCTING:
            instructions += filter(None, [_text(message, n)])
        elif role in ("user", "assistant"):
            said += [Said(role, text)] if (text := _text(message, n)) else []
        elif role not in _SKIPPED:
            known = "system, developer, user, assistant and tool"
            raise wrong(f"there is no role {bounded(role)!r}; there are {known}", "messages", n, "role")
    if not said or said[-1].role != "user" or not said[-1].text.strip():
        raise wrong("the last text is to be a question of the user's", "messages")
    return "\n\n".join(instructions), said


def _text(message: Mapping[str, Any], n: int) -> str:
    content = message.get("content")
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise wrong("content is a text, or a list of parts", "messages", n, "content")
    return "\n".join(_parts(content, message, n))


def _parts(content: Sequence[Any], message: Mapping[str, Any], n: int) -> Iterator[str]:
    for at, part in enumerate(content):
        place = ("messages", n, "content", at)
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text" and isinstance(part.get("text"), str):
            yield part["text"]
        elif kind != "refusal" or message["role"] != "assistant":
            raise wrong(f"parts of content are texts here; {bounded(kind)!r} cannot be read", *place)
