"""Long queries over the real SDK, against a provider with a prompt cache: cache reads, and the worst budget overshoot.

Each scripted model calls tools turn after turn; the scripts differ in thinking, calls per turn and size of results. It
answers when a note announces the last turn, or (`stubborn`) continues to call tools. The provider is the stand-in,
which enforces the real one's rules and counts tokens as a quarter of the characters. Printed per script and budget:

- `read`: the share of all input after the first request that came from the cache (aim: at least 80 %);
- `over`: tokens used beyond the query's budget, as the budget counts them (aim: at most one turn's input).

Takes about half a minute: `python -m benchmarks.bench_long`.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.paced import SIGNAL
from benchmarks.parts import oracle_over, quiet
from oracle.agent.answering import Ask
from oracle.core.chunks import Chunk, Done, SystemNotice
from oracle.features.claude.model import AnthropicModel, RetryPolicy
from oracle.testing import ScriptedCall, ScriptedTurn
from oracle.tools import Tool, ToolRegistry, ToolResult
from tests.support.provider import CacheUse, PromptCache, RecordedRequest, StandInProvider

AIM_READ = 0.8
BUDGETS = (10_000, 50_000, 200_000)
QUESTIONS = ("How does the auth middleware work in the code?", "And where is the token checked in the code?")
LIMITS = {"max_iterations": 40, "max_tool_calls_per_turn": 20}
WORD = "The middleware reads the token from the request and asks the store for its user. "
LAST_TURN = ("last turn", "Answer now")
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


@dataclass(frozen=True, slots=True)
class Script:
    """The behavior of a model.

    Args:
        name: for the table.
        calls: tool calls per turn.
        result_chars: characters of each result.
        thinking_chars: characters of thinking per turn.
        text_chars: characters of text per turn.
        turns: the number of turns after which it answers.
        stubborn: whether it calls tools in its last turn as well.
    """

    name: str
    calls: int = 1
    result_chars: int = 2_000
    thinking_chars: int = 400
    text_chars: int = 80
    turns: int = 30
    stubborn: bool = False


SCRIPTS = (
    Script("steady"),
    Script("many calls", calls=12, result_chars=600),
    Script("large results", result_chars=24_000),
    Script("thinks long", thinking_chars=6_000),
    Script("talks much", text_chars=4_000, result_chars=400),
    Script("stubborn", calls=3, stubborn=True),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of a query."""

    reason: str
    turns: int
    used: int
    warned: bool
    requests: tuple[RecordedRequest, ...]

    @property
    def used_after_first(self) -> list[CacheUse]:
        """The input of all requests except the first, which cannot read the cache."""
        return [request.cached for request in self.requests if request.cached is not None][1:]


def read_share(used: Sequence[CacheUse]) -> float:
    """The share of the input that was read from the cache; 1 if there was no input."""
    whole = sum(use.whole for use in used)
    return sum(use.read_tokens for use in used) / whole if whole else 1.0


def played(script: Script, provider: StandInProvider) -> Iterator[ScriptedTurn]:
    """Endless turns; the model answers when the request asks for it, or after `script.turns` turns."""
    turn = 0
    while True:
        turn += 1
        is_last = any(words in _last_text(provider.bodies[-1]) for words in LAST_TURN)
        thinking = WORD * max(1, script.thinking_chars // len(WORD))
        if turn % script.turns == 0 or (is_last and not script.stubborn):
            yield ScriptedTurn(text=f"{WORD}\n\n{SIGNAL}", thinking=thinking)
            continue
        calls = tuple(ScriptedCall("read_file", {"path": f"{turn}/{call}.py"}) for call in range(script.calls))
        yield ScriptedTurn(text=WORD * max(1, script.text_chars // len(WORD)), thinking=thinking, tool_calls=calls)


def _last_text(body: Mapping[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def tools_of(script: Script) -> ToolRegistry:
    async def read_file(arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult(f"{arguments['path']}: " + WORD * (script.result_chars // len(WORD)))

    return ToolRegistry([Tool("read_file", "Reads a file.", "To read a file.", SCHEMA, read_file, "code")])


async def measure(script: Script, budget: int) -> list[Measured]:
    """One conversation: two questions, one after the other."""
    found: list[Measured] = []
    provider = StandInProvider(cache=PromptCache(time.monotonic))
    provider.play(played(script, provider))
    async with provider:
        model = AnthropicModel(api_key="bench", base_url=provider.url, retry=RetryPolicy(max_retries=0))
        oracle = oracle_over(model, tools_of(script), thinking_tokens=2048)
        context_id = None
        for question in QUESTIONS:
            before, chunks = len(provider.requests), list[Chunk]()
            limits = {**LIMITS, "token_budget": budget}
            query = await oracle.open(Ask(question, context_id=context_id, limits=limits), emit=chunks.append)
            await query.run()
            done = next(chunk for chunk in chunks if isinstance(chunk, Done))
            warned = any(
                isinstance(chunk, SystemNotice) and chunk.metadata.get("limit_type") == "token" for chunk in chunks
            )
            requests = tuple(provider.requests[before:])
            found.append(Measured(done.termination_reason, done.turns, done.tokens_used, warned, requests))
            context_id = done.context_id
        await model.aclose()
    return found


async def report() -> None:
    print(f"{'script':<14}{'budget':>8}  {'ends as':<15}{'turns':>5}{'used':>9}{'over':>8}{'read':>7}{'refused':>9}")
    worst, used = 0, list[CacheUse]()
    for script in SCRIPTS:
        for budget in BUDGETS:
            for each in await measure(script, budget):
                over = max(0, each.used - budget)
                worst = max(worst, over)
                used += each.used_after_first
                refused = sum(request.complaint is not None for request in each.requests)
                share, note = read_share(each.used_after_first), "" if each.warned or not over else "  not warned"
                print(
                    f"{script.name:<14}{budget:>8}  {each.reason:<15}{each.turns:>5}{each.used:>9}{over:>8}"
                    f"{share:>7.0%}{refused:>9}{note}"
                )
    print(f"read from the cache: {read_share(used):.0%} of all input after the first requests (aim: {AIM_READ:.0%})")
    print(f"worst overshoot: {worst} tokens")


def main() -> None:
    quiet()
    asyncio.run(report())


if __name__ == "__main__":
    main()
