"""LangGraph's prebuilt agent over a fake chat model, to measure beside ours; needs the `bench` dependency group."""

import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.prebuilt import create_react_agent


@tool
async def read_file(path: str) -> str:
    """Read a file."""
    return f"the text of {path}"


class InstantChatModel(BaseChatModel):
    """Streams the same pieces as the model of the other contenders."""

    turns: int
    deltas: int
    delta: str
    turn: int = 0

    @property
    def _llm_type(self) -> str:
        return "instant"

    def bind_tools(self, tools: Any, **_: Any) -> "InstantChatModel":
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=""))])

    async def _astream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> AsyncIterator[ChatGenerationChunk]:
        self.turn += 1
        for _index in range(self.deltas):
            yield ChatGenerationChunk(message=AIMessageChunk(content=self.delta))
        if self.turn % self.turns:
            call = {"name": "read_file", "args": f'{{"path": "file_{self.turn}"}}', "id": f"c{self.turn}", "index": 0}
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[call]))


def make_query(*, turns: int, deltas: int, delta: str) -> Callable[[], Awaitable[None]]:
    """One query of the agent, streamed message by message as a chat backend would."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the prebuilt agent announces its move to another package
        agent = create_react_agent(InstantChatModel(turns=turns, deltas=deltas, delta=delta), [read_file])

    async def query() -> None:
        question = {"messages": [("user", "How does the auth middleware work?")]}
        calls = 0
        async for message, _ in agent.astream(question, {"recursion_limit": 100}, stream_mode="messages"):
            calls += message.type == "tool"
        assert calls == turns - 1, calls

    return query
