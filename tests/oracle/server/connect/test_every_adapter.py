"""What holds for the translator of every adapter, over all rows of the shared table."""

import random
import secrets
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from unittest.mock import patch

import pytest

from oracle.core.chunks import Content
from oracle.runs.storage.records import RunRecord
from oracle.server.connect.ag_ui.events import AgUiEvents
from oracle.server.connect.ai_sdk.parts import UIMessageStream
from oracle.server.connect.base.streaming import Translator
from oracle.server.connect.openai.completions import CompletionFrames
from oracle.server.connect.openai.response_events import ResponseTranslator
from tests.oracle.server.connect.base.adapter import PlainTranslator
from tests.oracle.server.connect.scripted import SCRIPTED, Scripted, played, segments

TRANSLATORS: dict[str, Callable[[RunRecord], Translator]] = {
    "plain": PlainTranslator,
    "chat": lambda run: CompletionFrames.of_run(run, tells_activity=True, with_usage=True),
    "responses": ResponseTranslator,
    "ai_sdk": UIMessageStream,
    "ag_ui": lambda run: AgUiEvents(run, thread="thread-1"),
}
UNSURE = (
    *((time, name) for name in ("time", "time_ns", "monotonic", "monotonic_ns")),
    *((uuid, name) for name in ("uuid1", "uuid4")),
    *((secrets, name) for name in ("token_hex", "token_urlsafe", "token_bytes")),
    *((random, name) for name in ("random", "randint", "getrandbits")),
)
"""What a translator must not ask: it would not make the same frames again."""

rows = pytest.mark.parametrize("row", SCRIPTED, ids=[row.name for row in SCRIPTED])
adapters = pytest.mark.parametrize("make", TRANSLATORS.values(), ids=list(TRANSLATORS))


def surely_played(make: Callable[[RunRecord], Translator], row: Scripted) -> list[bytes]:
    with ExitStack() as stack:
        for module, name in UNSURE:
            stack.enter_context(patch.object(module, name, side_effect=AssertionError(f"{name} was called")))
        return played(make(row.run), row)


@adapters
@rows
def test_the_same_chunks_give_the_same_frames_each_of_one_event_with_all_text_in_its_order(make, row):
    """So that a client can come back behind any of them."""
    frames = surely_played(make, row)
    assert frames == surely_played(make, row)
    for frame in frames:
        assert frame.endswith(b"\n\n")
        assert b"\n\n" not in frame[:-2]
        lines = frame[:-2].split(b"\n")
        assert all(line.startswith((b"data: ", b"event: ", b"id: ")) for line in lines), frame
    body, at = b"".join(frames), 0
    # Of the first message: protocols differ in whether there is another one after a wait.
    for chunk in segments(row)[0]:
        if isinstance(chunk, Content):
            word = chunk.content.split()[0].encode()
            at = body.index(word, at) + len(word)
