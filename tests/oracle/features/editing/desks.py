"""Texts with a cursor (`|`), and folders of trees to edit them in."""

from pathlib import Path

from bt_runtime import TreeLibrary
from bt_runtime.language.kind import HostAction
from oracle.agent.nodes import REGISTRY
from oracle.features.editing.completion import Completion, complete
from oracle.features.editing.desk import Desk
from oracle.llm.protocol import ToolDefinition
from trees import FOLDER

SEARCH = ToolDefinition(
    "search_code",
    "Finds code. Long text.",
    {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What to find"}, "limit": {"type": "integer"}},
        "required": ["query"],
        "additionalProperties": False,
    },
)
ACTIONS = {"search_code": HostAction(("query", "limit"), frozenset({"query"}))}
CODES = {"never-reached": "The node is never reached."}


def desk_in(folder: Path, texts: dict[Path, str] | None = None) -> Desk:
    """A desk over the shipped trees, with one tool and one code of a warning."""
    library = TreeLibrary([folder, FOLDER], registry=REGISTRY.with_actions(ACTIONS), texts=texts)
    return Desk(library, {"search_code": SEARCH}, CODES)


def cut(marked: str) -> tuple[str, int, int]:
    """A text without its cursor, and the cursor's line and column from 1."""
    before, _, after = marked.partition("|")
    return before + after, before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1


def completed(marked: str, folder: Path, file: str = "mine.yaml") -> dict[str, Completion]:
    """What completion offers at the cursor, by label."""
    text, line, column = cut(marked)
    return {each.label: each for each in complete(desk_in(folder), text, folder / file, line=line, column=column)}


def accepted(marked: str, label: str, folder: Path, *, snippet: bool = False) -> str:
    """The text after one proposal is taken."""
    text, line, column = cut(marked)
    desk = desk_in(folder)
    offered = complete(desk, text, folder / "mine.yaml", line=line, column=column)
    chosen = next(each for each in offered if each.label == label)
    lines = text.split("\n")
    row = lines[chosen.start.line - 1]
    inserted = chosen.snippet if snippet and chosen.snippet is not None else chosen.insert
    lines[chosen.start.line - 1] = row[: chosen.start.column - 1] + inserted + row[chosen.end.column - 1 :]
    return "\n".join(lines)
