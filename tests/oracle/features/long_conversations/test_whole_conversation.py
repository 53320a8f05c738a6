"""A long conversation with a provider whose window it exceeds many times: what was said first is answered at the end.

Service, store, tools and SDK are the real ones. The stand-in refuses what exceeds its window, as the provider does,
and its model knows nothing but the messages that it gets: it keeps in a summary what was marked as important, answers
from what stands before it, and recalls what does not.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bt_runtime.text import iso
from oracle.agent.answering import Ask
from oracle.agent.conversations.protocol import Exchange
from oracle.decision import AgentConfig
from oracle.features.claude.model import AnthropicModel
from oracle.features.long_conversations.compacting import PROMPT
from oracle.llm.attempts import RetryPolicy
from oracle.server.api.parts import ServiceParts
from oracle.server.settings.reading import read_settings
from oracle.server.wiring.service import open_service
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.runs.running import Told, told
from tests.support.provider import StandInProvider
from tests.support.provider.cache import estimated_tokens
from tests.support.provider.server import RecordedRequest

EXAMPLE = Path(__file__).parents[4] / "examples" / "long_conversations"
IMPORTANT = re.compile(r"IMPORTANT: [^.]*\.")
FIRST = "IMPORTANT: the code word of the project is osprey-7. By the way, the door of the lamp room is teal."


class Window(StandInProvider):
    """A provider whose model reads and writes so many tokens together at most; it keeps no bodies of old requests."""

    def __init__(self, tokens: int, *, answer: str) -> None:
        super().__init__(self._replies())
        self.tokens, self.answer = tokens, answer
        self.largest = self.summaries = 0

    def check(self, request: RecordedRequest) -> str | None:
        """Refuse what exceeds the window."""
        body = request.body
        size = sum(estimated_tokens(body[part]) for part in ("system", "tools", "messages") if part in body)
        size += body["max_tokens"]
        self.largest = max(self.largest, size)
        for before in self.requests:
            before.body = {}
        if size > self.tokens:
            return f"prompt is too long: {size} tokens > {self.tokens} maximum"
        return super().check(request)

    def _replies(self) -> Iterator[ScriptedTurn]:
        while True:
            yield self._reply_to(self.bodies[-1])

    def _reply_to(self, body: dict[str, Any]) -> ScriptedTurn:
        texts = json.dumps(body["messages"], ensure_ascii=False)
        last = json.dumps(body["messages"][-2:], ensure_ascii=False)
        if PROMPT.splitlines()[0][:60] in last:
            self.summaries += 1
            kept = dict.fromkeys(IMPORTANT.findall(texts))
            return ScriptedTurn("Facts:\n" + "\n".join(f"- {each}" for each in kept) + "\n- Much was asked.")
        wanted = re.findall(r"What is (the [a-z ]+)\?", texts)
        if not wanted:
            return ScriptedTurn(self.answer.format(len(body["messages"])))
        found = re.search(rf"{wanted[-1]}[a-z ]* is ([\w-]+)\.", texts)
        if found is not None:
            return ScriptedTurn(f"It is {found[1]}.")
        assert "recall" in [each["name"] for each in body.get("tools", ())]
        return ScriptedTurn("Let me look.", tool_calls=(ScriptedCall("recall", {"query": wanted[-1]}),))


@asynccontextmanager
async def serving(folder: Path, provider: Window) -> AsyncIterator[ServiceParts]:
    """A service with the tree of the example."""
    project = folder / "project"
    project.mkdir()
    model = AnthropicModel(api_key="test", base_url=provider.url, retry=RetryPolicy(max_retries=0))
    settings = read_settings(data_dir=folder / "data", project_dir=project, trees_dir=EXAMPLE, encoder="off")
    async with open_service(settings, model=model) as parts:
        yield parts
    await model.aclose()


async def conversed(
    folder: Path, *, exchanges: int, chars: int, budget: int, window: int, every: int = 1
) -> tuple[Window, list[Told]]:
    """The conversation, and two questions about what was said first.

    Every so many exchanges one is asked; those between are added to the conversation as a run adds them.
    """
    filler = " ".join(f"w{number:x}" for number in range(chars // 5))[:chars]
    config = AgentConfig(token_budget=budget)
    async with Window(window, answer="Answer {}. " + filler) as provider, serving(folder, provider) as parts:
        context_id: str | None = None

        async def ask(question: str) -> Told:
            asked = Ask(question, context_id=context_id, config=config)
            return await told(parts.store, (await parts.runs.start(asked)).record)

        context_id = (await ask(FIRST)).record.context_id
        for number in range(2, exchanges + 1):
            question, answer = f"Question {number}? {'And so on. ' * 20}", f"Answer {number}. {filler}"
            if number % every == 0:
                await ask(question)
            else:
                exchange = Exchange(question, answer, iso(0), iso(0), "completed", f"run-{number}")
                await parts.store.conversations.append("local", context_id, exchange)
        return provider, [await ask("What is the code word?"), await ask("What is the door of the lamp room?")]


def check(provider: Window, last: list[Told], *, window: int) -> None:
    assert provider.summaries >= 3
    assert provider.largest <= window
    assert not [request.complaint for request in provider.requests if request.complaint]
    by_summary, by_recall = last
    assert by_summary.text == "It is osprey-7."
    assert "tool_call" not in by_summary.types
    assert by_recall.text.endswith("It is teal.")
    assert [chunk["tool_call"]["name"] for chunk in by_recall.chunks if chunk["type"] == "tool_call"] == ["recall"]
    (result,) = [chunk["tool_result"] for chunk in by_recall.chunks if chunk["type"] == "tool_result"]
    assert "Exchange 1, the user" in result


@pytest.mark.long("a service, and twenty-six questions to it")
async def test_what_was_said_first_is_answered_after_three_summaries(tmp_path: Path) -> None:
    window = 30_000
    provider, last = await conversed(tmp_path, exchanges=24, chars=10_000, budget=36_000, window=window)
    check(provider, last, window=window)


@pytest.mark.long("1.5 million tokens")
async def test_a_conversation_of_four_hundred_exchanges_and_one_and_a_half_million_tokens(tmp_path: Path) -> None:
    window = 128_000
    provider, last = await conversed(tmp_path, exchanges=400, chars=15_000, budget=200_000, window=window, every=10)
    check(provider, last, window=window)
