"""What models and tools say in tests, in few words; and what a request says, as text."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from oracle.llm.protocol import Usage
from oracle.testing import ScriptedCall, ScriptedTurn
from oracle.tools import Tool, ToolResult
from tests.support.provider import Disturbed

CODE_QUESTION = "Where is the class RetryPolicy defined in the code?"
VAULT_QUESTION = "What do our meeting notes in the vault say about the release?"
RESEARCH_QUESTION = "Search the web for the latest release of PostgreSQL."
ACTION_QUESTION = "Write a note about the release plan into the vault."
CHAT = "Hello there!"


def signal_xml(signal_type: str, *, confidence: float | None = 0.9, **fields: object) -> str:
    """A signal as the model writes it at the end of a response."""
    inner = "".join(f"<{name}>{value}</{name}>" for name, value in fields.items())
    last = "" if confidence is None else f"<confidence>{confidence}</confidence>"
    return f'\n\n<signal type="{signal_type}">{inner}{last}</signal>'


SUFFICIENT = signal_xml("context_sufficient", sources_found=1)
NEED_TURN = signal_xml("need_turn", reason="there is more to read")


def says(
    text: str = "", *calls: ScriptedCall, tokens: int | tuple[int, int] | None = (40, 10), **more: Any
) -> ScriptedTurn:
    """A turn: text, tool calls, and what the provider reports: output tokens, (input, output), or nothing."""
    sizes = (0, tokens) if isinstance(tokens, int) else tokens
    usage = None if sizes is None else Usage(input_tokens=sizes[0], output_tokens=sizes[1])
    return ScriptedTurn(text=text, tool_calls=calls, usage=usage, **more)


def calls(name: str, **arguments: Any) -> ScriptedCall:
    """A tool call."""
    return ScriptedCall(name, arguments)


def answers(text: str = "This is the answer.", **more: Any) -> ScriptedTurn:
    """A turn that ends the query, with its signal."""
    return says(text + SUFFICIENT, **more)


def made_tool(call: Callable[[Mapping[str, Any]], Awaitable[ToolResult]], name: str = "probe") -> Tool:
    """A tool of the group `code` with any arguments, whose calls a test controls."""
    schema = {"type": "object", "properties": {}, "additionalProperties": True}
    return Tool(name, f"{name} does what the test says.", "Always.", schema, call, "code")


async def numbered(arguments: Mapping[str, Any]) -> ToolResult:
    """A tool's call that works: its result shows its arguments."""
    return ToolResult(f"result of {dict(arguments)}")


def text_of(message: Mapping[str, Any]) -> str:
    """All text of a message of a request, tool results included."""
    content = message["content"]
    if isinstance(content, str):
        return content
    parts = []
    for block in content:
        if block["type"] == "text":
            parts.append(block["text"])
        elif block["type"] == "tool_result":
            parts.append(block["content"] if isinstance(block["content"], str) else text_of(block))
    return "\n".join(parts)


def text_of_request(body: Mapping[str, Any]) -> str:
    """All text of a request, without the tools."""
    system = "\n".join(block["text"] for block in body.get("system", ()))
    return "\n".join([system, *(text_of(message) for message in body["messages"])])


def tool_results_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The results that the user's last message of a request carries."""
    content = [message["content"] for message in body["messages"] if message["role"] == "user"][-1]
    return [block for block in content if isinstance(block, dict) and block["type"] == "tool_result"]


def hangs(turn: ScriptedTurn) -> Disturbed:
    """The turn, after which nothing comes any more."""
    return Disturbed(turn, "hang")


CAREFUL = """\
tree: careful
description: Asks for the branch; the model may write notes, each of which needs a person.
blackboard:
  branch: { type: str, default: "" }
root:
  finally:
    child:
      sequence:
        - classify_query
        - force_success: { offer_tools: [vault_write] }
        - compose_prompt
        - ask_user: { question: "Which branch is meant?", options: [main, release], into: branch }
        - llm_turn
        - run_tools: { approve: [vault_write] }
        - llm_turn
        - stop: completed
    then: { sequence: [explain_stop, finish] }
"""
"""A tree in which people decide."""
