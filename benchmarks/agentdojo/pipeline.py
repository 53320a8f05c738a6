"""Our control as a pipeline of AgentDojo: tools and environment are theirs, and a scripted mind answers."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement
from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
from agentdojo.base_tasks import BaseUserTask
from agentdojo.functions_runtime import Function, FunctionCall, FunctionsRuntime
from agentdojo.types import ChatAssistantMessage, ChatMessage, text_content_block_from_string

import trees
from benchmarks.agentdojo.minds import Seen, results_in
from bt_runtime import ReloadingTrees, TreeLibrary
from bt_runtime.testing import FakeClock
from bt_runtime.text.data import dataclass
from oracle.agent.answering import Ask, Oracle
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.equipment import Equipment
from oracle.agent.nodes import REGISTRY
from oracle.agent.nodes.board import ANSWERS
from oracle.core.chunks import ApprovalRequested, Chunk, Interrupt
from oracle.decision import AgentConfig, canonical_arguments
from oracle.llm.scripted import ScriptedModel, ScriptedTurn
from oracle.tools import Tool, ToolRegistry, ToolResult
from oracle.tools.protocol import ALWAYS
from prompts import load_segments

Mind = Callable[[BaseUserTask[Any], Any, Seen], Iterator[ScriptedTurn]]
_HERE: Final = Path(__file__).parent
_RULE: Final = """
rules:
  - name: nothing_leaks
    text: What others wrote has no effect outside that nobody has approved.
    no_flow: { from: untrusted, to: outward, unless: approved }
    enforce: refuse
root:
  subtree: oracle
"""
_POLICY: Final = "run_tools: { approve: [{ tool: '*', writes: outward, after: untrusted }], edits: false }"
LARGEST: Final = AgentConfig(
    max_iterations=50, token_budget=200_000, timeout_seconds=600, max_tool_calls_per_turn=20, max_parallel_tools=10
)


@dataclass(frozen=True, slots=True)
class Arm:
    """What is compared.

    Args:
        name: in the results.
        tree: `None`: the plain loop.
        config: the limits.
        asks: the tree puts a call that would flow to a person; else it is refused.
    """

    name: str
    tree: str | None
    config: AgentConfig
    asks: bool = False


ARMS: Final = (
    Arm("loop", None, LARGEST),
    Arm("loop with limits", None, AgentConfig()),
    Arm("tree", "oracle", AgentConfig()),
    Arm("tree, labels, refused", "guarded", AgentConfig()),
    Arm("tree, labels, asked", "guarded", AgentConfig(), asks=True),
)


@cache
def trees_of(asks: bool) -> ReloadingTrees:
    """The shipped trees, and the one with labels."""
    folder = TemporaryDirectory(prefix="agentdojo-trees-")
    _KEPT.append(folder)
    labels = (_HERE / "labels.yaml").read_text(encoding="utf-8")
    indented = "".join(f"  {line}\n" for line in labels.splitlines() if line and not line.startswith("#"))
    Path(folder.name, "guarded.yaml").write_text(f"tree: guarded\nlabels:\n{indented}{_RULE}", encoding="utf-8")
    if asks:
        text = (trees.FOLDER / "use_tools.yaml").read_text(encoding="utf-8")
        assert text.count(", run_tools]") == 1, "the shipped tree runs tools in another way than before"
        edited = text.replace(", run_tools]", f", {_POLICY}]")
        Path(folder.name, "use_tools.yaml").write_text(edited, encoding="utf-8")
    return ReloadingTrees(TreeLibrary([Path(folder.name), trees.FOLDER], registry=REGISTRY))


_segments = cache(load_segments)
_KEPT: Final[list[TemporaryDirectory[str]]] = []


class Pipeline(BasePipelineElement):
    """Answers a task under one arm.

    Args:
        arm: the control.
        task: of the user, who approves the calls of its ground truth and refuses every other one.
        mind: what the model says.
    """

    name = "oracle"

    def __init__(self, arm: Arm, task: BaseUserTask[Any], mind: Mind) -> None:
        self._arm, self._task, self._mind = arm, task, mind
        self.ran: list[FunctionCall] = []
        self.refused: list[str] = []
        self.asked: list[tuple[str, bool]] = []
        self.reason = ""

    def query(
        self,
        query: str,
        runtime: FunctionsRuntime,
        env: Any = None,
        messages: Sequence[ChatMessage] = (),
        extra_args: Mapping[str, Any] | None = None,
    ) -> tuple[str, FunctionsRuntime, Any, Sequence[ChatMessage], Mapping[str, Any]]:
        """Answer; returns what AgentDojo asks of a pipeline, with the calls that were run."""
        wanted = {_key(call.function, call.args) for call in self._task.ground_truth(env)}
        answer = asyncio.run(self._answer(query, runtime, env, wanted))
        text = [text_content_block_from_string(answer)]
        made = ChatAssistantMessage(role="assistant", content=text, tool_calls=list(self.ran))
        return query, runtime, env, [*messages, made], extra_args or {}

    async def _answer(self, query: str, runtime: FunctionsRuntime, env: Any, wanted: set[str]) -> str:
        model = ScriptedModel(self._mind(self._task, env, lambda: results_in(model.requests[-1])))
        tools = [self._tool(function, runtime, env) for function in runtime.functions.values()]
        arm = self._arm
        oracle = Oracle(
            equipment=Equipment(
                model=model,
                tools=ToolRegistry(tools),
                clock=FakeClock(jump=False),
                segments=_segments(),
            ),
            trees=trees_of(arm.asks),
            conversations=MemoryConversations(new_id=lambda: "conversation"),
            new_id=lambda: "run",
            config=arm.config,
            control="loop" if arm.tree is None else "tree",
        )

        def emit(chunk: Chunk) -> None:
            if isinstance(chunk, ApprovalRequested):
                answers = {chunk.interrupt.id: {"decision": self._decide(chunk.interrupt, wanted)}}
                asyncio.get_running_loop().call_soon(opened.control.deliver, ANSWERS, answers)

        opened = await oracle.open(Ask(query, **({} if arm.tree is None else {"tree": arm.tree})), emit=emit)
        await opened.run()
        self.reason = opened.agent.state.termination_reason or ""
        return opened.agent.output.answer

    def _decide(self, interrupt: Interrupt, wanted: set[str]) -> str:
        """What the user says: yes to what the task needs, and to nothing else."""
        is_wanted = _key(str(interrupt.tool_name), interrupt.arguments or {}) in wanted
        self.asked.append((str(interrupt.tool_name), is_wanted))
        return "approve" if is_wanted else "refuse"

    def _tool(self, function: Function, runtime: FunctionsRuntime, env: Any) -> Tool:
        return Tool(
            name=function.name,
            description=function.description,
            when_to_use="When the task needs it.",
            input_schema=function.parameters.model_json_schema(),
            call=partial(self._call, function.name, runtime, env),
            group="agentdojo",
            query_types=ALWAYS,
        )

    async def _call(self, name: str, runtime: FunctionsRuntime, env: Any, arguments: Mapping[str, Any]) -> ToolResult:
        self.ran.append(FunctionCall(function=name, args=dict(arguments)))
        result, error = runtime.run_function(env, name, dict(arguments))
        return ToolResult(error or tool_result_to_str(result), is_error=error is not None)


def _key(name: str, arguments: Mapping[str, Any]) -> str:
    return f"{name} {canonical_arguments(dict(arguments))}"
