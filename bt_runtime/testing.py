"""Public helpers for testing trees and nodes: time that stands still, nodes that follow a script, runs in one line.

    clock = FakeClock()
    outcome = await run_text('''
    tree: demo
    root:
      retry: {attempts: 2, backoff_s: 60, child: {scripted: [FAILURE, SUCCESS]}}
    ''', clock=clock, kinds=[Scripted.kind])

`FakeClock` jumps to the next deadline when every task of the run is waiting, so a test with hours in it takes no time.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from py_trees.common import Status
from pydantic import Field

from bt_runtime.builder import LiveTree, NodeFactory, build
from bt_runtime.context import RunContext
from bt_runtime.definition import NodeDefinition, TreeDefinition
from bt_runtime.kind import Key, Kind, NodeSettings
from bt_runtime.kinds import BUILTIN_KEYS, BUILTIN_KINDS
from bt_runtime.node import Action, Children, Node
from bt_runtime.parser import read_tree
from bt_runtime.recording import Recording
from bt_runtime.registration import NoSettings, node
from bt_runtime.registry import Registry
from bt_runtime.run_loop import RunLoop, RunResult


class FakeClock:
    """A clock that moves only when it is told to, or, with `jump`, to the deadline that the run waits for.

    Args:
        start_s: the first reading.
        jump: go to the deadline at once when the run waits for one and nothing else.
    """

    def __init__(self, start_s: float = 0.0, *, jump: bool = True) -> None:
        self._now_s = start_s
        self._jump = jump
        self._waiting: list[tuple[float, asyncio.Event]] = []

    def now(self) -> float:
        """The time that it was set to."""
        return self._now_s

    def advance(self, seconds: float) -> None:
        """Move on, and wake whoever waits for a time that has come."""
        self._now_s += seconds
        for until_s, event in self._waiting:
            if until_s <= self._now_s:
                event.set()

    async def wait(self, event: asyncio.Event, *, until_s: float | None) -> None:
        """Wait for the event; a jumping clock gives tasks that can run the chance to set it first."""
        if until_s is None:
            await event.wait()
            return
        if self._jump:
            for _ in range(10):
                await asyncio.sleep(0)
                if event.is_set():
                    return
            self._now_s = max(self._now_s, until_s)
            return
        entry = (until_s, event)
        self._waiting.append(entry)
        try:
            await event.wait()
        finally:
            self._waiting.remove(entry)


class ScriptSettings(NodeSettings):
    """Settings of `scripted`.

    Args:
        statuses: the answers in order; the last one stays. After RUNNING the node asks to be ticked again.
    """

    statuses: list[Literal["SUCCESS", "FAILURE", "RUNNING"]] = Field(min_length=1)


@node("scripted", category="action", settings=ScriptSettings, shorthand="statuses", waits=True)
class Scripted(Node[ScriptSettings]):
    """Answers as its script says, one status a tick.

    ```yaml
    scripted: [RUNNING, SUCCESS]
    ```
    """

    _ticks = 0
    halts = 0

    def update(self) -> Status:
        """The next status of the script."""
        statuses = self.settings.statuses
        status = Status[statuses[min(self._ticks, len(statuses) - 1)]]
        self._ticks += 1
        if status is Status.RUNNING:
            self.run.tick_again(self.path)
        return status

    def terminate(self, new_status: Status) -> None:
        """Count halts."""
        self.halts += new_status is Status.INVALID


def action_from(work: Callable[[], Coroutine[Any, Any, Any]]) -> NodeFactory:
    """A factory for `build(substitutes=…)`: an action that awaits `work()` and succeeds unless it returns `False`."""

    class Substituted(Action[NoSettings]):
        def start(self) -> Coroutine[Any, Any, Any]:
            return work()

        def finish(self, value: Any) -> Status:  # noqa: ANN401  whatever the work returned
            return Status.FAILURE if value is False else Status.SUCCESS

    def make(definition: NodeDefinition, children: Children, run: RunContext, index: int) -> Node[Any]:
        return Substituted(definition, children, run, index)

    return make


@dataclass(frozen=True, slots=True)
class TestRun:
    """What a run in a test did."""

    __test__ = False  # not a test, whatever pytest thinks of its name

    tree: LiveTree
    result: RunResult
    recording: Recording

    @property
    def status(self) -> Status:
        """Of the root."""
        return self.result.status

    def value(self, key: str) -> Any:  # noqa: ANN401  JSON data
        """A blackboard value at the end."""
        return self.tree.blackboard[key]

    def ticks_of(self, path: str) -> list[int]:
        """The ticks that visited the node."""
        return [number for number, visited in enumerate(self.recording.visited(), 1) if path in visited]


def registry_of(kinds: Iterable[Kind] = (), keys: Iterable[Key] = ()) -> Registry:
    """The built-in kinds and keys, `scripted`, and these."""
    return Registry((*BUILTIN_KINDS, Scripted.kind, *kinds), (*BUILTIN_KEYS, *keys))


async def run_tree(  # noqa: PLR0913  every one of them is a thing that a test may want to hold
    definition: TreeDefinition,
    *,
    registry: Registry,
    host: Any = None,  # noqa: ANN401
    values: Mapping[str, Any] | None = None,
    substitutes: Mapping[str, NodeFactory] | None = None,
    clock: FakeClock | None = None,
    started: Callable[[RunLoop], None] | None = None,
) -> TestRun:
    """Build and run a definition, recorded; `started` gets the loop before its first tick, to cancel or deliver."""
    tree = build(definition, registry=registry, host=host, values=values, substitutes=substitutes)
    recording = Recording(tree.paths)
    loop = RunLoop(tree, clock=clock or FakeClock(), observers=[recording])
    if started is not None:
        started(loop)
    return TestRun(tree, await loop.run(), recording)


async def run_text(
    text: str,
    *,
    kinds: Iterable[Kind] = (),
    keys: Iterable[Key] = (),
    **options: Any,  # noqa: ANN401  passed on to `run_tree`
) -> TestRun:
    """Read, build and run the text of a tree file.

    Raises:
        TreeFileError: the text has mistakes.
    """
    registry = registry_of(kinds, keys)
    definition = read_tree(text, file="<test>", registry=registry)
    return await run_tree(definition, registry=registry, **options)
