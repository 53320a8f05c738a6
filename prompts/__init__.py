"""The system prompt: one idea per Markdown file, and a pure function that composes them for a query.

    tools = [ToolEntry("search_code", "To find where something is.", "query, limit?")]
    prompt = compose(query_type="code", tools=tools)
    prompt.text       # for the model
    prompt.segments   # which segments were included, which not, and why

`load_segments(folder)` reads an operator's folder, which overrides the package's own files; `compose` does no I/O.
"""

from .composition import ComposedPrompt, SegmentUse, compose
from .environment import Environment
from .errors import PromptError, PromptFilesError
from .library import load_segments
from .segment import (
    MAX_PROMPT_TOKENS,
    QUERY_TYPES,
    REQUIRED_IDS,
    Segment,
    SegmentCondition,
    SegmentLibrary,
    is_small_window,
)
from .tool_reference import ToolEntry

__all__ = [
    "MAX_PROMPT_TOKENS",
    "QUERY_TYPES",
    "REQUIRED_IDS",
    "ComposedPrompt",
    "Environment",
    "PromptError",
    "PromptFilesError",
    "Segment",
    "SegmentCondition",
    "SegmentLibrary",
    "SegmentUse",
    "ToolEntry",
    "compose",
    "is_small_window",
    "load_segments",
]
