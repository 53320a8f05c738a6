"""The head of a run, and its overview in true time: turns, tools, notifications, and how much of the limits is used."""

from collections.abc import Sequence
from dataclasses import replace

from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from bt_runtime.text.phrases import counted
from oracle.cli.people import STATES
from oracle.cli.run_view import words
from oracle.core.chunks import Interrupt
from oracle.replay.histories.model import History, RunFacts, TickFacts, TurnFacts

_LABEL = 12
_METERS = (10, 6, 4)
_GAP = 3
_WARNED_AT = 0.7


def head(run: RunFacts, turns: Sequence[TurnFacts], *, lasted_s: float) -> list[RenderableType]:
    """Which run, what was asked, how it ended; what drove it and what it has used.

    Args:
        run: the row.
        turns: of the model; those that have failed or were interrupted are named apart, as no limit counts them.
        lasted_s: until its end, or until now.
    """
    question = words.safe(run.question) or ("(its texts were deleted)" if run.kept == "gone" else "")
    about = (
        words.tree_label(run),
        words.safe(run.model or ""),
        _counted_turns(run, turns),
        counted(run.tokens_used, "token") + (" (estimated)" if run.tokens_estimated else ""),
        words.seconds(lasted_s),
        words.moment(run.created_at),
        f"rated {run.feedback.rating}" if run.feedback else "",
    )
    first = Table.grid(Column(no_wrap=True), Column(ratio=1), Column(no_wrap=True), padding=(0, 2, 0, 0), expand=True)
    first.add_row(Text(f"run {words.safe(run.id)[:8]}", "dim"), words.line((question, "strong")), words.outcome(run))
    return [first, words.line((" · ".join(part for part in about if part), "dim"))]


def _counted_turns(run: RunFacts, turns: Sequence[TurnFacts]) -> str:
    """`2 turns, 1 failed attempt, 1 interrupted`."""
    interrupted = sum(turn.interrupted for turn in turns)
    failed = sum(bool(turn.error) and not turn.interrupted for turn in turns)
    others = (counted(failed, "failed attempt") if failed else "", f"{interrupted} interrupted" if interrupted else "")
    return ", ".join(filter(None, (counted(run.turns, "turn"), *others)))


def so_far(history: History) -> RunFacts:
    """The row of the run; of one that is under way with the figures of its turns, which the row has only at the end."""
    turns = [turn for turn in history.turns if turn.ended_s is not None]
    if history.run.status == "finished" or not turns:
        return history.run
    return replace(
        history.run,
        turns=sum(not turn.error and not turn.interrupted for turn in turns),
        tokens_used=sum(turn.tokens for turn in turns),
        tokens_estimated=any(turn.estimated for turn in turns),
        model=turns[-1].model,
    )


def overview(history: History, tick: TickFacts | None, width: int, *, end_s: float) -> list[Text]:
    """The lanes; the limits as they stood at the tick."""
    room = width - _LABEL
    lanes: list[tuple[str, Text]] = []
    if history.turns:
        lanes += [("turn", _turns(history, room, end_s)), ("model", _model(history, room, end_s))]
    if history.calls:
        lanes.append(("tools", _tools(history, room, end_s)))
    notices = [(each.at_s, "▲", words.short_notice(each.type, each.text), "warn") for each in history.notices]
    asked = [(each.at_s, "?", _decided(each.interrupt), "strong") for each in history.interrupts]
    seams = [(each.at_s, "╎", f"after {each.pause_s:,.1f} s", "warn") for each in history.seams]
    marked = (("notices", notices), ("people", asked), ("workers", seams))
    lanes += [(name, _marked(marks, room, end_s)) for name, marks in marked if marks]
    limits = _limits(history, tick, room)
    lanes += [("limits", limits)] if limits.plain else []
    return [words.line((f"  {name:<{_LABEL - 2}}", "dim"), lane) for name, lane in lanes]


class Lane:
    """Cells of a time line, drawn one over the other."""

    def __init__(self, width: int, end_s: float) -> None:
        self.width = width
        self._end_s = end_s
        self._cells = [(" ", "")] * width

    def column(self, at_s: float) -> int:
        """Of a time, in seconds from the start."""
        return max(0, min(self.width - 1, int(at_s / self._end_s * self.width))) if self._end_s > 0 else 0

    def draw(self, column: int, drawn: str, style: str) -> None:
        """Draw from that column on; what does not fit is left out."""
        shown = drawn[: max(0, self.width - column)]
        self._cells[column : column + len(shown)] = [(character, style) for character in shown]

    def is_free(self, start: int, end: int) -> bool:
        """Whether nothing is drawn there, and it is all in the lane."""
        return end <= self.width and all(character == " " for character, _ in self._cells[max(0, start) : end])

    def text(self) -> Text:
        """What is drawn."""
        return words.cells(self._cells)


def _turns(history: History, width: int, end_s: float) -> Text:
    lane = Lane(width, end_s)
    for turn in history.turns:
        column, label = lane.column(turn.began_s), str(turn.n)
        if lane.is_free(column - 1, min(width, column + len(label))):
            lane.draw(column, label, "")
    return lane.text()


def _model(history: History, width: int, end_s: float) -> Text:
    lane = Lane(width, end_s)
    starts: Sequence[int] = [lane.column(turn.began_s) for turn in history.turns]
    for turn, start, following in zip(history.turns, starts, [*starts[1:], width + 1], strict=True):
        end = width if turn.ended_s is None else lane.column(turn.ended_s) + 1
        if end >= following > start + 1:
            end = following - 1  # a gap, so that turns can be counted
        lane.draw(start, "█" * max(1, end - start), "err" if turn.error else "run")
    return lane.text()


def _tools(history: History, width: int, end_s: float) -> Text:
    lane = Lane(width, end_s)
    for call in history.calls:
        start = lane.column(call.began_s)
        end = start if call.ended_s is None else lane.column(call.ended_s)
        lane.draw(start, "▪" * max(1, end - start), "fail" if call.is_error else "")
    return lane.text()


def _decided(interrupt: Interrupt) -> str:
    """What a person was asked, and what became of it: `vault_write approved`."""
    return " ".join(filter(None, (interrupt.tool_name and words.safe(interrupt.tool_name), STATES[interrupt.status])))


def _marked(marks: Sequence[tuple[float, str, str, str]], width: int, end_s: float) -> Text:
    """Marks at their times, each with its words where there is room: seconds, mark, words, style."""
    lane = Lane(width, end_s)
    for at_s, mark, _, style in marks:
        lane.draw(lane.column(at_s), mark, style)
    for at_s, _, label, style in marks:
        column = lane.column(at_s)
        right, left = column + 2, column - 1 - len(label)
        if right + len(label) <= width and lane.is_free(column + 1, min(width, right + len(label) + 1)):
            lane.draw(right, label, style)
        elif left >= 0 and lane.is_free(left - 1, column):
            lane.draw(left, label, style)
    return lane.text()


def _limits(history: History, tick: TickFacts | None, width: int) -> Text:
    """What was used of each limit that is known, with a meter where there is room."""
    limits, run = history.run.limits, history.run
    most_turns = int(limits.get("max_iterations", 0))
    of_tree = next((key.value for key in history.keys if key.name == "max_turns"), None)
    if isinstance(of_tree, int) and not isinstance(of_tree, bool) and of_tree > 0:
        most_turns = min(most_turns or of_tree, of_tree)
    most_tokens, most_s = float(limits.get("token_budget", 0)), float(limits.get("timeout_seconds", 0))
    turns, tokens, at_s = run.turns, run.tokens_used, history.ticks[-1].at_s if history.ticks else 0.0
    if tick is not None:
        ended = [turn for turn in history.turns if turn.ended_tick is not None and turn.ended_tick <= tick.tick]
        broken = sum(turn.interrupted or bool(turn.error) for turn in ended)
        turns, tokens, at_s = tick.turn - broken, sum(turn.tokens for turn in ended), tick.at_s
    known = [
        (label, used / most)
        for label, used, most in (
            (f"turns {turns}/{most_turns}", turns, most_turns),
            (f"tokens {words.thousands(tokens)}/{words.thousands(most_tokens)}", tokens, most_tokens),
            (f"time {at_s:.1f}/{most_s:g} s", at_s, most_s),
        )
        if most
    ]
    labels = sum(len(label) + _GAP for label, _ in known)
    size = next((size for size in _METERS if labels + len(known) * (size + 3) - _GAP <= width), 0)
    meters = []
    for label, share in known:
        style = "warn" if share >= _WARNED_AT else ""
        full = max(0, min(size, round(share * size)))
        meter = Text.assemble((" [", "dim"), ("█" * full, style), ("·" * (size - full) + "]", "dim"))
        meters.append(Text.assemble((label, style), meter if size else ""))
    return Text(" " * _GAP).join(meters)
