"""What a turn asked the model for, without the texts that are in the log anyway."""

from functools import lru_cache
from hashlib import sha256
from typing import Literal

from oracle.core.frozen import held_frozen


@held_frozen
class RequestRecord:
    """The request of one turn.

    Args:
        step: the key of the outcome that the turn will have.
        at_s: when it was sent, in seconds of the run's clock.
        model: the model that was asked for; `None`: the provider's default.
        prompt: the digest of the system prompt; empty if there was none.
        segments: the ids of the prompt's segments, in their order.
        tools: names of the tools that were offered.
        tool_choice: whether the model could call them.
        notes: how many notes of the control went with it; the outcome has their texts.
        note: what they say; empty if there were none.
        hint: the instruction for this turn, one of the notes; empty if there was none.
        messages: how many there were in the transcript, this request's own included.
        new_messages: how many of them no request of the query had before.
        max_tokens: the limit on the output.
        thinking_tokens: the part of it that could be thinking.
        wrap_up: the model was asked to finish.
        is_side: the turn is not part of the answer.
        digest: of the blocks of all messages, in order.
        blocks: the number of content blocks in all messages.
    """

    step: str
    at_s: float
    model: str | None
    prompt: str
    segments: tuple[str, ...]
    tools: tuple[str, ...]
    tool_choice: Literal["auto", "none"]
    notes: int
    hint: str
    messages: int
    new_messages: int
    max_tokens: int
    thinking_tokens: int
    wrap_up: bool
    is_side: bool
    digest: str
    blocks: int
    note: str


@lru_cache(maxsize=64)
def digest_of(prompt: str) -> str:
    """SHA-256 of a system prompt in hexadecimal; a query asks for the same one in each of its turns."""
    return sha256(prompt.encode(errors="replace")).hexdigest() if prompt else ""
