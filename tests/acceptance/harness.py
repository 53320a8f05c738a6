"""One query from question to `Done`, with the real parts: trees, tools, conversations, the real SDK on loopback.

    async with harness([ScriptedTurn(text="Hello.")]) as it:
        answered = await it.ask("Where is the retry policy defined in the code?")
        assert answered.answer == "Hello."

The model is `AnthropicModel` against `StandInProvider`, which refuses what the provider would refuse, or where
`wire_format` says so the one of chat completions against a stand-in of its kind; with `wire=False`
it is a `ScriptedModel`, where the wire does not matter, or whatever `model` says. Time stands still unless
`clock.advance` moves it, or a clock that jumps is given. Nothing here sleeps.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeVar

import trees
from bt_runtime import Kind, Recording
from bt_runtime.testing import FakeClock
from oracle.agent.answering import ActiveQuery, Ask, Oracle
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.conversations.protocol import Conversation
from oracle.agent.equipment import Equipment
from oracle.agent.journal import QueryJournal
from oracle.agent.nodes import REGISTRY
from oracle.agent.nodes.board import ANSWERS
from oracle.agent.run import AgentRun
from oracle.agent.tracing import NO_TRACES, Traces
from oracle.core.chunks import (
    ApprovalRequested,
    Chunk,
    Content,
    Done,
    Failed,
    Interrupt,
    QuestionAsked,
    SourceFound,
    SystemNotice,
    Thinking,
    ToolCall,
    ToolCalled,
    ToolReturned,
)
from oracle.decision import AgentConfig
from oracle.features.claude.model import AnthropicModel, RetryPolicy
from oracle.features.openai_compatible.model import CompatibleModel
from oracle.features.openai_compatible.providers import Provider
from oracle.llm.protocol import Model, ModelEvent, ModelRequest
from oracle.testing import ScriptedModel
from oracle.tools import Tool, ToolRegistry, project_tools, vault_tools, web_tools
from signals import parse
from tests.acceptance.requests import as_body, check_requests
from tests.acceptance.scripts import (
    ACTION_QUESTION,
    CHAT,
    CODE_QUESTION,
    NEED_TURN,
    RESEARCH_QUESTION,
    SUFFICIENT,
    VAULT_QUESTION,
    answers,
    calls,
    hangs,
    made_tool,
    numbered,
    says,
    signal_xml,
    text_of,
    text_of_request,
    tool_results_of,
)
from tests.support.provider import PromptCache, Reply, StandInProvider
from tests.support.provider.completions import CompletionsServer
from tests.support.shipped import segments, served

ControlName = Literal["tree", "loop"]
ChunkT = TypeVar("ChunkT", bound=Chunk)

_PATIENCE_S = 10.0
"""A query that takes longer than this hangs; the test fails then, and says where."""

TIMESTAMP = "2026-01-02T03:04:05.000+00:00"
PROJECT_FILES: Mapping[str, str] = {
    "src/retry.py": 'class RetryPolicy:\n    """Waits twice as long each time."""\n\n    attempts = 3\n',
    "src/auth.py": "def log_in(name):\n    return name\n",
    "docs/guide.md": "# Guide\n\nHow to log in.\n",
}
VAULT_NOTES: Mapping[str, str] = {
    "plans/release.md": "# Release\n\nThe release is planned for Friday.\n",
    "meetings/monday.md": "# Monday\n\nWe talked about the release.\n",
}


@dataclass(slots=True)
class Answered:
    """What came of a query.

    Args:
        chunks: everything that was sent, in order.
        agent: the run, for white-box looks.
        conversation: as it is kept afterwards.
        recording: tick records; empty under the plain loop.
        bodies: the requests that the provider saw for this query; empty without the wire.
        complaints: why it refused any of them.
        requests: the requests that a `ScriptedModel` got for this query; empty with the wire.
        saved_at_done: how many messages the conversation had when `Done` was sent.
    """

    chunks: list[Chunk]
    agent: AgentRun
    conversation: Conversation
    recording: Recording
    bodies: list[dict[str, Any]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    saved_at_done: int = 0

    @property
    def wire(self) -> list[dict[str, Any]]:
        """The chunks as clients get them."""
        return [chunk.to_wire() for chunk in self.chunks]

    @property
    def types(self) -> list[str]:
        """The types of the chunks, in order."""
        return [chunk.type for chunk in self.chunks]

    def of(self, kind: type[ChunkT]) -> list[ChunkT]:
        """The chunks of one type, in order."""
        return [chunk for chunk in self.chunks if isinstance(chunk, kind)]

    @property
    def answer(self) -> str:
        """The content chunks, joined."""
        return "".join(chunk.content for chunk in self.of(Content))

    @property
    def thinking(self) -> str:
        """The thinking chunks, joined."""
        return "".join(chunk.content for chunk in self.of(Thinking))

    @property
    def done(self) -> Done:
        """The one `done` chunk."""
        (done,) = self.of(Done)
        return done

    @property
    def reason(self) -> str:
        """Why the query stopped."""
        return self.done.termination_reason

    @property
    def notices(self) -> list[SystemNotice]:
        """The system notifications."""
        return self.of(SystemNotice)

    @property
    def messages(self) -> list[str]:
        """The words of the system notifications."""
        return [notice.system_message for notice in self.notices]

    @property
    def failures(self) -> list[Failed]:
        """The error chunks."""
        return self.of(Failed)

    @property
    def cause(self) -> str:
        """What operators read of the failure that ended the query."""
        return self.agent.fault.cause if self.agent.fault else ""

    @property
    def calls(self) -> list[ToolCall]:
        """The tool calls."""
        return [chunk.tool_call for chunk in self.of(ToolCalled)]

    @property
    def results(self) -> list[ToolReturned]:
        """The tool results."""
        return self.of(ToolReturned)

    @property
    def sources(self) -> list[SourceFound]:
        """The sources."""
        return self.of(SourceFound)

    @property
    def kept(self) -> str:
        """The last answer that the conversation keeps; empty if it keeps none for this query."""
        last = self.conversation.messages[-1]
        return last.content if last.role == "assistant" else ""

    @property
    def last_sentence(self) -> str:
        """The last content chunk."""
        return self.of(Content)[-1].content if self.of(Content) else ""

    def position(self, kind: type[Chunk], nth: int = 0) -> int:
        """Where in the stream the nth chunk of a type stands."""
        return [at for at, chunk in enumerate(self.chunks) if isinstance(chunk, kind)][nth]

    def check(self) -> "Answered":
        """The rules that hold for every query, whatever happened."""
        assert self.types.count("done") == 1
        assert self.complaints == [], "the provider takes every request as it is made"
        assert self.types[-1] == "done"
        assert (0 if self.done.usage is None else self.done.usage.counted) == self.done.tokens_used
        assert self.answer == self.agent.output.answer == self.kept
        assert self.saved_at_done == len(self.conversation.messages)
        assert not parse(self.answer).readings  # an example in a code span is none
        check_requests(self.bodies or [as_body(request) for request in self.requests])
        called = [chunk.id for chunk in self.calls]
        assert sorted(called) == sorted(chunk.tool_call_id for chunk in self.results)
        for call_id in called:
            before = [chunk.tool_call.id if isinstance(chunk, ToolCalled) else None for chunk in self.chunks].index(
                call_id
            )
            after = [getattr(chunk, "tool_call_id", None) for chunk in self.chunks].index(call_id)
            assert before < after
        assert all(notice.timestamp == TIMESTAMP for notice in self.notices)
        if self.reason not in ("completed", "user_cancelled"):
            assert self.last_sentence.startswith("Stopped: ")
            assert self.last_sentence.endswith(".")
        return self


@dataclass(slots=True)
class Underway:
    """A query on its way."""

    chunks: list[Chunk]
    query: ActiveQuery
    _task: "asyncio.Task[None]"
    _collect: Callable[[], Answered]
    _arrived: asyncio.Condition

    def cancel(self) -> None:
        """The user wants it to stop."""
        self.query.cancel()

    async def until(self, holds: Callable[[list[Chunk]], bool]) -> None:
        """Wait until the chunks so far are as wanted; fails if the query ends before."""
        async with asyncio.timeout(_PATIENCE_S):
            while not holds(self.chunks):
                assert not self._task.done(), f"the query ended before that: {[chunk.type for chunk in self.chunks]}"
                async with self._arrived:
                    await self._arrived.wait()

    async def until_content(self, text: str) -> None:
        """Wait until the user has seen this."""
        await self.until(lambda chunks: text in "".join(c.content for c in chunks if isinstance(c, Content)))

    async def until_calls(self, number: int) -> None:
        """Wait until so many tool calls were announced."""
        await self.until(lambda chunks: sum(isinstance(chunk, ToolCalled) for chunk in chunks) >= number)

    async def result(self) -> Answered:
        """Wait for the end."""
        async with asyncio.timeout(_PATIENCE_S):
            await self._task
        return self._collect().check()


class Harness:
    """An `Oracle` with its surroundings; made by `harness`."""

    def __init__(
        self, *, oracle: Oracle, folder: Path, clock: FakeClock, conversations: "WatchedConversations"
    ) -> None:
        self.oracle = oracle
        self.project = folder / "project"
        self.vault = folder / "vault"
        self.trees = folder / "trees"
        self.clock = clock
        self.conversations = conversations
        self.provider: StandInProvider | None = None
        self.scripted: ScriptedModel | _Watched | None = None

    @property
    def wire(self) -> StandInProvider:
        """The stand-in provider."""
        assert self.provider is not None, "this harness was made with wire=False"
        return self.provider

    def _bodies(self, since: int, since_request: int) -> list[dict[str, Any]]:
        """What the provider has got, in Claude's format; empty without the wire."""
        if self.provider is None or self.scripted is None:
            return self.provider.bodies[since:] if self.provider else []
        return [dict(as_body(request)) for request in self.scripted.requests[since_request:]]

    def write_tree(self, name: str, text: str) -> Path:
        """Put a tree into the operator's folder, which is searched first."""
        path = self.trees / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    def edit_tree(self, name: str, old: str, new: str) -> None:
        """Copy a shipped tree into the operator's folder (if it is not there yet) and replace a part of it."""
        path = self.trees / f"{name}.yaml"
        text = (path if path.exists() else trees.FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the tree {name}"
        self.write_tree(name, text.replace(old, new))

    def drop_from_tree(self, name: str, node: str) -> None:
        """Remove the one line of a tree that begins with `node`."""
        path = self.trees / f"{name}.yaml"
        source = path if path.exists() else trees.FOLDER / f"{name}.yaml"
        lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
        found = [line for line in lines if line.strip().split(" #")[0] == node]
        assert len(found) == 1, f"{node!r} stands {len(found)} times in the tree {name}"
        self.write_tree(name, "".join(line for line in lines if line is not found[0]))

    async def start(
        self,
        question: str = CODE_QUESTION,
        *,
        journal: QueryJournal | None = None,
        decide: Callable[[Interrupt], Mapping[str, Any]] | None = None,
        **ask: Any,
    ) -> Underway:
        """Ask, and come back while the query is under way; `ask` are the fields of `Ask`.

        Args:
            question: of the user.
            journal: keeps outcomes and signals.
            decide: decides at once about what people are asked.
        """
        chunks: list[Chunk] = []
        arrived = asyncio.Condition()
        saved_at_done: list[int] = []
        waking: set[asyncio.Task[None]] = set()

        async def wake() -> None:
            async with arrived:
                arrived.notify_all()

        def emit(chunk: Chunk) -> None:
            chunks.append(chunk)
            if isinstance(chunk, ApprovalRequested | QuestionAsked) and decide is not None:
                answers = {chunk.interrupt.id: decide(chunk.interrupt)}
                asyncio.get_running_loop().call_soon(query.control.deliver, ANSWERS, answers)
            if isinstance(chunk, Done):
                saved_at_done.append(len(self.conversations.now(user_id, chunk.context_id).messages))
            task = asyncio.get_running_loop().create_task(wake())
            waking.add(task)
            task.add_done_callback(waking.discard)

        user_id = ask.get("user_id", "local")
        recording = Recording()
        query = await self.oracle.open(Ask(question, **ask), emit=emit, observers=[recording], journal=journal)
        if hasattr(query.control, "tree"):
            recording.paths = query.control.tree.paths
        bodies_before = len(self.provider.requests) if self.provider else 0
        requests_before = len(self.scripted.requests) if self.scripted else 0

        def collect() -> Answered:
            return Answered(
                chunks=chunks,
                agent=query.agent,
                conversation=self.conversations.now(user_id, query.agent.query.context_id),
                recording=recording,
                bodies=self._bodies(bodies_before, requests_before),
                complaints=[
                    request.complaint
                    for request in (self.provider.requests[bodies_before:] if self.provider else ())
                    if request.complaint is not None
                ],
                requests=self.scripted.requests[requests_before:] if self.scripted else [],
                saved_at_done=saved_at_done[0] if saved_at_done else -1,
            )

        async def run() -> None:
            try:
                await query.run()
            finally:
                await wake()

        return Underway(chunks, query, asyncio.create_task(run()), collect, arrived)

    async def ask(self, question: str = CODE_QUESTION, **ask: Any) -> Answered:
        """Ask and wait for the end; the rules that hold for every query are checked."""
        return await (await self.start(question, **ask)).result()


class WatchedConversations(MemoryConversations):
    """Conversations in memory that can be looked at without waiting."""

    def now(self, user_id: str, context_id: str) -> Conversation:
        """A conversation as it is kept now."""
        return self._kept[user_id, context_id]


wire_format = "claude"
"""The format of the wire: `claude` or `openai_compatible`."""


class _Watched:
    """A model whose requests are kept as they were before they were translated.

    The provider's web search is there, as where Claude's is the default and the question names a model of another one.
    """

    has_web_search = True

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name, self.aclose = model.name, model.aclose
        self.requests: list[ModelRequest] = []

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Run one turn."""
        self.requests.append(request)
        return self._model.stream(request)


@asynccontextmanager
async def harness(
    turns: Iterable[Reply] = (),
    *,
    control: ControlName = "tree",
    wire: bool = True,
    model: Model | None = None,
    tools: Iterable[Tool] = (),
    clock: FakeClock | None = None,
    config: AgentConfig | None = None,
    conversations: WatchedConversations | None = None,
    named_trees: Collection[str] = (),
    cache: PromptCache | None = None,
    traces: Traces = NO_TRACES,
    kinds: Iterable[Kind] = (),
    **equipment: Any,
) -> AsyncIterator[Harness]:
    """An `Oracle` over a small project and vault in a temporary folder.

    Args:
        turns: what the model says, one turn a request.
        control: `tree` is the shipped tree, `loop` the default decision tree.
        wire: the real SDK against a server on loopback; else a `ScriptedModel`.
        model: another model in their place.
        tools: further tools; one of the group `code` is offered for `CODE_QUESTION`.
        clock: stands still by default.
        config: the user's limits.
        conversations: kept over from another harness.
        named_trees: what a question may name; empty: every tree that is not internal.
        cache: the provider's; turns that name no usage report what they read and wrote of it.
        traces: traces the queries.
        kinds: node kinds that trees can have besides.
        equipment: further fields of `Equipment`.
    """
    numbers = count(1)
    new_id: Callable[[], str] = lambda: f"id-{next(numbers)}"  # noqa: E731  a name for each thing, in order
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="oracle-test-")))
        _furnish(folder)
        provider = scripted = None
        if model is None and wire and wire_format == "openai_compatible" and cache is None:
            provider = await stack.enter_async_context(CompletionsServer(turns, refuses={"system_messages"}))
            asked: Model = CompatibleModel(
                "local", Provider(base_url=f"{provider.url}/v1"), model="qwen3:8b", retry=RetryPolicy(max_retries=0)
            )
            model = scripted = _Watched(asked)
            stack.push_async_callback(model.aclose)
        elif model is None and wire:
            provider = await stack.enter_async_context(StandInProvider(turns, cache=cache))
            model = AnthropicModel(api_key="test", base_url=provider.url, retry=RetryPolicy(max_retries=0))
            stack.push_async_callback(model.aclose)
        elif model is None:
            model = scripted = ScriptedModel(turns)  # type: ignore[arg-type]  # without the wire there are no faults of it
        clock = clock or FakeClock(jump=False)
        conversations = conversations or WatchedConversations(new_id=new_id)
        oracle = Oracle(
            equipment=Equipment(
                model=model,
                tools=ToolRegistry(_tools(folder, tools, has_web_search=model.has_web_search)),
                segments=equipment.pop("segments", None) or segments(),
                clock=clock,
                timestamp=equipment.pop("timestamp", None) or (lambda: TIMESTAMP),
                **equipment,
            ),
            trees=served(folder / "trees", registry=REGISTRY.extended(kinds) if kinds else REGISTRY),
            conversations=conversations,
            new_id=new_id,
            config=config,
            control=control,
            named_trees=named_trees,
            traces=traces,
        )
        made = Harness(oracle=oracle, folder=folder, clock=clock, conversations=conversations)
        made.provider, made.scripted = provider, scripted
        yield made


def _furnish(folder: Path) -> None:
    for root, files in (("project", PROJECT_FILES), ("vault", VAULT_NOTES), ("trees", {})):
        (folder / root).mkdir()
        for name, text in files.items():
            path = folder / root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def _tools(folder: Path, further: Iterable[Tool], *, has_web_search: bool) -> Iterable[Tool]:
    yield from project_tools(folder / "project")
    yield from vault_tools(folder / "vault", now=lambda: datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    yield from web_tools(has_web_search=has_web_search)
    yield from further


__all__ = [
    "ACTION_QUESTION",
    "CHAT",
    "CODE_QUESTION",
    "NEED_TURN",
    "PROJECT_FILES",
    "RESEARCH_QUESTION",
    "SUFFICIENT",
    "TIMESTAMP",
    "VAULT_NOTES",
    "VAULT_QUESTION",
    "Answered",
    "ControlName",
    "Harness",
    "Underway",
    "WatchedConversations",
    "answers",
    "calls",
    "hangs",
    "harness",
    "made_tool",
    "numbered",
    "says",
    "signal_xml",
    "text_of",
    "text_of_request",
    "tool_results_of",
]
