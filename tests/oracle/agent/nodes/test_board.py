"""The blackboard as a projection of the run: which keys are read from it, and when they are written."""

import inspect
from pathlib import Path
from typing import get_args

import pytest

import oracle.agent.nodes
from bt_runtime import Blackboard, Key
from oracle.agent.nodes import AGENT_KEYS, REGISTRY
from oracle.agent.nodes.board import AgentKey, publish, values_of
from oracle.classify import QueryType
from oracle.core.chunks import TerminationReason
from signals import SignalType
from tests.acceptance.harness import answers, calls, says, signal_xml
from tests.oracle.agent.nodes.running import run_nodes, written

NODES = Path(inspect.getfile(oracle.agent.nodes)).parent
OF_THE_AUTHOR = {"hint", "max_turns"}


def test_every_key_but_the_authors_names_its_reader() -> None:
    assert {key.name for key in AGENT_KEYS if not isinstance(key, AgentKey)} == OF_THE_AUTHOR


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


def test_keys_of_the_agent_declare_their_values_and_ranges() -> None:
    keys = REGISTRY.keys
    assert keys["query_type"].values == ("", *get_args(QueryType))
    assert keys["signal"].values == keys["intent"].values == ("", *get_args(SignalType))
    assert keys["termination_reason"].values == ("", *get_args(TerminationReason))
    assert (keys["confidence"].least, keys["confidence"].most) == (0, 1)
    assert keys["turn"].least == 0
