"""The headline of a tick: when it was and what caused it, and in a sentence what was decided."""

import re
from collections.abc import Iterator

from bt_runtime import forced_path
from bt_runtime.text.phrases import counted
from oracle.cli.run_view.choosing import decision_of
from oracle.cli.run_view.spans import Line, Span, line, safe, shortened, wrapped
from oracle.cli.run_view.words import seconds, value_of
from oracle.histories import History
from oracle.histories.debugged import debug_words
from oracle.histories.model import TickFacts

_FIRST = re.compile(r"^(.+?[.!?])(?=\s|$)")


def headline(history: History, tick: TickFacts, width: int) -> Iterator[Line]:
    """Which tick, and its sentence, the first part of it strong."""
    number = f"tick {tick.tick} of {len(history.ticks)}"
    rest = f" · turn {tick.turn} · {seconds(tick.at_s, places=2)} · {cause_of(tick)}"
    if tick.took_ms >= 1:
        rest += f" · took {tick.took_ms:.0f} ms"
    yield line(Span(number, "strong"), Span(shortened(rest, width - len(number)), "dim"))
    sentence = sentence_of(history, tick)
    first = _FIRST.match(sentence)
    bold = len(first[1]) if first else len(sentence)
    for part in wrapped(sentence, width):
        strong, plain = part[: max(0, bold)], part[max(0, bold) :]
        bold -= len(part) + 1
        yield line(Span(strong, "strong"), Span(plain))


def operated(history: History, tick: TickFacts, width: int) -> Iterator[Line]:
    """What operators did with the debugger before the tick, or after the last one."""
    is_last = history.ticks[-1] is tick
    for name, done in (
        ("Before this tick: ", [each for each in history.debug if each.tick == tick.tick]),
        ("After this tick: ", [each for each in history.debug if is_last and each.tick > tick.tick]),
    ):
        if done:
            said = "; ".join(safe(debug_words(history, each)) for each in done)
            yield from (line(Span(part, "warn")) for part in wrapped(f"{name}{said}.", width))


def sentence_of(history: History, tick: TickFacts) -> str:
    """What happened in the tick, of the one that decided the end also why it ended, and for operators the cause."""
    end = history.end if history.end is not None and history.end.tick == tick.tick else None
    ended = end.sentence if end is not None and end.sentence.rstrip(".") not in tick.headline else ""
    cause = f"Cause: {end.cause}" if end is not None and end.cause else ""
    if tick.headline or ended:
        return safe(" ".join(filter(None, (tick.headline, ended, cause))))
    decision = decision_of(history, tick)
    if decision is not None and history.tree is not None:
        node = history.tree.nodes[decision]
        return f"Decided by {safe(node.name or node.kind)} in {safe(node.file)}:{node.line}."
    return ""


def cause_of(tick: TickFacts) -> str:
    """Why there was a tick: `llm_turn answered`."""
    names = [_name(cause) for cause in tick.causes]
    who = ", ".join(dict.fromkeys(names[:3])) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    match tick.cause:
        case "start":
            return "the query begins"
        case "outcome":
            return f"{who or 'a request'} answered"
        case "deadline":
            return f"a time was reached{f' for {who}' if who else ''}"
        case "delivery":
            said = ", ".join(_delivered(key, value) for key, value in tick.deliveries[:3])
            return f"from outside: {said or counted(len(tick.deliveries), 'value')}"
        case "again":
            return f"{who} goes on" if who else "the tree goes on"
        case "end":
            return "what was under way was halted"


def _delivered(key: str, value: object) -> str:
    path = forced_path(key)
    if path is not None:
        return f"{_name(path)} forced to {safe(str(value))}"
    return f"{safe(key)} {value_of(value, longest=30)}"


def _name(cause: str) -> str:
    """The node behind a cause: the last part of its path, without the number of the request."""
    return safe(cause.rpartition("/")[2].partition("@")[0].partition("#")[0])
