"""What a request for a chat completion says, read from a body of which nothing is certain.

Rules:

- Parameters without a meaning for trees (`temperature`, `stop`, `tools`, ...), and those that nobody knows, are
  accepted: clients send them by themselves, and cannot all leave them out. Each name is in the log once.
- What would change the meaning of the answer (two of them, a schema, sound) is refused.
- Roles may come in any order, and texts may be missing; only that the last one is the user's is required.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from oracle.core.encoding import to_json
from oracle.server.connect.base.chain import ClientQuestion
from oracle.server.connect.openai.completions import WAITS
from oracle.server.connect.openai.requests import IGNORED, Talk, metadata_of, text_of, typed, wrong

_READ: Final = frozenset({"messages", "model", "stream", "stream_options", "metadata", "n", "response_format"})
_SKIPPED: Final = ("tool", "function")


class ChatRequest(NamedTuple):
    """A request for a chat completion.

    Args:
        model: the value of `model`, not checked yet.
        asked: the question.
        streams: the answer is to be streamed.
        with_usage: the stream is to end with the usage.
        response_format: the form of the answer, as JSON; empty: a text.
    """

    model: object
    asked: ClientQuestion
    streams: bool
    with_usage: bool
    response_format: str


def read_chat(body: Mapping[str, Any]) -> ChatRequest:
    """What a body asks for.

    Raises:
        UserError: it asks for what there is not, or a part of it is not what it must be.
    """
    IGNORED.note(name for name, value in body.items() if name not in _READ and value is not None)
    if body.get("n") not in (None, 1):
        raise wrong("a question has one answer; `n` may only be 1", "n")
    if any(kind != "text" for kind in typed(body, "modalities", list)):
        raise wrong('answers are text; `modalities` may only have "text"', "modalities")
    form = typed(body, "response_format", dict)
    talk = _talk(body)
    if not talk.question:
        raise wrong("the last text is to be a question of the user's", "messages")
    instructions = "\n\n".join(talk.instructions) or None
    return ChatRequest(
        body.get("model"),
        ClientQuestion(talk.question, tuple(talk.said[:-1]), metadata=metadata_of(body), instructions=instructions),
        streams=typed(body, "stream", bool),
        with_usage=bool(typed(body, "stream_options", dict).get("include_usage")),
        response_format="" if form.get("type", "text") == "text" else to_json(form).decode(),
    )


def _talk(body: Mapping[str, Any]) -> Talk:
    """What the messages say; those of tools, and those without a text, say nothing."""
    talk = Talk()
    for n, message in enumerate(typed(body, "messages", list)):
        if not isinstance(message, dict):
            raise wrong("a message is to be an object with `role` and `content`", "messages", n)
        role, content = message.get("role"), message.get("content")
        if role not in _SKIPPED:
            left_out = ("refusal",) if role == "assistant" else ()
            content = "" if content is None else content
            text = text_of(content, "messages", n, "content", fields={"text": "text"}, left_out=left_out)
            talk.add(message, "messages", n, text=text.partition(WAITS)[0] if role == "assistant" else text)
    talk.instructions[:] = filter(None, talk.instructions)
    talk.said[:] = [each for each in talk.said if each.text]
    return talk
