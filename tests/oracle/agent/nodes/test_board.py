"""The blackboard as a projection of the run: which keys are read from it, and when they are written."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import get_args

import pytest

import oracle.agent.nodes
import signals
from bt_runtime import Blackboard, Key
from oracle.agent.nodes import AGENT_KEYS, REGISTRY
from oracle.agent.nodes.board import AgentKey, publish, values_of
from oracle.agent.outcomes import CallResult, ToolsOutcome, TurnOutcome
from oracle.agent.run import AgentRun
from oracle.classify import ResponseIntent, classify_query
from oracle.core.chunks import Source, TerminationReason
from oracle.decision import ToolAction
from oracle.domains.code.weights import QUERY_TYPES
from oracle.llm.protocol import ModelFault, ToolUse
from signals import SignalType
from tests.acceptance.harness import answers, calls, says, signal_xml
from tests.oracle.agent.nodes.running import run_nodes, written

NODES = Path(inspect.getfile(oracle.agent.nodes)).parent
WITHOUT_READER = {"answers", "hint", "limit_reached", "max_turns"}
"""They come from outside, or are the author's."""


def test_every_key_names_its_reader_but_those_that_the_run_does_not_have() -> None:
    assert {key.name for key in AGENT_KEYS if not isinstance(key, AgentKey)} == WITHOUT_READER


@pytest.mark.parametrize("file", [pytest.param(file, id=file.stem) for file in NODES.rglob("*.py")])
def test_no_node_writes_a_key_that_has_a_reader(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert not [key.name for key in AGENT_KEYS if isinstance(key, AgentKey) and f'.set("{key.name}"' in text]


async def test_the_blackboard_agrees_with_the_run_when_it_has_ended() -> None:
    turns = [says("Looking.", calls("search_code", query="RetryPolicy")), answers()]
    answered = await run_nodes("- llm_turn\n- run_tools\n- llm_turn\n- stop: completed", turns)
    for name, value in values_of(answered.agent).items():
        assert (written(answered, name) or [value])[-1] == value, name


async def test_publish_writes_what_has_changed_and_nothing_else() -> None:
    answered = await run_nodes(
        "- llm_turn\n- stop: completed", [says("Half." + signal_xml("need_turn", reason="more"))]
    )
    board = Blackboard({key.name: Key(key.name, key.type, key.default) for key in AGENT_KEYS})
    publish(answered.agent, board)
    assert dict(board.take_writes())["signal_reason"] == "more"
    publish(answered.agent, board)
    assert board.take_writes() == ()
    answered.agent.state = answered.agent.state.after_turn(tokens=7, estimated=False, answered=True)
    publish(answered.agent, board)
    assert {name for name, _ in board.take_writes()} == {"turn", "tokens_used"}


def _changes(run: AgentRun) -> Iterator[Callable[[], object]]:
    """What can happen to a query between two refreshes of its blackboard, one after another."""
    texts = ("", "Which of the two?", "I will search now.", *(signal_xml(kind, **said) for kind, said in _SAID.items()))
    for text in (*texts, "<signal type='stuck'>", ""):
        yield partial(run.apply_turn, TurnOutcome(parsed=signals.parse(text), stop_reason="end_turn", tokens=3))
    yield partial(run.apply_turn, TurnOutcome(parsed=signals.parse("Ha"), stop_reason="max_tokens", cut_off=True))
    yield partial(run.apply_turn, TurnOutcome(fault=ModelFault("provider_failed", "Down.")))
    yield partial(run.apply_side_turn, TurnOutcome(parsed=signals.parse("x"), tokens=300))
    yield partial(setattr, run, "offered", ("search_code", "read_file"))
    lacking = signal_xml("need_capability", **_SAID["need_capability"])
    yield partial(run.apply_turn, TurnOutcome(parsed=signals.parse(lacking), stop_reason="end_turn"))
    for number, (tool, is_error) in enumerate((*[("search_code", False)] * 3, *[("read_file", True)] * 3)):
        call = ToolUse(f"c{number}", tool, {"query": "a"})
        action = ToolAction.from_call(tool, call.arguments, is_error=is_error, result_digest="d")
        result = CallResult(
            call, "", is_error, counts=True, is_empty=number == 1, group="code", action=action, began=True
        )
        yield partial(run.apply_turn, TurnOutcome(calls=(call,), stop_reason="tool_use", is_last_paid=number > 2))
        yield partial(run.apply_tools, ToolsOutcome((result,)))
        yield partial(run.gathering.judge, turn=run.state.turn)
    yield partial(run.gathering.choose, "broaden")
    yield partial(setattr, run, "withheld", frozenset({"read_file"}))
    yield partial(setattr, run.signals, "intent", ResponseIntent("need_turn", 0.9))
    yield partial(setattr, run.gathering, "refused_calls", 2)
    yield partial(run.output.cite, Source("a.py", "code"))
    yield partial(setattr, run, "classification", classify_query("How does the retry policy work?"))
    yield partial(setattr, run, "classification", classify_query("hello"))
    yield partial(setattr, run, "query", replace(run.query, question="Another?"))
    yield partial(run.stop, "completed")


_SAID = {
    "stuck": {"attempted": "all", "blocker": "no access", "suggestions": "the docs"},
    "need_capability": {"capability": "the notes", "reason": "decisions"},
    "need_turn": {"reason": "more"},
    "context_sufficient": {"confidence": "0.4"},
}


async def test_a_key_that_is_not_read_again_has_the_value_that_it_would_be_read_as() -> None:
    run = (await run_nodes("- llm_turn\n- stop: completed", [answers()])).agent
    board = Blackboard({key.name: Key(key.name, key.type, key.default) for key in AGENT_KEYS})
    seen: dict[str, set[str]] = {name: set() for name in values_of(run)}
    for change in _changes(run):
        publish(run, board)
        change()
        publish(run, board)
        for name, value in values_of(run).items():
            assert board[name] == value, name
            seen[name].add(repr(value))
    assert {name for name, values in seen.items() if len(values) < 2} == {"turn_limit", "token_budget"}


async def test_a_blackboard_that_was_put_back_is_read_anew() -> None:
    run = (await run_nodes("- stop: completed", [])).agent
    board = Blackboard({key.name: Key(key.name, key.type, key.default) for key in AGENT_KEYS})
    empty = board.snapshot()
    publish(run, board)
    board.put_back(empty)
    publish(run, board)
    assert board["question"] == run.query.question


def test_keys_of_the_agent_declare_their_values_and_ranges() -> None:
    keys = REGISTRY.keys
    assert keys["query_type"].values == ("", *QUERY_TYPES)
    assert keys["signal"].values == keys["intent"].values == ("", *get_args(SignalType))
    assert keys["termination_reason"].values == ("", *get_args(TerminationReason))
    assert (keys["confidence"].least, keys["confidence"].most) == (0, 1)
    assert keys["turn"].least == 0
