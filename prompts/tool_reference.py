"""The list of the offered tools in the prompt, one line each."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from bt_runtime.text.data import dataclass

from .errors import PromptError

TOOLS_PLACEHOLDER: Final = "{{tools}}"
"""Where the list goes in `tools-reference`."""


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """A tool as the prompt describes it.

    Args:
        name: the name that the model calls it by.
        when_to_use: one sentence.
        arguments: their names in order, optional ones with a question mark: `query, limit?`.
        writes: whether a call of the tool changes data.
    """

    name: str
    when_to_use: str
    arguments: str
    writes: bool = False


def render_tools_reference(text: str, tools: Sequence[ToolEntry], *, without_tools: str) -> str:
    """The text of `tools-reference` with the tools offered; `without_tools` if there are none.

    Raises:
        PromptError: a tool is given twice.
    """
    twice = [name for name, count in Counter(tool.name for tool in tools).items() if count > 1]
    if twice:
        raise PromptError(f"tools must have distinct names, given more than once: {', '.join(map(repr, twice))}")
    if not tools:
        return without_tools
    return text.replace(TOOLS_PLACEHOLDER, "\n".join(_line(tool) for tool in tools))


def _line(tool: ToolEntry) -> str:
    """One tool on one line: line breaks in its texts are removed, since they could start a forged instruction."""
    mark = " (writes)" if tool.writes else ""
    return f"- `{_fold(tool.name)}({_fold(tool.arguments)})`{mark}: {_fold(tool.when_to_use)}"


def _fold(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
