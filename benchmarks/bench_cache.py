"""What changes of the tools cost in one query, in the old form and in the new one, over the real SDK.

A query in which a tool is offered later, one is withheld, a turn stands beside the answer, and a turn has no tools. In
the old form the list of tools and `tool_choice` change, which voids the provider's cache; in the new one messages say
what has changed, and the rest of each request stays. The provider is the stand-in, with its cache by the published
table; it counts tokens as a quarter of the characters. For the old form it refuses the beta.

    python -m benchmarks.bench_cache
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.parts import oracle_over, quiet
from oracle.agent.answering import Ask
from oracle.core.chunks import Chunk
from oracle.features.claude.facts import BINDING_BETA
from oracle.features.claude.model import AnthropicModel, RetryPolicy
from oracle.testing import ScriptedCall, ScriptedTurn
from oracle.tools import Tool, ToolRegistry, ToolResult
from tests.support.provider import CacheUse, PromptCache, StandInProvider
from tests.support.provider.rules import KNOWN_BETAS

TREE = """\
tree: changing
description: Its tools change between turns, and one turn has none.
root:
  sequence:
    - withhold_tools: [vault_read]
    - classify_query
    - compose_prompt
    - llm_turn
    - run_tools
    - offer_tools: [note_read]
    - llm_turn
    - run_tools
    - withhold_tools: [list_files]
    - llm_turn
    - run_tools
    - llm_turn: { visible: false, hint: Is that enough? }
    - require_answer: Answer now from what you have.
    - llm_turn
    - grant_turn: Look once more.
    - llm_turn
    - stop: completed
"""
WORD = "The middleware reads the token from the request and asks the store for its user. "
SCHEMA = {"type": "object", "properties": {"path": {"type": "string", "description": WORD}}, "required": ["path"]}
TOOLS = ("read_file", "list_files", "vault_read", "note_read")
LOOKS = ScriptedTurn(text="I look.", thinking=WORD, tool_calls=(ScriptedCall("read_file", {"path": "a.py"}),))
SAYS = ScriptedTurn(text=WORD, thinking=WORD)
TURNS = (LOOKS, LOOKS, LOOKS, SAYS, SAYS, SAYS)


async def _read(_: Mapping[str, Any]) -> ToolResult:
    return ToolResult(WORD * 25)


def _tools() -> Iterable[Tool]:
    for name in TOOLS:
        types = () if name == "note_read" else ("code",)
        yield Tool(name, WORD * 5, "To read.", SCHEMA, _read, name, query_types=types)


async def measure(*, takes_changes: bool) -> list[CacheUse]:
    """The input of each request of the query, by cache use.

    Args:
        takes_changes: the provider takes changes of tools in messages.
    """
    betas = KNOWN_BETAS if takes_changes else {BINDING_BETA}
    cache = PromptCache(lambda: 0.0)
    async with StandInProvider(TURNS, betas=betas, cache=cache) as provider:
        model = AnthropicModel(api_key="bench", base_url=provider.url, retry=RetryPolicy(max_retries=0))
        with TemporaryDirectory(prefix="oracle-bench-") as folder:
            Path(folder, "changing.yaml").write_text(TREE, encoding="utf-8")  # noqa: ASYNC240  nothing else runs here
            oracle = oracle_over(model, ToolRegistry(_tools()), thinking_tokens=2048, trees=(Path(folder),))
            chunks: list[Chunk] = []
            limits = {"token_budget": 200_000, "max_iterations": 40}
            query = await oracle.open(
                Ask("How does the auth middleware work?", tree="changing", limits=limits), emit=chunks.append
            )
            await query.run()
        await model.aclose()
        return [request.cached for request in provider.requests if request.cached is not None]


def cost(used: Sequence[CacheUse]) -> float:
    """The input in tokens of the base price: writing costs 1.25 of it, reading a tenth."""
    return sum(use.input_tokens + 1.25 * use.creation_tokens + 0.1 * use.read_tokens for use in used)


def main() -> None:
    """Print both forms."""
    quiet()
    asyncio.run(_compare())


async def _compare() -> None:
    old, new = [await measure(takes_changes=takes) for takes in (False, True)]
    print(f"{'form':<14}{'requests':>9}{'written':>10}{'read':>10}{'fresh':>9}{'cost':>10}")
    for name, used in (("tools, choice", old), ("messages", new)):
        written, read = sum(use.creation_tokens for use in used), sum(use.read_tokens for use in used)
        fresh = sum(use.input_tokens for use in used)
        print(f"{name:<14}{len(used):>9}{written:>10,}{read:>10,}{fresh:>9,}{cost(used):>10,.0f}")
    written = [sum(use.creation_tokens for use in used) for used in (old, new)]
    print(f"written in messages: {written[1] / written[0]:.2f} of what it was; input costs {cost(new) / cost(old):.2f}")


if __name__ == "__main__":
    main()
