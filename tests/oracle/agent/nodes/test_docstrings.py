"""The palette of the agent's node kinds: each docstring is a contract, and its snippet runs."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from bt_runtime import BUILTIN_KINDS, Kind
from bt_runtime.record.status import Status
from oracle.agent.nodes import AGENT_KEYS, AGENT_KINDS, REGISTRY
from oracle.core.chunks import Interrupt
from tests.acceptance.harness import CHAT, CODE_QUESTION, answers, calls, says
from tests.oracle.agent.nodes.running import errors, run_nodes, statuses

SNIPPET = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
PARAMETERS = [pytest.param(kind, id=kind.name) for kind in AGENT_KINDS]


def snippet_of(kind: Kind) -> str:
    """The one YAML snippet of a kind's docstring."""
    (snippet,) = SNIPPET.findall(kind.doc)
    lines = snippet.splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[indent:] for line in lines)


def as_item(snippet: str) -> str:
    """A node as an item of a list."""
    first, *rest = snippet.splitlines()
    return "\n".join([f"- {first}", *(f"  {line}" for line in rest)])


def _agree(interrupt: Interrupt) -> Mapping[str, Any]:
    if "approve" in interrupt.may:
        return {"decision": "approve"}
    return {"decision": "answer", "answer": interrupt.response_schema["enum"][0]}


@pytest.mark.parametrize("kind", PARAMETERS)
async def test_the_snippet_in_the_docstring_of_a_kind_runs_and_succeeds(kind: Kind) -> None:
    turns = [says("Looking.", calls("search_code", query="RetryPolicy")), answers()]
    nodes, stop = as_item(snippet_of(kind)), "- stop: completed"
    ends = kind.name in {"explain_stop", "finish"}
    order = [stop, nodes] if ends else [nodes, stop]
    question = CHAT if kind.name == "offer_all_reading_tools" else CODE_QUESTION
    answered = await run_nodes("\n".join(["- llm_turn", *order]), turns, question=question, decide=_agree)
    assert errors(answered) == []
    assert statuses(answered, kind.name)[-1] is Status.SUCCESS
    assert answered.reason == "completed"


@pytest.mark.parametrize("kind", PARAMETERS)
def test_the_snippet_is_the_kind_itself(kind: Kind) -> None:
    assert list(yaml.safe_load(snippet_of(kind))) == [kind.name]


@pytest.mark.parametrize("kind", PARAMETERS)
def test_the_docstring_says_how_the_node_answers(kind: Kind) -> None:
    assert kind.summary.endswith((".", ":"))
    assert "SUCCESS" in kind.doc
    if kind.waits:
        assert "RUNNING" in kind.doc
    if kind.category == "guard":
        assert kind.summary.startswith("Trips ")


@pytest.mark.parametrize("kind", PARAMETERS)
def test_every_setting_of_a_kind_is_explained(kind: Kind) -> None:
    for name in kind.settings.model_fields:
        assert f"{name}:" in (kind.settings.__doc__ or ""), f"{kind.name} does not explain {name!r}"


def test_the_registry_has_the_built_in_kinds_and_those_of_the_agent_each_once() -> None:
    names = [kind.name for kind in (*BUILTIN_KINDS, *AGENT_KINDS)]
    assert len(set(names)) == len(names)
    assert all(REGISTRY.kind(name).name == name for name in names)


@pytest.mark.parametrize("key", [pytest.param(key, id=key.name) for key in AGENT_KEYS])
def test_every_blackboard_key_is_explained_and_only_hint_is_the_authors(key) -> None:
    assert key.description.endswith(".")
    assert key.read_only == (key.name != "hint")
