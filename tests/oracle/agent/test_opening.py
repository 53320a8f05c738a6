"""One way to open an agent: a query, its parts, its tree, the rules and the floor."""

from dataclasses import replace

import pytest

from bt_runtime import Stepper, TreeLibrary
from oracle.agent.control.opening import open_agent
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.equipment import Equipment
from oracle.agent.nodes import REGISTRY
from oracle.agent.nodes.board import values_of
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.query import Query
from oracle.classify.types import QueryClassification, ResponseIntent
from oracle.decision import AgentConfig
from oracle.llm.protocol import ModelFault
from oracle.runs.repeating import StillClock, UnaskedModel
from oracle.tools import ToolRegistry
from signals import parse
from trees import FOLDER

TREE = TreeLibrary([FOLDER], registry=REGISTRY).load("oracle")
QUERY = Query("run", "Where is auth?", "local", "conversation", AgentConfig(timeout_seconds=60), tree="oracle")


def equipment() -> Equipment:
    return Equipment(
        model=UnaskedModel("none"), tools=ToolRegistry([]), clock=StillClock(100.0), timestamp=lambda: "2026-01-01"
    )


def store() -> MemoryConversations:
    return MemoryConversations(new_id=lambda: "conversation")


def test_the_parts_that_ship_are_the_default_and_every_part_knows_the_same_query():
    opened = open_agent(QUERY, TREE, equipment=equipment(), store=store())
    assert opened.host.agent is opened.agent
    assert opened.host.asked_at == "2026-01-01"
    assert opened.agent.equipment.segments.ids
    assert opened.agent.state.start_time == 100.0
    assert opened.floor.deadline_s() == 160.0
    assert opened.tree.blackboard["question"] == "Where is auth?"


def test_a_stepper_alone_can_drive_it_to_its_first_request():
    opened = open_agent(QUERY, TREE, equipment=equipment(), store=store())
    stepper = Stepper(opened.tree, opened.floor)
    given = stepper.begin(100.0)
    while given is not None:
        stepper.tick(given)
        assert not stepper.halted
        started = stepper.start()
        given = stepper.due(100.0)
    assert [type(request.node).__name__ for request in started] == ["LlmTurn"]
    assert stepper.wake_at_s == 160.0


@pytest.mark.parametrize(("rules", "watched"), [("all", True), ("none", False)])
def test_the_rules_of_the_tree_are_watched_on_request(rules, watched):
    opened = open_agent(QUERY, TREE, equipment=equipment(), store=store(), rules=rules)
    assert (opened.rules is not None) is watched
    assert (opened.agent.rules is not None) is watched


def test_a_rule_that_stops_the_query_fails_it_and_asks_what_drives_it_to_stop():
    opened = open_agent(QUERY, TREE, equipment=equipment(), store=store(), rules="all")
    asked: list[str] = []
    opened.cancel = lambda: asked.append("cancel")
    assert opened.rules is not None
    fault = ModelFault("tree_failed", "It may not.", "a rule")
    opened.rules.stop(fault)
    assert (opened.agent.fault, opened.agent.state.termination_reason, asked) == (fault, "error", ["cancel"])


def test_a_query_in_a_conversation_begins_with_its_history():
    query = replace(QUERY, history=({"role": "user", "content": "Before"}, {"role": "assistant", "content": "Yes"}))
    opened = open_agent(query, TREE, equipment=equipment(), store=store())
    assert [message["role"] for message in opened.agent.transcript.messages] == ["user", "assistant", "user"]


class OneTrack:
    """A classifier to which each text is the same."""

    def classify_query_with(self, text, encoded, *, previous=None):
        return QueryClassification.of("research", confidence=1.0)

    def sources_spoken_of(self, text):
        return frozenset()

    def classify_response_with(self, text, encoded):
        return ResponseIntent("stuck", 1.0)

    def asks_user(self, text):
        return True

    def announces(self, text):
        return True


def test_another_classifier_reads_the_question_and_how_a_response_ends():
    opened = open_agent(QUERY, TREE, equipment=replace(equipment(), classifier=OneTrack()), store=store())
    stepper = Stepper(opened.tree, opened.floor)
    stepper.tick(stepper.begin(100.0))
    assert opened.tree.blackboard["query_type"] == "research"
    opened.agent.apply_turn(TurnOutcome(parsed=parse("It is in a.py."), stop_reason="end_turn"))
    values = values_of(opened.agent)
    assert (values["asks_user"], values["announcements"]) == (True, 1)
