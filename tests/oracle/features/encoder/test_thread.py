"""The encoder in its thread: it never holds anybody up, and says what is wrong with it."""

import asyncio
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from oracle.features.encoder.loading import CorruptEncoderError, MissingEncoderError
from oracle.features.encoder.thread import REST_S, SLOW_IN_A_ROW, EncoderThread

NOWHERE = Path("nowhere")
SHARES = {"code": 0.9, "research": 0.1}


@dataclass
class Time:
    """A clock that tests and the reading of a text move on."""

    at_s: float = 0.0

    def now(self):
        return self.at_s


@dataclass
class Reader:
    """Reads each text in `takes_s`."""

    time: Time
    takes_s: float = 0.001
    failure: Exception | None = None
    threads: set = field(default_factory=set)

    def shares(self, kind, text):
        self.threads.add(threading.get_ident())
        self.time.at_s += self.takes_s
        if self.failure is not None:
            raise self.failure
        return SHARES


def noting(outcomes):
    return lambda _kind, outcome, _seconds: outcomes.append(outcome)


def encoder_of(reader, observed=None):
    observe = noting([] if observed is None else observed)
    return EncoderThread(NOWHERE, clock=reader.time, observe=observe, loader=lambda _: reader, patience_s=0.1)


async def test_it_answers_nothing_until_it_is_loaded_and_then_in_one_thread_of_its_own():
    reader = Reader(Time())
    encoder = encoder_of(reader)
    assert encoder.state == "loading"
    assert await encoder.query_shares("where is it?") is None
    await encoder.load()
    assert encoder.state == "ready"
    assert await asyncio.gather(*(encoder.query_shares("where is it?") for _ in range(5))) == [SHARES] * 5
    assert await encoder.intent_shares("It is there.") == SHARES
    assert len(reader.threads) == 1
    assert threading.get_ident() not in reader.threads


@pytest.mark.parametrize(
    ("error", "state", "event"),
    [
        (MissingEncoderError("no weights"), "missing", "encoder.missing"),
        (CorruptEncoderError("damaged"), "corrupt", "encoder.corrupt"),
        (RuntimeError("anything else"), "failed", "encoder.failed"),
    ],
)
async def test_what_is_wrong_with_it_is_logged_and_everything_goes_on_without(error, state, event):
    def load(_folder):
        raise error

    encoder = EncoderThread(NOWHERE, loader=load)
    with capture_logs() as logs:
        await encoder.load()
    assert encoder.state == state
    assert [each["event"] for each in logs] == [event]
    assert await encoder.query_shares("where is it?") is None


async def test_it_rests_when_it_was_slow_several_times_in_a_row_and_is_tried_again_later():
    reader, observed = Reader(Time(), takes_s=0.5), []
    encoder = encoder_of(reader, observed)
    await encoder.load()
    with capture_logs() as logs:
        for _ in range(SLOW_IN_A_ROW):
            assert encoder.state == "ready"
            await encoder.query_shares("where is it?")
        assert encoder.state == "slow"
        assert await encoder.query_shares("where is it?") is None
        assert observed == ["slow"] * SLOW_IN_A_ROW
        reader.time.at_s += REST_S
        await encoder.query_shares("where is it?")  # still slow: one is enough for another rest
        assert await encoder.query_shares("where is it?") is None
        reader.time.at_s += REST_S
        reader.takes_s = 0.001
        assert await encoder.query_shares("where is it?") == SHARES
    assert encoder.state == "ready"
    assert [each["event"] for each in logs] == ["encoder.slow", "encoder.slow", "encoder.recovered"]


async def test_one_slow_text_among_quick_ones_changes_nothing():
    reader = Reader(Time())
    encoder = encoder_of(reader)
    await encoder.load()
    for takes_s in (0.5, 0.5, 0.001) * 3:
        reader.takes_s = takes_s
        await encoder.query_shares("where is it?")
    assert encoder.state == "ready"


async def test_nobody_waits_longer_than_the_patience_and_who_waits_for_others_is_late():
    begun, go_on, observed = threading.Event(), threading.Event(), []

    class Hanging:
        def shares(self, kind, text):
            begun.set()
            assert go_on.wait(20)
            return SHARES

    encoder = EncoderThread(NOWHERE, loader=lambda _: Hanging(), observe=noting(observed), patience_s=0.02)
    await encoder.load()
    assert await asyncio.gather(encoder.query_shares("one"), encoder.query_shares("two")) == [None, None]
    assert begun.is_set()
    assert observed == ["late"]
    go_on.set()


async def test_more_texts_than_may_wait_are_refused_at_once():
    go_on, observed = threading.Event(), []

    class Hanging:
        def shares(self, kind, text):
            assert go_on.wait(20)
            return SHARES

    encoder = EncoderThread(NOWHERE, loader=lambda _: Hanging(), observe=noting(observed), patience_s=0.05)
    await encoder.load()
    assert set(await asyncio.gather(*(encoder.query_shares(f"{n}") for n in range(50)))) == {None}
    go_on.set()
    assert set(observed) == {"late"}


async def test_an_error_of_one_text_is_logged_without_the_text_and_the_next_one_is_read():
    reader, observed = Reader(Time(), failure=ValueError("bad")), []
    encoder = encoder_of(reader, observed)
    await encoder.load()
    with capture_logs() as logs:
        assert await encoder.query_shares("a secret question") is None
    assert [each["event"] for each in logs] == ["encoder.text_failed"]
    assert "secret" not in str(logs)
    reader.failure = None
    assert await encoder.query_shares("where is it?") == SHARES
    assert observed == ["failed", "read"]
