"""What a query writes down before its control goes on, and its end when the service cannot go on with it."""

import asyncio

import pytest

from oracle.agent.journal import NoJournal
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.llm.protocol import ModelFault
from tests.acceptance.harness import CODE_QUESTION, answers, calls, hangs, harness, says

STOPPING = ModelFault("service_stopping", "the service is stopping")


class Kept(NoJournal):
    def __init__(self):
        self.outcomes = []
        self.signals = []

    async def keep(self, outcomes):
        await asyncio.sleep(0)
        self.outcomes += outcomes

    def signal(self, record):
        self.signals.append(record)

    def rule(self, breach):
        self.signals.append(breach)


@pytest.mark.parametrize("control", ["tree", "loop"])
async def test_turns_and_tools_are_in_the_journal_in_their_order(control):
    journal = Kept()
    script = [says("Let me look.", calls("read_file", path="src/auth.py")), answers("Done.")]
    async with harness(script, control=control) as it:
        await (await it.start(CODE_QUESTION, journal=journal)).result()
    values = [type(outcome.value) for outcome in journal.outcomes if outcome.value is not None]
    assert values == [TurnOutcome, ToolsOutcome, TurnOutcome]
    assert [record.type for record in journal.signals if record.outcome == "accepted"] == ["context_sufficient"]


@pytest.mark.parametrize("control", ["tree", "loop"])
async def test_an_aborted_query_keeps_its_text_and_explains_its_end(control):
    journal = Kept()
    async with harness([hangs(says("Half an answer"))], control=control) as it:
        underway = await it.start(CODE_QUESTION, journal=journal)
        await underway.until_content("Half an answer")
        underway.query.abort(STOPPING)
        answered = await underway.result()
        await it.wire.wait_disconnected()
    assert answered.reason == "error"
    assert [failure.error_type for failure in answered.failures] == ["service_stopping"]
    assert answered.answer == "Half an answer\n\nStopped: the service is stopping."
    (turn,) = [outcome.value for outcome in journal.outcomes if isinstance(outcome.value, TurnOutcome)]
    assert turn.interrupted
    assert turn.text == "Half an answer"
