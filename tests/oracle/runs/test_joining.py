"""Pieces of text are joined while the store is behind, and only then; nothing is lost, reordered or held for long."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.core.chunks import Chunk, Closing, Content, Failed, Thinking
from oracle.llm.protocol import ModelEvent, ModelRequest, TextDelta, TurnEnded, Usage
from oracle.runs.joining import BEHIND_S, HOLD_S, LONGEST_HOLD_S, TextJoiner
from oracle.runs.storage.store import Store
from oracle.testing import ScriptedModel
from tests.oracle.runs.running import PATIENCE_S, managed
from tests.oracle.runs.test_unwritable import locked

AHEAD, BEHIND = None, -1.1 * BEHIND_S


@dataclass
class Timer:
    due_s: float
    call: Callable[[], None]
    is_cancelled: bool = False

    def cancel(self) -> None:
        self.is_cancelled = True


@dataclass
class Stage:
    """Keeps the chunks that it gets, over a clock that stands still."""

    pending_since_s: float | None = AHEAD
    now_s: float = 0.0
    kept: list[Chunk] = field(default_factory=list)
    timers: list[Timer] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.joining = TextJoiner(
            pending_since_s=lambda: self.pending_since_s, now=lambda: self.now_s, call_later=self.call_later
        )

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        self.timers.append(Timer(self.now_s + seconds, call))
        return self.timers[-1]

    def advance(self, seconds: float) -> None:
        self.now_s += seconds
        for timer in self.timers:
            if timer.due_s <= self.now_s and not timer.is_cancelled:
                timer.is_cancelled = True
                timer.call()


@pytest.mark.parametrize("pending_since_s", [AHEAD, -BEHIND_S / 2], ids=["idle", "commit under way"])
def test_a_store_that_keeps_up_gets_each_piece_at_once(pending_since_s: float | None) -> None:
    stage = Stage(pending_since_s)
    for n in range(5):
        stage.joining.emit(Content(str(n)), stage.kept.append)
        assert stage.kept[-1] == Content(str(n))
    assert not stage.timers


def test_pieces_are_joined_while_an_entry_waits_too_long_and_come_within_30_ms() -> None:
    stage = Stage(BEHIND)
    for text in ("a", "b", "c"):
        stage.joining.emit(Content(text), stage.kept.append)
        stage.advance(HOLD_S / 3)
    assert stage.kept == [Content("abc")]
    assert HOLD_S <= 0.03


@pytest.mark.parametrize(("waited_s", "held_s"), [(0.021, 0.025), (0.06, 0.06), (30.0, 0.1)])
def test_the_longer_the_store_lets_entries_wait_the_longer_pieces_are_joined(waited_s: float, held_s: float) -> None:
    stage = Stage(-waited_s)
    for _ in range(10):
        stage.joining.emit(Content("x"), stage.kept.append)
        assert not stage.kept
        stage.advance(held_s / 10 - 1e-9)
    stage.advance(1e-6)
    assert stage.kept == [Content("x" * 10)]
    assert LONGEST_HOLD_S == 0.1


def test_pieces_that_are_held_go_first_when_the_store_has_caught_up() -> None:
    stage = Stage(BEHIND)
    stage.joining.emit(Content("a"), stage.kept.append)
    stage.pending_since_s = AHEAD
    stage.joining.emit(Content("b"), stage.kept.append)
    stage.advance(HOLD_S)
    stage.joining.emit(Content("c"), stage.kept.append)
    assert stage.kept == [Content("ab"), Content("c")]


def test_thinking_and_content_are_not_joined() -> None:
    stage = Stage(BEHIND)
    for chunk in (Thinking("a"), Thinking("b"), Content("c"), Content("d"), Thinking("e")):
        stage.joining.emit(chunk, stage.kept.append)
    stage.joining.write_held(stage.kept.append)
    assert stage.kept == [Thinking("ab"), Content("cd"), Thinking("e")]


@pytest.mark.parametrize("before", [[], [Content("\n\n")]], ids=["behind text", "behind two line breaks"])
def test_the_closing_sentence_stays_a_chunk_of_its_own_and_keeps_its_reason(before: list[Chunk]) -> None:
    stage = Stage(BEHIND)
    closing = Closing("Stopped: the reason.", "timeout")
    for chunk in (Content("an"), Content("swer"), *before, closing, Content("More.")):
        stage.joining.emit(chunk, stage.kept.append)
    stage.joining.emit(Failed("It failed.", "internal"), stage.kept.append)
    assert stage.kept[:-1] == [Content("answer"), *before, closing, Content("More.")]


@pytest.mark.parametrize(("piece", "held"), [(1_000, 5_000), (1_024, 5_120)], ids=["over 4096", "exactly 4096"])
def test_a_held_text_is_bounded(piece: int, held: int) -> None:
    """It is written when a piece follows more than 4096 characters."""
    stage = Stage(BEHIND)
    for _ in range(20):
        stage.joining.emit(Content("x" * piece), stage.kept.append)
    assert [len(chunk.content) for chunk in stage.kept] == [held] * 3


CHUNKS = st.one_of(
    st.builds(Content, st.text(max_size=3)),
    st.builds(Thinking, st.text(max_size=3)),
    st.just(Content("\n\n")),
    st.just(Failed("It failed.", "internal")),
)


@given(st.lists(st.tuples(CHUNKS, st.sampled_from([AHEAD, BEHIND]), st.sampled_from([0.0, HOLD_S / 2, HOLD_S]))))
def test_whatever_comes_the_chunks_add_up_to_the_same(steps: list[tuple[Chunk, float | None, float]]) -> None:
    stage = Stage()
    for chunk, stage.pending_since_s, seconds in steps:
        stage.joining.emit(chunk, stage.kept.append)
        stage.advance(seconds)
    stage.joining.write_held(stage.kept.append)
    assert _runs_of_text(stage.kept) == _runs_of_text([chunk for chunk, _, _ in steps])


def _runs_of_text(chunks: list[Chunk]) -> list[tuple[str, str]]:
    """The kinds in order, the texts of neighbours of one kind joined."""
    runs: list[tuple[str, str]] = []
    for chunk in chunks:
        kind, text = type(chunk).__name__, getattr(chunk, "content", "")
        if runs and runs[-1][0] == kind and kind != "Failed":
            runs[-1] = (kind, runs[-1][1] + text)
        else:
            runs.append((kind, text))
    return [run for run in runs if run[1] or run[0] == "Failed"]


class Hurried(ScriptedModel):
    """A model that speaks without a pause for some time once it is let loose."""

    def __init__(self) -> None:
        super().__init__([])
        self.loose = asyncio.Event()
        self.said = asyncio.Event()
        self.pieces = ["First. "]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Speak."""
        yield TextDelta(self.pieces[0])
        await self.loose.wait()
        began_s, soon, late = time.monotonic(), 0, 0
        while late <= 2 * soon + 20:  # however long the process was held up meanwhile
            self.pieces.append(f"piece {len(self.pieces)}, ")
            if time.monotonic() - began_s < 2 * BEHIND_S:
                soon += 1
            else:
                late += 1
            yield TextDelta(self.pieces[-1])
            await asyncio.sleep(0)
        self.said.set()
        yield TurnEnded("end_turn", Usage(input_tokens=10, output_tokens=10), (), self.name)


async def test_a_run_whose_pieces_were_joined_is_whole(store: Store, url: str) -> None:
    model = Hurried()
    async with managed(store, model=model) as it:
        live = await it.start(limits={"token_budget": 200_000})
        await it.until_text(live.record, "First.")
        with locked(url):
            model.loose.set()
            async with asyncio.timeout(PATIENCE_S):
                await model.said.wait()
        told = await it.told(live.record)
    assert told.text.rstrip() == "".join(model.pieces).rstrip()
    assert told.types.count("content") < len(model.pieces) / 2
