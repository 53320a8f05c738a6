"""The events of a run: the same from its record as while it went on."""

import asyncio
from dataclasses import replace

import pytest

from bt_runtime import Event, Monitors, Outcome, Status, TickRecord
from oracle.agent.answering import Ask
from oracle.agent.journal import NoJournal
from oracle.agent.nodes.board import ANSWERS
from oracle.agent.outcomes import TurnOutcome
from oracle.core.chunks import ApprovalRequested, Done
from oracle.features.rules.recorded import Happening, events_of
from oracle.llm.protocol import ModelFault
from tests.acceptance.harness import ACTION_QUESTION, CODE_QUESTION, answers, calls, harness, says, signal_xml

TREE = """\
tree: watched
blackboard:
  approved: bool
  notes: {type: str, default: ""}
rules:
  - {name: any_rule, text: Never., absence: {delivery: approved}, enforce: notify}
root:
  sequence:
    - classify_query
    - compose_prompt
    - force_success: {action: {call: vault_list, with: {folder: "'plans'"}}}
    - force_success: {action: {call: vault_read, with: {path: "'none.md'"}}}
    - llm_turn: {visible: false, into: notes}
    - loop:
        name: turns
        until: termination_reason
        guards: [cancelled, turn_budget, token_budget, deadline, no_progress, error_limit]
        child:
          sequence:
            - warn_near_limits
            - llm_turn
            - selector:
                - subtree: use_tools
                - subtree: continue_answer
                - subtree: follow_signal
"""


class Spy(Monitors):
    """Every event that comes by; judges nothing."""

    def __init__(self, rules, events):
        super().__init__(rules)
        self.types = frozenset({"turn", "tool"})
        self.events = events

    def advance(self, states, event):
        self.events.append(event)
        return states, ()


async def watched(it, question, *, decisions=(), **ask):
    """The events of a query as they came, and its record; people decide at once, in this order."""
    facts, events, decisions = [], [], iter(decisions)

    def emit(chunk):
        facts.append(chunk)
        if isinstance(chunk, ApprovalRequested) and (decision := next(decisions)) is not None:
            asyncio.get_running_loop().call_soon(query.control.deliver, ANSWERS, {chunk.interrupt.id: decision})

    class Record(NoJournal):
        async def keep(self, outcomes):
            facts.extend(outcomes)

        def on_tick(self, record):
            facts.append(record)

    record = Record()
    query = await it.oracle.open(Ask(question, tree="watched", **ask), emit=emit, observers=[record], journal=record)
    rules = query.agent.rules
    rules.monitors = Spy([rule for rule in query.tree.rules if rule.enforce], events)
    rules.stream.types = rules.stream.nodes = None
    await query.run()
    return facts, events, query.tree.paths


BLOCKED = signal_xml("stuck", attempted='["a"]', blocker="nothing", confidence="0.9")
STUCK = says(f"No way.\n{BLOCKED}")

SCRIPTS = {
    "an answer": [says("Notes."), answers("Hello.")],
    "tools, some of them refused by the limits": [
        says("Notes."),
        says("", *[calls("vault_list", folder=f"f{n}") for n in range(7)], calls("nothing")),
        answers("Done."),
    ],
    "stuck twice": [says("Notes."), STUCK, STUCK],
    "a failed provider": [says("Notes.")],
    "turns up to the limit": [says("Notes."), *[says("", calls("vault_list", folder=f"f{n}")) for n in range(9)]],
    "the same again": [says("Notes."), *[says("", calls("vault_list", folder="plans")) for _ in range(9)]],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
async def test_the_record_of_a_run_has_the_events_that_came_while_it_went_on(script):
    async with harness(script, wire=False) as it:
        it.write_tree("watched", TREE)
        facts, events, paths = await watched(it, ACTION_QUESTION, limits={"max_iterations": 5})

    derived = [happening.event for happening in events_of(facts, paths)]
    assert [(str(event), event.fields) for event in derived] == [(str(event), event.fields) for event in events]
    assert derived[-1].type == "end"
    assert {"turn", "turn_end", "tool", "tool_result", "key", "node", "end"} <= {event.type for event in derived}


APPROVED = TREE.replace("- subtree: use_tools", "- sequence: [{ condition: tool_calls > 0 }, ALL_TOOLS]").replace(
    "ALL_TOOLS", "run_tools: { approve: [vault_list] }"
)
LISTS = [calls("vault_list", folder=f"f{n}") for n in range(4)]
READS = calls("vault_read", path="plans/release.md")
APPROVE, REFUSE = {"decision": "approve"}, {"decision": "refuse"}
ASKED = {
    "all of the calls, one is refused": ([LISTS[:2]], [APPROVE, REFUSE]),
    "some of the calls, in two turns": ([[LISTS[0], READS], [LISTS[1]], [READS]], [APPROVE, APPROVE]),
    "nobody answers, and other calls follow": ([LISTS[:1], [READS]], [{"decision": "expire"}]),
    "other arguments": ([[LISTS[0], READS]], [{"decision": "edit", "arguments": {"folder": "plans"}}]),
    "the whole conversation": ([LISTS[:1], LISTS[1:3]], [{"decision": "approve", "for": "conversation"}]),
    "identical calls": ([[LISTS[0], LISTS[0], LISTS[1]]], [APPROVE, APPROVE]),
}


@pytest.mark.parametrize(("turns", "decisions"), ASKED.values(), ids=ASKED)
async def test_the_record_of_a_run_that_asked_people_has_the_events_that_came_while_it_went_on(turns, decisions):
    script = [says("Notes."), *[says("", *each) for each in turns], answers("Done.")]
    async with harness(script, wire=False) as it:
        it.write_tree("watched", APPROVED)
        facts, events, paths = await watched(it, ACTION_QUESTION, decisions=decisions)

    derived = [happening.event for happening in events_of(facts, paths)]
    assert [(str(event), event.fields) for event in derived] == [(str(event), event.fields) for event in events]
    listed = [event for event in derived if event == Event("tool", "vault_list", event.fields)]
    assert not listed[0].fields["is_approved"]  # it is the tree's own
    assert all(event.fields["is_approved"] for event in listed[1:])
    approvals = [event for event in derived if event.type == "approval"]
    assert len(approvals) == len(listed) - 1


async def test_the_turn_of_another_model_that_goes_on_with_a_failed_one_is_a_turn_of_its_own():
    tree = TREE.replace(
        "            - llm_turn\n", "            - selector: [llm_turn: {model: a}, llm_turn: {model: b}]\n"
    )
    fails = says("A part ", fault=ModelFault("provider_overloaded", "It is busy."))
    async with harness([says("Notes."), fails, answers("and the rest.")], wire=False) as it:
        it.write_tree("watched", tree)
        facts, events, paths = await watched(it, ACTION_QUESTION)

    derived = [happening.event for happening in events_of(facts, paths)]
    assert [(str(event), event.fields) for event in derived] == [(str(event), event.fields) for event in events]
    assert [event.name for event in derived if event.type == "turn"] == ["side", "answer", "answer"]


async def test_events_stand_in_the_order_in_which_they_happened():
    script = [says("Notes."), says("", calls("vault_list", folder="plans")), STUCK, STUCK]
    async with harness(script, wire=False) as it:
        it.write_tree("watched", TREE)
        facts, _, paths = await watched(it, ACTION_QUESTION)

    told = [str(event) for _, event in events_of(facts, paths) if event.type not in ("key", "node")]
    assert told == [
        "tool vault_list",
        "tool_result vault_list",
        "tool vault_read",
        "tool_result vault_read",
        "turn side",
        "turn_end side",
        "turn answer",
        "turn_end answer",
        "tool vault_list",
        "tool_result vault_list",
        "turn answer",
        "turn_end answer",
        "signal stuck",
        "notify fallback",
        "turn answer",
        "turn_end answer",
        "signal stuck",
        "notify stuck",
        "explained stuck",
        "end stuck",
    ]


async def test_a_turn_that_was_interrupted_has_begun_and_ended():
    async with harness([says("Notes."), replace(says("Half"), hang=True)], wire=False) as it:
        it.write_tree("watched", TREE)
        underway = await it.start(CODE_QUESTION, tree="watched", journal=(kept := Kept()))
        await underway.until_content("Half")
        underway.cancel()
        answered = await underway.result()

    facts = [*kept.outcomes, *answered.recording]
    facts.sort(key=lambda fact: fact.at_s if isinstance(fact, TickRecord) else fact.at_s - 0.1)
    ends = [event for _, event in events_of(facts, answered.recording.paths) if event.type == "turn_end"]
    assert [(event.name, event.fields["interrupted"]) for event in ends] == [("side", False), ("answer", True)]


class Kept(NoJournal):
    def __init__(self):
        self.outcomes = []

    async def keep(self, outcomes):
        self.outcomes += outcomes


def record(tick, *, visited=(), changes=(), outcomes=(), writes=(), deliveries=()):
    return TickRecord(tick, 0.0, "outcome", (), outcomes, deliveries, visited, changes, writes, ())


def test_a_turn_that_begins_again_within_one_tick_is_a_turn_of_its_own():
    """The node was RUNNING before and is RUNNING after; only the outcome between says that these are two turns."""
    first, second = Outcome("loop/turn@1", "done", TurnOutcome()), Outcome("loop/turn@2", "done", TurnOutcome())
    facts = [
        record(1, visited=(1,), changes=((1, Status.RUNNING),)),
        first,
        record(2, visited=(1,), outcomes=(first,)),
        second,
        record(3, visited=(1,), outcomes=(second,), changes=((1, Status.SUCCESS),)),
    ]

    found = [(tick, str(event)) for tick, event in events_of(facts, ["loop", "loop/turn"]) if event.type != "node"]
    assert found == [(1, "turn answer"), (2, "turn_end answer"), (2, "turn answer"), (3, "turn_end answer")]


def test_the_end_is_the_last_event():
    done = Done("completed", 1, False, "m", "c", "r", 1)
    facts = [record(1, visited=(0,)), done, record(2, visited=(0,), changes=((0, Status.SUCCESS),))]

    assert [str(event) for _, event in events_of(facts, ["root"])] == ["end completed"]


def test_a_request_that_never_started_is_no_turn():
    facts = [record(1, visited=(0,), changes=((0, Status.RUNNING),))]

    assert [str(event) for _, event in events_of(facts, ["turn"])] == ["node turn"]


def test_a_node_that_goes_on_running_has_begun_once():
    facts = [
        record(1, visited=(0,), changes=((0, Status.RUNNING),), deliveries=(("approved", True),)),
        record(2, visited=(0,)),
        record(3, visited=(0,), changes=((0, Status.FAILURE),), writes=(("count", 3),)),
        record(4, visited=(0,)),
    ]

    found = events_of(facts, ["root"])
    assert [(tick, str(event), dict(event.fields)) for tick, event in found] == [
        (1, "delivery approved", {"value": True}),
        (1, "node root", {"result": "running"}),
        (3, "key count", {"value": 3}),
        (3, "node root", {"result": "failure"}),
        (4, "node root", {"result": "failure"}),
    ]
    assert isinstance(found[0], Happening)
