"""Compares what was played with what must happen, and says what differs."""

from collections.abc import Iterator

from bt_runtime import NodeDefinition, Status, TickRecord
from bt_runtime.text import Mistake, format_mistakes, phrases, visible
from bt_runtime.text.data import dataclass
from oracle.core.chunks import Done
from oracle.features.scenarios.expectations import EXPECTATIONS, Deviation, short_name, shown
from oracle.features.scenarios.model import Scenario
from oracle.features.scenarios.played import Played
from signals import parse

_MUST_EXPLAIN = frozenset({"max_iterations", "token_budget", "timeout", "no_progress", "error_limit", "error", "stuck"})

_MOST_LINES = 40
_SHOWN_KEYS = frozenset({"signal", "intent", "termination_reason", "cancel_requested"})
_GUARDS = frozenset({"cancelled", "turn_budget", "token_budget", "deadline", "no_progress", "error_limit"})
_MARKS = {Status.SUCCESS: "", Status.FAILURE: " failed", Status.RUNNING: " …", Status.INVALID: " halted"}


@dataclass(frozen=True, slots=True)
class ScenarioVerdict:
    """How a scenario went.

    Args:
        differences: none if it passed.
        played: everything that happened.
    """

    scenario: Scenario
    played: Played
    differences: tuple[Deviation, ...]

    @property
    def passed(self) -> bool:
        """Whether everything is as stated."""
        return not self.differences

    def report(self, source: str) -> str:
        """The differences with their places, and what happened; empty if it passed.

        Args:
            source: the text of the scenario's file.
        """
        if self.passed:
            return ""
        blocks = []
        for each in self.differences:
            place = self.scenario.place_of(each.path)
            what = "/".join(map(str, each.path[:1])) or "a rule of every run"
            mistake = Mistake(place, f"{self.scenario.name}: {what}", each.hint)
            text = format_mistakes([mistake], {place.file: source})
            blocks.append(f"{text}\n  expected: {visible(each.stated)}\n  got:      {visible(each.got)}")
        story = "\n".join(f"    {visible(line)}" for line in _story_of(self.played))
        return "\n".join([*blocks, "  what happened:", story])


def judge(scenario: Scenario, played: Played) -> ScenarioVerdict:
    """Compare."""
    found = [
        difference
        for name, stated in scenario.expect.items()
        for difference in EXPECTATIONS[name].compare((name,), stated, played)
    ]
    return ScenarioVerdict(scenario, played, (*found, *_rules(played)))


def _rules(played: Played) -> Iterator[Deviation]:
    """What holds for every query, and is not stated."""
    ends = [chunk for chunk in played.chunks if isinstance(chunk, Done)]
    if len(ends) != 1 or not isinstance(played.chunks[-1], Done):
        yield Deviation((), "one 'done', as the last chunk", f"{len(ends)} of them")
        return
    answer = played.answer
    if answer.text != played.saved:
        yield Deviation((), f"the conversation keeps the answer {shown(answer.text)}", shown(played.saved))
    if parse(answer.text).readings:
        yield Deviation((), "no signal in the answer", shown(answer.text))
    if answer.open_calls:
        names = ", ".join(call.name for call in answer.open_calls)
        yield Deviation((), "a result for each tool call", f"none for {names}")
    if ends[0].termination_reason in _MUST_EXPLAIN and "Stopped: " not in answer.text:
        yield Deviation((), "a last sentence that says why the run stopped", shown(answer.text))
    if played.turns_played < played.turns_scripted:
        stated = f"all {played.turns_scripted} turns of the model are played"
        yield Deviation((), stated, f"only {played.turns_played} were asked for")
    elif len(played.requests) > played.turns_scripted:
        stated = f"the model is asked {phrases.counted(played.turns_scripted, 'time')}, as scripted"
        yield Deviation((), stated, f"{len(played.requests)} requests")
    if played.decisions_left:
        stated = "all scripted decisions of people are asked for"
        yield Deviation((), stated, f"{phrases.counted(played.decisions_left, 'decision')} left")


def _story_of(played: Played) -> list[str]:
    """A line a tick: time, cause, the leaves that were visited, and what the blackboard learned."""
    nodes = played.tree.nodes()
    lines = [_line(record, nodes) for record in played.records]
    if len(lines) > _MOST_LINES:
        half = _MOST_LINES // 2
        lines = [*lines[:half], f"… {len(lines) - 2 * half} more ticks …", *lines[-half:]]
    done = played.done
    if done is not None:
        lines.append(f"done: {done.termination_reason} after {done.turns} turns, {done.tokens_used:,} tokens")
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
