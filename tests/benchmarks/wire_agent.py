"""A scripted agent behind the wire: what it answers to a request of the provider's API, request by request."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from benchmarks.eval.asking import order
from benchmarks.eval.questions import ALL
from benchmarks.habits.bad_habits import Agent
from benchmarks.habits.mind import Mind
from benchmarks.habits.players import PLAYERS, PlayerName
from benchmarks.habits.view import view_of
from oracle.llm.protocol import ModelRequest, ToolDefinition, Usage
from oracle.testing import ScriptedTurn
from tests.support.provider import Reply, StandInProvider

Choose = Callable[[str, PlayerName], Agent]


def replies(
    provider: StandInProvider, choose: Choose, *, verdict: str = "SAID: NONE\nVERDICT: SAME", usage: Usage | None = None
) -> Iterator[Reply]:
    """The replies to the requests of `make eval`, which asks each conversation under one control after the other.

    Args:
        provider: whose last request is to be answered.
        choose: the agent for a conversation under a control.
        verdict: what the judge says.
        usage: what the provider reports for each turn; `None` leaves it to the provider's cache.
    """
    seen: dict[str, int] = {}
    while True:
        body = provider.bodies[-1]
        if "system" not in body:
            yield ScriptedTurn(text=verdict, usage=usage)
            continue
        request = _request(body)
        asked = str([each["content"] for each in request.messages if each["role"] == "user"])
        found = [(asked.rfind(repr(each.text)[1:-1]), task, each) for task in ALL for each in task.questions]
        _, task, question = max(found, key=lambda each: each[0])
        view = view_of(request, question)
        if view.turn == 1 and question == task.questions[0]:
            seen[task.name] = seen.get(task.name, -1) + 1
        agent = choose(task.name, order(task)[seen[task.name] % len(PLAYERS)].name)
        yield replace(agent(Mind(view, task, task.name, 0.0)), usage=usage)


def _request(body: Mapping[str, Any]) -> ModelRequest:
    tools = tuple(ToolDefinition(tool["name"], "", {}) for tool in body.get("tools", ()))
    return ModelRequest("", tuple(body["messages"]), tools)
