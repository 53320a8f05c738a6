"""The encoder's readings in runs: they decide, they are recorded, and nothing that is repeated asks for them again."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bt_runtime import TickRecord
from oracle.agent.answering import Ask
from oracle.agent.nodes import REGISTRY
from oracle.agent.outcomes import TurnOutcome
from oracle.classify import ResponseIntent, classify_query, classify_response
from oracle.features.scenarios.files import from_yaml, to_yaml
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.recorded import scenario_of
from oracle.replay.recorded import read_run, repeat
from oracle.runs.record.events import Opened
from oracle.runs.record.ticks import encode_tick
from oracle.runs.storage.archive import Archive, open_archive
from oracle.runs.storage.store import Store, open_store
from oracle.testing import FixedEncoder
from tests.acceptance.harness import answers, calls, harness, says, signal_xml
from tests.oracle.features.scenarios.playing import player
from tests.oracle.runs.running import managed

QUESTION = "Frobnicate the quux, would you"
RESEARCH = {"action": 0.01, "code": 0.01, "conversational": 0.01, "documentation": 0.01, "research": 0.96}
STUCK = {
    "need_turn": 0.002,
    "context_sufficient": 0.002,
    "stuck": 0.99,
    "need_capability": 0.002,
    "partial_answer": 0.002,
    "delegation_recommended": 0.002,
}
UNCLEAR = "There are four of them. " + signal_xml("context_sufficient", sources_found=1, confidence=0.1)


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    async with open_store(url, worker="w1") as opened:
        yield opened


@pytest.fixture
async def archive(store: Store, url: str) -> AsyncIterator[Archive]:
    async with open_archive(url) as opened:
        yield opened


def bytes_of(tick: TickRecord) -> bytes:
    return encode_tick(tick, is_timed=False)


async def test_a_run_that_the_encoder_has_changed_replays_without_it_to_the_identical_record(store, archive):
    encoder = FixedEncoder(query=RESEARCH, intent=STUCK)
    async with managed(store, [says(UNCLEAR), answers()], encoder=encoder) as it:
        told = await it.ask(QUESTION)
    assert len(encoder.texts) == 2  # the question, and the response that was in doubt
    run = await read_run(archive, told.record)
    assert run.opened.encoded == RESEARCH
    written = [pair for tick in run.ticks for pair in tick.writes]
    assert ("query_type", "research") in written
    assert ("intent", "stuck") in written
    assert classify_query(QUESTION).query_type != "research"
    assert classify_response("There are four of them.").signal_type != "stuck"
    replayed = repeat(run, registry=REGISTRY)
    assert replayed.diverged_at is None
    assert [bytes_of(tick) for tick in replayed.records] == [bytes_of(tick) for tick in run.ticks]


async def test_a_scenario_of_such_a_run_states_the_readings_and_passes(store, archive):
    async with managed(store, [says(UNCLEAR), answers()], encoder=FixedEncoder(query=RESEARCH, intent=STUCK)) as it:
        told = await it.ask(QUESTION)
    text = to_yaml([scenario_of(await read_run(archive, told.record), registry=REGISTRY)])
    assert text.count("encoded:") == 2
    (scenario,) = from_yaml(text)
    verdict = judge(scenario, await player().play_async(scenario))
    assert verdict.passed, verdict.report("")


@pytest.mark.parametrize("encoded", [RESEARCH, None])
def test_the_beginning_of_a_run_keeps_the_reading(encoded):
    opened = Opened(1.0, encoded=encoded)
    assert Opened.from_json(opened.to_json()) == opened


@pytest.mark.parametrize(
    ("turns", "asked"),
    [
        ([answers()], 0),
        ([says("Four of them.")], 1),
        ([says("Looking.", calls("search_code", query="a")), answers()], 0),
        ([says("")] * 3, 0),
        ([says(UNCLEAR), answers()], 1),
    ],
    ids=["a clear signal", "no signal", "tool calls", "empty", "low confidence"],
)
async def test_only_responses_that_the_fallback_may_read_are_read(turns, asked):
    encoder = FixedEncoder()
    async with harness(turns, wire=False, encoder=encoder) as it:
        await it.ask(QUESTION)
    assert encoder.texts[0] == QUESTION
    assert len(encoder.texts) - 1 == asked


async def test_a_classifier_in_the_heuristics_place_is_not_overruled():
    class Own:
        name = "own"

        def classify(self, text):
            return ResponseIntent("context_sufficient", 1.0)

    encoder = FixedEncoder(intent=STUCK)
    async with harness([says(UNCLEAR), answers()], wire=False, encoder=encoder, intents=Own()) as it:
        done = await it.ask(QUESTION)
    assert encoder.texts == [QUESTION]
    assert done.agent.signals.intent == ResponseIntent("context_sufficient", 1.0)


async def test_a_turn_that_is_cancelled_while_it_is_read_has_ended_and_keeps_its_text():
    reading = asyncio.Event()

    class Never(FixedEncoder):
        async def intent_shares(self, text):
            reading.set()
            await asyncio.Event().wait()

    async with harness([says("Four of them.")], wire=False, encoder=Never()) as it:
        query = await it.oracle.open(Ask("How many?"), emit=lambda _: None)
        running = asyncio.create_task(query.run())
        await asyncio.wait_for(reading.wait(), 20)
        query.cancel()
        await asyncio.wait_for(running, 20)
    assert query.agent.state.termination_reason == "user_cancelled"
    assert query.agent.turn.outcome is not None
    assert query.agent.turn.outcome.text == "Four of them."


def test_an_unclear_response_is_one_without_a_signal_to_follow():
    assert not TurnOutcome().is_unclear
