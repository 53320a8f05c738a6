"""Writes the generated parts of docs/internals/measured.md: the agents, and the figures of a run."""

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.habits.conversations import CONVERSATIONS, OLD
from benchmarks.habits.good_habits import GOOD

PAGE = Path(__file__).parents[2] / "docs" / "internals" / "measured.md"


def agents_table() -> str:
    """The agents with what each does, by the first paragraph of its docstring."""
    rows = [
        f"| `{name}` | {sum(each.habit == name for each in CONVERSATIONS)} | {_first_paragraph(agent.__doc__)} |"
        for name, agent in {**OLD, **GOOD}.items()
    ]
    return "\n".join(["| agent | conversations | what it does |", "|---|---|---|", *rows, ""])


def with_parts(text: str, *, figures: Sequence[str] | None = None) -> str:
    """The page with its generated parts renewed; without figures, those that it has stay.

    Args:
        text: the page.
        figures: the lines of the report.
    """
    text = _replaced(text, "agents", agents_table())
    return text if figures is None else _replaced(text, "figures", "\n".join(["```", *figures, "```", ""]))


def _replaced(text: str, part: str, content: str) -> str:
    return re.sub(rf"(?s)(?<=<!-- {part} -->\n).*?(?=<!-- /{part} -->)", lambda _: content, text)


def _first_paragraph(doc: str | None) -> str:
    return " ".join((doc or "").strip().split("\n\n")[0].split())
