"""Public helpers for testing trees and nodes: a fake clock, scripted nodes, runs in one line.

    clock = FakeClock()
    run = await run_text('''
    tree: demo
    root:
      retry: {attempts: 2, backoff_s: 60, child: {scripted: [FAILURE, SUCCESS]}}
    ''', clock=clock)
    assert run.status is Status.SUCCESS
    assert clock.now() == 60

`FakeClock` jumps to the next deadline when every task of the run is waiting, so hours pass in no time. Parts of a tree
are replaced by path:

    run = await run_text('''
    tree: demo
    root:
      sequence: [{action: search}, {force_success: {action: {name: slow, call: index}}}]
    ''', substitutes={
        "sequence/action": scripted("SUCCESS"),
        "sequence/force_success/slow": action_from(lambda: clock.sleep(3600)),
    }, clock=clock)
    assert clock.now() == 3660
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import field
from typing import Any, Literal

from pydantic import Field

from bt_runtime.kinds import BUILTIN_KEYS, BUILTIN_KINDS
from bt_runtime.language.definition import TreeDefinition
from bt_runtime.language.kind import Key, Kind, NodeSettings
from bt_runtime.language.registry import Registry
from bt_runtime.library.named import read_tree
from bt_runtime.nodes.base import Action, Children, Node
from bt_runtime.nodes.clock import Event
from bt_runtime.nodes.registration import NoSettings, node
from bt_runtime.record.recording import Recording
from bt_runtime.record.status import FAILURE, INVALID, RUNNING, SUCCESS, Status
from bt_runtime.runtime.builder import LiveTree, NodeFactory, build
from bt_runtime.runtime.run_loop import RunLoop
from bt_runtime.runtime.stepper import RunResult
from bt_runtime.text.data import dataclass

_MOST_ROUNDS = 1_000
"""Iterations of the event loop that a jumping clock waits for tasks that never stop making progress."""

Answer = Literal["SUCCESS", "FAILURE", "RUNNING"]


class FakeClock:
    """A clock that moves only on request, or, with `jump`, to the next deadline when the event loop is idle.

    Idle means that no callback is ready. Work that waits for something outside of the event loop (a socket, a thread, a
    real timer) does not count, so tests with such work use `jump=False`.

    Args:
        start_s: the first reading.
        jump: move to the next deadline when the event loop is idle.
    """

    def __init__(self, start_s: float = 0.0, *, jump: bool = True) -> None:
        self._now_s = start_s
        self._jump = jump
        self._waiting: list[tuple[float, Event]] = []
        self._is_looking = False
        self._rounds = 0
        self.waits = 0
        """The number of waits, for events or deadlines: how often a run loop has slept."""

    def now(self) -> float:
        """The present reading."""
        return self._now_s

    def advance(self, seconds: float) -> None:
        """Move forward, and wake the waits whose time has come."""
        self._set(self._now_s + seconds)

    async def sleep(self, seconds: float) -> None:
        """Wait on this clock, for work in a test that takes time."""
        await self._wait_until(self._now_s + seconds, asyncio.Event())

    async def wait(self, event: Event, *, until_s: float | None) -> None:
        """Wait for the event or the time."""
        self.waits += 1
        if until_s is None:
            await event.wait()
        else:
            await self._wait_until(until_s, event)

    async def _wait_until(self, until_s: float, event: Event) -> None:
        if until_s <= self._now_s:
            return
        entry = (until_s, event)
        self._waiting.append(entry)
        self._look()
        try:
            await event.wait()
        finally:
            self._waiting = [other for other in self._waiting if other is not entry]

    def _set(self, now_s: float) -> None:
        self._now_s = max(self._now_s, now_s)
        for until_s, event in self._waiting:
            if until_s <= self._now_s:
                event.set()

    def _look(self) -> None:
        """Wait until the event loop is idle."""
        if self._jump and not self._is_looking:
            self._is_looking, self._rounds = True, 0
            asyncio.get_running_loop().call_soon(self._jump_if_idle)

    def _jump_if_idle(self) -> None:
        loop = asyncio.get_running_loop()
        self._rounds += 1
        # Private, but there is no other way to see that no task can run; without it, many iterations must do.
        is_idle = not getattr(loop, "_ready", True) or self._rounds >= _MOST_ROUNDS
        pending = [until_s for until_s, event in self._waiting if not event.is_set()]
        if is_idle and pending:
            self._set(min(pending))
        if pending and not is_idle:
            loop.call_soon(self._jump_if_idle)
            return
        self._is_looking = False
        if any(not event.is_set() for _, event in self._waiting):
            self._look()


class ScriptSettings(NodeSettings):
    """Settings of `scripted`.

    Args:
        statuses: the statuses in order; the last one repeats. After RUNNING the node asks to be ticked again.
    """

    statuses: list[Answer] = Field(min_length=1)


@node("scripted", category="action", settings=ScriptSettings, shorthand="statuses", waits=True, acts=False)
class Scripted(Node[ScriptSettings]):
    """Returns the statuses of its script, one per tick.

    SUCCESS, FAILURE and RUNNING as written; halts are counted, and the script continues after them.

    ```yaml
    scripted: [RUNNING, SUCCESS]
    ```
    """

    answers: list[Answer]
    _ticks = 0
    halts = 0

    def attach(self, children: Children) -> None:  # noqa: ARG002  a leaf
        """Keep the script."""
        self.answers = self.settings.statuses

    def update(self) -> Status:
        """The next status of the script."""
        status = Status[self.answers[min(self._ticks, len(self.answers) - 1)]]
        self._ticks += 1
        if status is RUNNING:
            self.run.tick_again(self.path)
        return status

    def terminate(self, new_status: Status) -> None:
        """Count halts."""
        self.halts += new_status is INVALID


def scripted(*statuses: Answer) -> NodeFactory:
    """A factory for `build(substitutes=…)`: a node that behaves as `scripted` in a tree file."""

    class Substituted(Scripted):
        def attach(self, children: Children) -> None:  # noqa: ARG002  those of the replaced node are never ticked
            self.answers = list(statuses)

    return Substituted


def action_from(work: Callable[[], Coroutine[Any, Any, Any]]) -> NodeFactory:
    """A factory for `build(substitutes=…)`: an action that awaits `work()` and succeeds unless it returns `False`."""

    class Substituted(Action[NoSettings]):
        def start(self) -> Coroutine[Any, Any, Any]:
            return work()

        def finish(self, value: Any) -> Status:  # noqa: ANN401  whatever the work returned
            return FAILURE if value is False else SUCCESS

    return Substituted


@dataclass(slots=True)
class FakeHost:
    """A host that records its calls.

    Args:
        results: by action, what `call` returns; an exception is raised, a function gets the arguments and is awaited
            if it is async. Other actions raise a `LookupError`.
        notices: the notices, in order.
        calls: the actions that were called and their arguments, in order.
    """

    results: Mapping[str, Any] = field(default_factory=dict)
    notices: list[dict[str, Any]] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def notify(self, *, topic: str, message: str, severity: str, metadata: Mapping[str, Any]) -> None:
        """Record the notice."""
        self.notices.append({"topic": topic, "message": message, "severity": severity, "metadata": dict(metadata)})

    async def call(self, action: str, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Record the call, and return its result."""
        self.calls.append((action, dict(arguments)))
        if action not in self.results:
            raise LookupError(f"the fake host has no action {action!r}; it has: {', '.join(self.results) or 'none'}")
        result = self.results[action]
        if isinstance(result, Exception):
            raise result
        if callable(result):
            result = result(arguments)
        return await result if isinstance(result, Coroutine) else result


@dataclass(frozen=True, slots=True)
class TestRun:
    """A run in a test."""

    __test__ = False  # not a test class, in spite of its name

    tree: LiveTree
    result: RunResult
    recording: Recording

    @property
    def status(self) -> Status:
        """The status of the root."""
        return self.result.status

    def value(self, key: str) -> Any:  # noqa: ANN401  JSON data
        """A blackboard value at the end."""
        return self.tree.blackboard[key]

    def ticks_of(self, path: str) -> list[int]:
        """The ticks that visited the node."""
        index = self.tree.paths.index(path)
        return [record.tick for record in self.recording if index in record.visited]


def registry_of(kinds: Iterable[Kind] = (), keys: Iterable[Key] = ()) -> Registry:
    """The built-in kinds and keys, `scripted`, and these."""
    return Registry((*BUILTIN_KINDS, Scripted.kind, *kinds), (*BUILTIN_KEYS, *keys))


async def run_tree(
    definition: TreeDefinition,
    *,
    registry: Registry,
    host: Any = None,  # noqa: ANN401  the host's own type
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

    Args:
        text: one tree, without subtrees of other files.
        kinds: besides the built-in ones and `scripted`.
        keys: of the blackboard, besides those that the text declares.
        options: further arguments of `run_tree`.

    Raises:
        TreeFileError: the text has mistakes.
    """
    registry = registry_of(kinds, keys)
    definition = read_tree(text, file="<test>", registry=registry)
    return await run_tree(definition, registry=registry, **options)
