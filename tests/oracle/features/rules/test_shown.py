"""What a recorded run shows of the calls that a rule has refused, and of what was read before."""

import pytest

from oracle.agent.journal import RuleBreach
from oracle.agent.nodes import REGISTRY
from oracle.replay.exports.redaction import without_texts
from oracle.replay.histories.model import History
from oracle.replay.histories.reading import read_history
from oracle.runs.record.events import KnownTool, LogDecoder, Opened, RuleBroken, encode
from oracle.runs.record.figures import LogFigures
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import LogEntry
from oracle.runs.storage.store import Store
from tests.acceptance.harness import CODE_QUESTION, answers, calls, says
from tests.oracle.features.rules.test_enforcing import TREE
from tests.oracle.features.rules.test_labels import CLOCK, INBOX, NO_FLOW, SEND, UNKNOWN
from tests.oracle.runs.running import managed


async def history_of(store: Store, archive: Archive, *turns: list[str]) -> History:
    """The history of a run in which the model calls these tools, turn by turn."""
    script = [*(says("", *(calls(name) for name in names)) for names in turns), answers("Done.")]
    async with managed(store, script, tools=(INBOX, SEND, CLOCK, UNKNOWN)) as it:
        it.harness.write_tree("ruled", TREE.format(rules=NO_FLOW))
        told = await it.ask(CODE_QUESTION, tree="ruled")
    return await read_history(archive, told.record, registry=REGISTRY)


async def test_a_refused_call_has_the_rule_and_the_tool_that_was_read_before(store: Store, archive: Archive):
    history = await history_of(store, archive, ["read_clock", "read_inbox"], ["read_clock", "send_mail"])
    (breach,) = history.breaches
    call = next(each for each in history.calls if each.name == "send_mail")
    assert (breach.call_id, breach.turn, breach.after) == (call.id, call.turn, "read_inbox")
    assert (call.ran, call.is_error) == (False, True)
    headline = next(tick.headline for tick in history.ticks if tick.tick == call.ended_tick)
    assert headline.startswith("read_clock returned. send_mail was refused by the rule nothing_leaks.")
    shown = without_texts(history).breaches[0]
    assert (shown.call_id, shown.after, shown.event) == (call.id, "read_inbox", "…")


async def test_calls_have_the_labels_of_their_tools(store: Store, archive: Archive):
    history = await history_of(store, archive, ["read_inbox", "read_clock", "plugin"], ["send_mail"])
    assert {call.name: call.labels for call in history.calls} == {
        "read_inbox": ("private", "untrusted"),
        "read_clock": ("public", "trusted"),
        "plugin": None,
        "send_mail": ("outward",),
    }


@pytest.mark.parametrize(("after", "left"), [("read_inbox", "read_inbox"), ("a name of the model", "")])
def test_where_texts_are_deleted_the_name_of_a_tool_remains(after: str, left: str):
    figures, decoder = LogFigures(), LogDecoder(has_ticks=True)
    opened = Opened(0.0, tools=(KnownTool.of(INBOX),))
    assert figures(LogEntry("run", 1, opened.kind, encode(opened), 0.0)) is not None
    broken = RuleBroken(RuleBreach("r", "Text.", "refuse", "tool send_mail", 1, "call", after))
    data = figures(LogEntry("run", 2, broken.kind, encode(broken), 0.0))
    kept = decoder.decode(LogEntry("run", 2, broken.kind, data, 0.0))
    assert kept == RuleBroken(RuleBreach("r", "Text.", "refuse", "", 1, "", left))
