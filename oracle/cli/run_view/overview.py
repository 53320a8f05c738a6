"""The head of a run, and its overview in true time: turns, tools, notifications, and how much of the limits is used."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len

from bt_runtime.text.phrases import counted
from oracle.cli.run_view.spans import Line, Span, Style, line, safe, shortened
from oracle.cli.run_view.words import moment, outcome, seconds, short_notice, thousands, tree_label
from oracle.histories import History
from oracle.histories.model import RunFacts, TickFacts

_LABEL = 12
_METERS = (10, 6, 4)
_GAP = 3
_WARNED_AT = 0.7


def head(run: RunFacts, width: int, *, lasted_s: float) -> list[Line]:
    """Which run, what was asked, how it ended; what drove it and what it has used."""
    ended = outcome(run)
    room = width - 14 - cell_len(ended.text) - 2
    question = shortened(safe(run.question) or ("(its texts were deleted)" if run.kept == "gone" else ""), room)
    gap = " " * max(2, room + 2 - cell_len(question))
    about = (
        tree_label(run),
        safe(run.model or ""),
        counted(run.turns, "turn"),
        counted(run.tokens_used, "token") + (" (estimated)" if run.tokens_estimated else ""),
        seconds(lasted_s),
        moment(run.created_at),
    )
    facts = shortened(" · ".join(part for part in about if part), width)
    return [
        line(Span(f"run {safe(run.id)[:8]}  ", "dim"), Span(question, "strong"), gap, ended),
        line(Span(facts, "dim")),
    ]


def so_far(history: History) -> RunFacts:
    """The row of the run; of one that is under way with the figures of its turns, which the row has only at the end."""
    turns = [turn for turn in history.turns if turn.ended_s is not None]
    if history.run.status == "finished" or not turns:
        return history.run
    whole = [turn for turn in turns if not turn.error and not turn.interrupted]
    return replace(
        history.run,
        turns=len(whole),
        tokens_used=sum(turn.tokens for turn in turns),
        tokens_estimated=any(turn.estimated for turn in turns),
        model=turns[-1].model,
    )


@dataclass(frozen=True, slots=True)
class Scale:
    """Seconds of a run as columns."""

    end_s: float
    width: int

    def column(self, at_s: float) -> int:
        """Of a time."""
        if self.end_s <= 0:
            return 0
        return max(0, min(self.width - 1, int(at_s / self.end_s * self.width)))


def overview(history: History, tick: TickFacts | None, width: int, *, end_s: float) -> list[Line]:
    """The lanes; the limits as they stood at the tick."""
    scale = Scale(end_s, width - _LABEL)
    lanes: list[tuple[str, Sequence[Span]]] = []
    if history.turns:
        lanes += [("turn", _turns(history, scale)), ("model", _model(history, scale))]
    lanes.append(("tools", _tools(history, scale)))
    if history.notices:
        lanes.append(("notices", _notices(history, scale)))
    lanes.append(("limits", list(_limits(history, tick, scale.width + _GAP))))
    lines = [line(Span(f"  {name:<{_LABEL - 2}}", "dim"), *spans) for name, spans in lanes if spans]
    return [each.fitted(width) for each in lines]


class _Lane:
    """Cells that are drawn one over the other."""

    def __init__(self, width: int) -> None:
        self._cells: list[tuple[str, Style] | None] = [None] * width

    def draw(self, column: int, drawn: str, style: Style) -> None:
        """Draw from that column on; what does not fit is left out."""
        for offset, character in enumerate(drawn):
            if 0 <= column + offset < len(self._cells):
                self._cells[column + offset] = (character, style)

    def is_free(self, start: int, end: int) -> bool:
        """Whether nothing is drawn there, and it is all in the lane."""
        return end <= len(self._cells) and all(cell is None for cell in self._cells[start:end])

    def spans(self) -> list[Span]:
        """What is drawn, each run of one style as one span."""
        found: list[Span] = []
        for cell in self._cells:
            character, style = cell or (" ", "plain")
            if found and found[-1].style == style:
                found[-1] = Span(found[-1].text + character, style)
            else:
                found.append(Span(character, style))
        return found


def _turns(history: History, scale: Scale) -> list[Span]:
    lane = _Lane(scale.width)
    for turn in history.turns:
        column, label = scale.column(turn.began_s), str(turn.n)
        if lane.is_free(max(0, column - 1), min(scale.width, column + len(label))):
            lane.draw(column, label, "plain")
    return lane.spans()


def _model(history: History, scale: Scale) -> list[Span]:
    lane = _Lane(scale.width)
    starts = [scale.column(turn.began_s) for turn in history.turns]
    for position, (turn, start) in enumerate(zip(history.turns, starts, strict=True)):
        end = scale.width if turn.ended_s is None else scale.column(turn.ended_s) + 1
        following = starts[position + 1] if position + 1 < len(starts) else None
        if following is not None and end >= following > start + 1:
            end = following - 1  # a gap, so that turns can be counted
        lane.draw(start, "█" * max(1, end - start), "err" if turn.error else "run")
    return lane.spans()


def _tools(history: History, scale: Scale) -> list[Span]:
    lane = _Lane(scale.width)
    for call in history.calls:
        start = scale.column(call.began_s)
        end = start if call.ended_s is None else scale.column(call.ended_s)
        lane.draw(start, "▪" * max(1, end - start), "fail" if call.is_error else "plain")
    return lane.spans() if history.calls else []


def _notices(history: History, scale: Scale) -> list[Span]:
    lane = _Lane(scale.width)
    for notice in history.notices:
        lane.draw(scale.column(notice.at_s), "▲", "warn")
    for notice in history.notices:
        column, label = scale.column(notice.at_s), short_notice(notice.type, notice.text)
        right, left = column + 2, column - 1 - len(label)
        if lane.is_free(column + 1, right + len(label) + 1) or (
            right + len(label) == scale.width and lane.is_free(column + 1, scale.width)
        ):
            lane.draw(right, label, "warn")
        elif left >= 0 and lane.is_free(max(0, left - 1), column):
            lane.draw(left, label, "warn")
    return lane.spans()


def _limits(history: History, tick: TickFacts | None, width: int) -> Iterator[Span]:
    used = limits_at(history, tick)
    meters = [
        (f"turns {used.turns}/{used.most_turns}", used.turns, used.most_turns),
        (f"tokens {thousands(used.tokens)}/{thousands(used.most_tokens)}", used.tokens, used.most_tokens),
        (f"time {used.seconds:.1f}/{used.most_seconds:g} s", used.seconds, used.most_seconds),
    ]
    known = [(label, value / most) for label, value, most in meters if most]
    labels = sum(len(label) + _GAP for label, _ in known)
    cells = next((size for size in _METERS if labels + len(known) * (size + 3) - _GAP <= width), 0)
    for position, (label, share) in enumerate(known):
        style: Style = "warn" if share >= _WARNED_AT else "plain"
        full = max(0, min(cells, round(share * cells)))
        yield Span(("   " if position else "") + label, style)
        if cells:
            yield Span(" [", "dim")
            yield Span("█" * full, style)
            yield Span("·" * (cells - full) + "]", "dim")


@dataclass(frozen=True, slots=True)
class Limits:
    """What was used of the limits, and the limits; 0 as a limit: it is not known."""

    turns: int
    most_turns: float
    tokens: int
    most_tokens: float
    seconds: float
    most_seconds: float


def limits_at(history: History, tick: TickFacts | None) -> Limits:
    """As they stood at the tick; `None`: at the end."""
    most_turns = float(history.run.limits.get("max_iterations", 0))
    of_tree = next((key.value for key in history.keys if key.name == "max_turns"), None)
    if isinstance(of_tree, int) and not isinstance(of_tree, bool) and of_tree > 0:
        most_turns = min(most_turns or of_tree, of_tree)
    finished = [turn for turn in history.turns if tick is None or (turn.ended_tick or 0) <= tick.tick]
    finished = [turn for turn in finished if turn.ended_tick is not None]
    return Limits(
        tick.turn if tick else history.run.turns,
        int(most_turns),
        sum(turn.tokens for turn in finished) if tick else history.run.tokens_used,
        float(history.run.limits.get("token_budget", 0)),
        tick.at_s if tick else history.ticks[-1].at_s if history.ticks else 0.0,
        float(history.run.limits.get("timeout_seconds", 0)),
    )
