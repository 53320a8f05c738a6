"""The tables of a run and of a comparison, and how they look as text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.eval import figures
from benchmarks.eval.record import Answer, Run
from benchmarks.habits.players import PLAYERS, PlayerName
from benchmarks.habits.summary import loss_of, saved_share
from bt_runtime.text import visible

NAMES: tuple[PlayerName, ...] = tuple(player.name for player in PLAYERS)


@dataclass(frozen=True)
class Table:
    """Rows of text.

    Args:
        note: how to read it.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def lines(self) -> list[str]:
        """The table for a terminal."""
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        body = [
            "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            for row in (self.head, *self.rows)
        ]
        return [self.title, *(line.rstrip() for line in body), *([f"  ({self.note})"] if self.note else []), ""]


def heading(run: Run) -> list[str]:
    """What was asked of whom, and what it cost."""
    spent, asked = run.spent, len(run.tasks) * len(NAMES)
    guessed = f" ({spent.estimated} of them estimated)" if spent.estimated else ""
    return [
        f"{len(run.answers)} of {asked} answers of {run.model}, begun {run.began_at}"
        + (f"; stopped: {run.stopped}" if run.stopped else ""),
        f"${spent.dollars:.2f} at the list prices of {run.prices_of}, in {spent.requests:,} requests{guessed}",
        (
            f"tokens: {spent.input_tokens:,} in, {spent.cache_write_tokens:,} written to the cache, "
            f"{spent.cache_read_tokens:,} read from it, {spent.output_tokens:,} out"
        ),
        f"the judge is {run.judge or 'left out'}; tree {run.trees}; up to {run.thinking_tokens:,} tokens of thinking",
    ]


def tables(run: Run) -> list[Table]:
    """A run: each control, the tree against the others, and the answers that were lost."""
    whole = [task for task in run.tasks if all(run.answer(task, name) for name in NAMES)]
    of = {name: [each for task in whole if (each := run.answer(task, name))] for name in NAMES}
    if not whole:
        return []
    found = [_controls(run, of), _lost(of)]
    found += [_against(name, list(zip(of[name], of["tree"], strict=True))) for name in NAMES[1:]]
    return found


def compared(old: Run, new: Run) -> list[Table]:
    """Two runs: what moved, and which answers flipped, of the conversations that both have."""
    found: list[Table] = []
    for name in NAMES:
        pairs = [
            (before, after)
            for task in old.tasks
            if (before := old.answer(task, name)) and (after := new.answer(task, name))
        ]
        if pairs:
            flipped = figures.flips(pairs).values()
            title = f"{name}, {len(pairs)} conversations: old, new"
            found += [_changes(title, ("old", "new"), pairs)]
            rows = tuple((after.task, _ended(before), _ended(after)) for before, after in flipped)
            found += [Table(f"{name}: answers that flipped", ("", "old", "new"), rows)] if rows else []
    return found


def _controls(run: Run, of: dict[PlayerName, list[Answer]]) -> Table:
    rows = [_row(measure, of) for measure in figures.MEASURES]
    for name, cost in (("unneeded calls", "unneeded_calls"), ("unneeded turns", "unneeded_turns")):
        cells = []
        for player in NAMES[:-1]:
            pairs = [(now.score, old.score) for now, old in zip(of[player], of["legacy"], strict=True)]
            saved = saved_share(pairs, lambda score, cost=cost: getattr(score, cost))  # type: ignore[misc]
            cells.append("-" if saved is None else saved.as_percent())
        rows.append((f"{name}, less than legacy", *cells, "", ""))
    if run.verdicts:
        flat = [verdict for pair in run.verdicts.values() for verdict in pair]
        of_both = (f"{flat.count('tree')} times", f"{flat.count('loop')} times")
        neither = f"same {flat.count('same')}, unclear {flat.count('?')}"
        rows.append(("judged better, in both orders", *of_both, neither, "tree + same >= loop: 020 SC-005"))
    return Table(
        f"{len(of['tree'])} conversations, each under every control",
        ("a conversation", *NAMES, "aim"),
        tuple(rows),
        "means and shares, with intervals at 95 % over the conversations",
    )


def _row(measure: figures.Measure, of: dict[PlayerName, list[Answer]]) -> tuple[str, ...]:
    cells = []
    for name in NAMES:
        found = figures.estimate(measure, of[name])
        cells.append("-" if found is None else measure.shown_with_interval(found))
    return (measure.name, *cells, measure.aim)


def _lost(of: dict[PlayerName, list[Answer]]) -> Table:
    """The answers that one control gives and another does not, by name."""
    flipped = [each for each in zip(*of.values(), strict=True) if len({one.score.is_complete for one in each}) > 1]
    rows = []
    for answers in flipped:
        given = next(each.score for each in answers if each.score.is_complete)
        rows.append((answers[0].task, *(_ended(each, loss_of(each.score, given)) for each in answers)))
    counts = [sum(not each.score.is_complete for each in answers) for answers in zip(*flipped, strict=True)]
    return Table(
        "answers that one control gives and another loses",
        ("", *NAMES),
        (("lost", *map(str, counts or [0] * len(NAMES))), *rows),
        "lost: by detection, by the user's limits, or short: answered too soon",
    )


def _against(name: PlayerName, pairs: figures.Pairs) -> Table:
    return _changes(f"the tree against {name}, conversation by conversation", (name, "tree"), pairs)


def _changes(title: str, sides: tuple[str, str], pairs: figures.Pairs) -> Table:
    found = figures.changes(pairs)
    rows = [
        (by.name, by.shown(each.before), by.shown(each.after), by.shown_with_interval(each.change, sign="+"), verdict)
        for each, verdict in zip(found, figures.verdicts(found), strict=True)
        for by in (each.measure,)
        if each.has_moved
    ]
    note = f"of {len(found)} figures; beyond chance: also after correction for their number; perhaps: only by itself"
    return Table(title, ("", *sides, "change", ""), tuple(rows) or (("none has moved", "", "", "", ""),), note)


def _ended(answer: Answer, loss: str | None = None) -> str:
    if answer.score.is_complete:
        return "complete"
    score = answer.score
    return f"{f'lost ({loss}), ' if loss else ''}{score.facts_said}/{score.facts} facts, {', '.join(score.reasons)}"


def progress(answer: Answer) -> str:
    """A line for an answer that has just been given."""
    score = answer.score
    return (
        f"{answer.task:<20} {answer.player:<7} {score.turns:2} turns, {score.calls:2} calls, "
        f"{score.unneeded_calls:2} unneeded, {score.tokens:6,} tokens, ${answer.spent.dollars:.3f}, "
        f"{score.facts_said}/{score.facts} facts, {', '.join(score.reasons)}"
    )


def text(lines: Sequence[str], found: Iterable[Table]) -> str:
    """Headings and tables for a terminal; names of models and words of the provider may hold anything."""
    return "\n".join(map(visible, ["", *lines, "", *(line for table in found for line in table.lines())]))
