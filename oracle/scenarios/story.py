"""A played scenario in a few lines: what each tick was about."""

from collections.abc import Iterator

from bt_runtime import NodeDefinition, Status, TickRecord
from oracle.scenarios.differences import shown
from oracle.scenarios.nodes import short_name
from oracle.scenarios.played import Played

_MOST_LINES = 40
_SHOWN_KEYS = frozenset({"signal", "intent", "termination_reason", "cancel_requested"})
_GUARDS = frozenset({"cancelled", "turn_budget", "token_budget", "deadline", "no_progress", "error_limit"})
_MARKS = {Status.SUCCESS: "", Status.FAILURE: " failed", Status.RUNNING: " …", Status.INVALID: " halted"}


def story_of(played: Played) -> list[str]:
    """A line a tick: time, cause, the leaves that were visited, and what the blackboard learned."""
    nodes = played.tree.nodes()
    lines = [_line(record, nodes) for record in played.records]
    if len(lines) > _MOST_LINES:
        half = _MOST_LINES // 2
        lines = [*lines[:half], f"… {len(lines) - 2 * half} more ticks …", *lines[-half:]]
    done = played.done
    if done is not None:
        lines.append(f"done: {done.termination_reason} after {done.turns} turns, {done.tokens_used:,} tokens")
    if played.turns_played == played.turns_scripted and len(played.requests) > played.turns_scripted:
        lines.append(f"the script has {played.turns_scripted} turns, and one more was asked for")
    return lines


def _line(record: TickRecord, nodes: tuple[NodeDefinition, ...]) -> str:
    changed = dict(record.changes)
    leaves = ", ".join(_leaves(record, nodes, changed))
    written = "; ".join(f"{key} = {shown(value)}" for key, value in record.writes if key in _SHOWN_KEYS and value)
    cause = record.cause if record.cause != "outcome" else "outcome of " + ", ".join(_label(c) for c in record.causes)
    line = f"tick {record.tick} at {record.at_s:g} s ({cause}): {leaves}"
    return f"{line} [{written}]" if written else line


def _leaves(record: TickRecord, nodes: tuple[NodeDefinition, ...], changed: dict[int, Status]) -> Iterator[str]:
    for index in record.visited:
        node = nodes[index]
        if node.children:
            continue
        status = changed.get(index)
        if status is not None and not _is_quiet(node, status):
            yield f"{_named(node)}{_MARKS[status]}"
    for error in record.errors:
        yield f"{_label(error.path)} raised {error.error}"


def _is_quiet(node: NodeDefinition, status: Status) -> bool:
    """What every tick shows: guards that let the query go on, and conditions that do not hold."""
    if node.kind == "condition":
        return status is Status.FAILURE
    return node.kind in _GUARDS and status is Status.SUCCESS


def _named(node: NodeDefinition) -> str:
    """The node for a reader; an unnamed condition by its expression."""
    if node.name is None and node.kind == "condition":
        return f"({getattr(node.settings, 'when', '')})"
    return short_name(node)


def _label(path: str) -> str:
    return path.rpartition("/")[2]
