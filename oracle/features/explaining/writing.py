"""A table as text or Markdown."""

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from bt_runtime import NodeDefinition
from bt_runtime.text.phrases import counted
from oracle.features.explaining.table import MOST_UNREACHED, Row, Table


def as_text(table: Table) -> str:
    """A sentence for each row."""
    lines = [f"{table.tree.name}: {table.tree.description}".rstrip(": ")]
    lines += [_offer(table)] if table.offered else []
    lines += [f"- When {_sentence_of(row)}" for row in table.page]
    return "\n".join([*lines, *_rest(table)])


def as_markdown(table: Table) -> str:
    """A table with a line for each row."""
    lines = [
        f"### `{table.tree.name}`",
        "",
        "| when | the tree does | the user sees | it ends as |",
        "|---|---|---|---|",
    ]
    for row in table.page:
        told = row.told
        lines.append("| " + " | ".join(map(in_cell, (row.when, told.does, told.sees, told.ends))) + " |")
    return "\n".join([*lines, "", *_rest(table)])


def _offer(table: Table) -> str:
    return f"Tools of the first turn, by the type of the question: {table.offered}."


def _sentence_of(row: Row) -> str:
    """The row, to follow the word "When"."""
    broken = sorted({rule for case in row.cases for rule in case.broken})
    breaks = f" BREAKS THE RULE {', '.join(broken)}." if broken else ""
    return f"{row.when}: {row.told.sentence}{breaks}"


def in_cell(text: str) -> str:
    """A text as it can stand in a cell of a Markdown table."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _rest(table: Table) -> Iterator[str]:
    if more := len(table.rows) - len(table.page):
        yield f"{more} further rows are left out; `--format json` has all."
    if any("by the floor" in row.told.ends for row in table.rows):
        yield "By the floor: limits that hold for every tree ended it, before any guard; a tree need not have one."
    own = [node for node in table.unreached if node.place.file == table.tree.file]
    if own:
        yield f"No situation reaches: {_listed([named(each) for each in own])}."
    if parts := {PurePath(each.place.file).stem for each in table.unreached} - {PurePath(table.tree.file).stem}:
        count = counted(len(table.unreached) - len(own), "node")
        yield f"Of the included trees ({', '.join(sorted(parts))}), {count} and what is below are reached by none."
    if table.left_out:
        yield f"Not played for want of time: {_listed(table.left_out)}."


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_UNREACHED
    return ", ".join(names[:MOST_UNREACHED]) + (f" and {more} more" if more > 0 else "")


def named(node: NodeDefinition) -> str:
    """A node with its place."""
    return f"{node.title} ({PurePath(node.place.file).name}:{node.place.line})"
