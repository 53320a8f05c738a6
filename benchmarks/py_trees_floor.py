"""The least that a behavior tree of stock py_trees nodes costs for the turns of `bench_turns`.

A selector of three guards over a turn of two requests, ticked when a request ends. It has no chunks, signals, records,
limits of its own or checks of what a tool is given: it is a floor, not an agent.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.composites import Selector, Sequence
from py_trees.trees import BehaviourTree

from oracle.llm.protocol import Model, ModelRequest, TextDelta


class _Request(Behaviour):
    """RUNNING while a task works; then SUCCESS."""

    def __init__(self, name: str, work: Callable[[], Awaitable[None]], wake: Callable[[], None]) -> None:
        super().__init__(name)
        self._work = work
        self._wake = wake
        self._task: asyncio.Future[None] | None = None

    def initialise(self) -> None:
        self._task = asyncio.ensure_future(self._work())
        self._task.add_done_callback(lambda _: self._wake())

    def update(self) -> Status:
        assert self._task is not None
        if not self._task.done():
            return Status.RUNNING
        self._task.result()
        return Status.SUCCESS


class _Condition(Behaviour):
    def __init__(self, name: str, holds: Callable[[], bool]) -> None:
        super().__init__(name)
        self._holds = holds

    def update(self) -> Status:
        return Status.SUCCESS if self._holds() else Status.FAILURE


def make_query(
    model: Model, tool: Callable[[dict[str, Any]], Awaitable[str]], *, turns: int
) -> Callable[[], Awaitable[None]]:
    """One query: turns that each read the model's text, all but the last with a tool call.

    Args:
        model: asked once a turn.
        tool: called with its arguments.
    """

    async def query() -> None:
        wake = asyncio.Event()
        state = {"turn": 0, "characters": 0, "called": False}
        messages: list[dict[str, Any]] = [{"role": "user", "content": "How does the auth middleware work?"}]

        async def ask() -> None:
            texts = []
            state["turn"] += 1
            async for event in model.stream(ModelRequest("", ())):
                if type(event) is TextDelta:
                    texts.append(event.text)
                    state["characters"] += len(event.text)
            state["called"] = state["turn"] < turns
            messages.append({"role": "assistant", "content": "".join(texts)})

        async def call() -> None:
            messages.append({"role": "tool", "content": await tool({"path": f"file_{state['turn']}"})})

        limits = [
            _Condition("turns", lambda: state["turn"] > 100),
            _Condition("tokens", lambda: state["characters"] > 10**9),
            _Condition("no progress", lambda: False),
        ]
        no_call = _Condition("no call", lambda: not state["called"])
        calls = Selector("calls", memory=True, children=[no_call, _Request("tool", call, wake.set)])
        turn = Sequence("turn", memory=True, children=[_Request("model", ask, wake.set), calls])
        over = Selector("over", memory=False, children=limits)
        stop = Sequence("stop", memory=False, children=[over, _Condition("fallback", lambda: True)])
        tree = BehaviourTree(Selector("root", memory=False, children=[stop, turn]))
        while True:
            tree.tick()
            if tree.root.status is Status.RUNNING:
                await wake.wait()
                wake.clear()
            elif not state["called"]:
                return

    return query
