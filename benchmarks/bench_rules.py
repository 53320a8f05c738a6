"""The cost of enforced rules for each tool call, relative to one condition, and to what the call costs without them.

Three rules about tools, one of them with a condition over the arguments; and none. Takes a few seconds:
`python -m benchmarks.bench_rules`.
"""

import asyncio
import time
from collections.abc import Callable
from itertools import count

from benchmarks.parts import oracle_over, quiet
from bt_runtime import HostAction, TreeDefinition
from bt_runtime.language.expressions.compiler import compile_expression
from bt_runtime.library.named import read_tree
from oracle.agent.answering import Ask
from oracle.agent.journal import NoJournal
from oracle.agent.nodes import REGISTRY
from oracle.agent.run import AgentRun
from oracle.agent.tool_calls import forbidden, run_tool_calls
from oracle.features.rules.enforcing import rules_of
from oracle.llm.protocol import ToolUse
from oracle.testing import ScriptedModel
from oracle.tools import Tool, ToolRegistry, ToolResult

CONDITION = "query == 'no' or limit > 9"
RULES = f"""
rules:
  - {{name: a, text: A., at_most: {{tool: probe, times: 1000}}, enforce: refuse}}
  - {{name: b, text: B., absence: {{tool: probe, where: "{CONDITION}"}}, enforce: refuse}}
  - {{name: c, text: C., precedence: {{first: {{tool: probe}}, then: {{tool: write}}}}, enforce: stop}}
"""
CALLS = 1_000
BATCH = 50
AIM_US = 5.0
ARGUMENTS = {"query": "retry policy", "limit": 5}


def definition(rules: str) -> TreeDefinition:
    registry = REGISTRY.with_actions(dict.fromkeys(("probe", "write"), HostAction(None)))
    return read_tree(f"tree: bench{rules or chr(10)}root: compose_prompt", file="<bench>", registry=registry)


async def probe(_arguments: object) -> ToolResult:
    return ToolResult("found")


async def new_run(tree: TreeDefinition) -> AgentRun:
    tool = Tool("probe", "Finds.", "Always.", {"type": "object", "additionalProperties": True}, probe, "code")
    oracle = oracle_over(ScriptedModel([]), ToolRegistry([tool]))
    run = (await oracle.open(Ask("How?"), emit=lambda _chunk: None)).agent
    run.rules = None
    run.offered = ("probe",)
    rules_of(run, tree, journal=NoJournal(), stop=lambda _fault: None)
    return run


async def gate_us(tree: TreeDefinition) -> float:
    """The decision whether a call may begin, for one call, in microseconds; the best of `CALLS` in batches."""
    run, call = await new_run(tree), ToolUse("c", "probe", ARGUMENTS)
    found = []
    for _ in range(CALLS // BATCH):
        start = time.perf_counter()
        for _ in range(BATCH):
            forbidden(run, call)
        found.append((time.perf_counter() - start) * 1e6 / BATCH)
    return min(found)


async def call_us(tree: TreeDefinition) -> float:
    """A whole call of a tool that does nothing, in microseconds."""
    run, numbers = await new_run(tree), count()
    start = time.perf_counter()
    for _ in range(CALLS):
        await run_tool_calls(run, [ToolUse(f"c{next(numbers)}", "probe", ARGUMENTS)])
    return (time.perf_counter() - start) * 1e6 / CALLS


async def condition_us(_tree: TreeDefinition) -> float:
    """The condition of one of the rules, evaluated alone, in microseconds."""
    condition = compile_expression(CONDITION, names=ARGUMENTS)
    start = time.perf_counter()
    for _ in range(CALLS):
        condition.evaluate(ARGUMENTS.get)
    return (time.perf_counter() - start) * 1e6 / CALLS


def best(measure: Callable[[TreeDefinition], object], tree: TreeDefinition) -> float:
    return min(float(asyncio.run(measure(tree))) for _ in range(9))  # type: ignore[arg-type]


def main() -> None:
    quiet()
    ruled, plain = definition(RULES), definition("")
    gate, no_gate = best(gate_us, ruled), best(gate_us, plain)
    whole, no_rules = best(call_us, ruled), best(call_us, plain)
    one = best(condition_us, ruled)
    print(f"one condition: {one:.2f} us")
    aim = f"x {gate / one:.1f}; aim: at most {AIM_US:g} us"
    print(f"may this call begin: {gate:.2f} us with 3 rules ({aim}), {no_gate:.2f} us with none")
    print(
        f"a call of an empty tool: {whole:.1f} us with 3 rules, {no_rules:.1f} us with none (x {whole / no_rules:.2f})"
    )


if __name__ == "__main__":
    main()
