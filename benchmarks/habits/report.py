"""The figures as text and as JSON."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.habits.players import PLAYERS, PlayerName
from benchmarks.habits.playing import Played
from benchmarks.habits.scores import Score
from benchmarks.habits.summary import Figure, Summary, loss_of, pairs_of, summary

NAMES: tuple[PlayerName, ...] = tuple(player.name for player in PLAYERS)
HEADLINE = 0.5
"""The obedience of the tables that have one only."""
_AIMS = {
    "unneeded calls, less than legacy": "50 %: 020 SC-003",
    "unneeded turns, less than legacy": "30 %: 012 SC-006",
    "ended within the budget": "99 %: 020 SC-004",
    "answers lost, by detection": "0",
    "answers lost, by answering too soon": "0",
}


def lines(played: Sequence[Played], *, worst: int) -> list[str]:
    """The whole report.

    Args:
        played: conversations under every control, at one obedience or several.
        worst: how many conversations to list in which the tree loses or wastes most.
    """
    headline = at_headline(played)
    obediences = sorted({each.obedience for each in played})
    old = [each for each in headline if not each.conversation.is_good]
    good = [each for each in headline if each.conversation.is_good]
    found: list[str] = []
    for title, some in (("agents with old habits", old), ("good agents", good)):
        if some:
            count = len({each.conversation.name for each in some})
            found += [f"{count} {title}, obedience {headline[0].obedience:g}", *table(some), ""]
    if old:
        found += ["by habit, each of tree, loop, legacy; sums over its conversations", *_by_habit(old), ""]
    if len(obediences) > 1:
        found += ["by obedience, agents with old habits", *_by_obedience(played, obediences), ""]
    return [*found, f"where the tree loses or wastes most, of all agents ({worst} worst)", *_worst(headline, worst)]


def at_headline(played: Iterable[Played]) -> list[Played]:
    """The conversations at the obedience of the headline, or at the middle one of those that were played."""
    known = list(played)
    obediences = sorted({each.obedience for each in known})
    chosen = HEADLINE if HEADLINE in obediences else obediences[len(obediences) // 2]
    return [each for each in known if each.obedience == chosen]


def table(played: Sequence[Played]) -> list[str]:
    """All figures of the controls side by side."""
    of = {name: summary(pairs_of(played, name)) for name in NAMES}
    rows: list[tuple[str, list[str]]] = [
        ("tool calls", [f"{of[name].calls:.1f}" for name in NAMES]),
        ("unneeded calls", [f"{of[name].unneeded_calls:.1f}" for name in NAMES]),
        ("unneeded calls, less than legacy", [_percent(of[name].fewer_calls) for name in NAMES[:-1]]),
        ("  the same, where both are complete", [_percent(of[name].fewer_calls_of_whole) for name in NAMES[:-1]]),
        ("turns", [f"{of[name].turns:.1f}" for name in NAMES]),
        ("unneeded turns", [f"{of[name].unneeded_turns:.1f}" for name in NAMES]),
        ("unneeded turns, less than legacy", [_percent(of[name].fewer_turns) for name in NAMES[:-1]]),
        ("tokens", [f"{of[name].tokens:,.0f}" for name in NAMES]),
        ("ended within the budget", [of[name].within_budget.as_percent() for name in NAMES]),
        ("complete answers", [of[name].complete.as_percent() for name in NAMES]),
        ("answers lost, by detection", [str(of[name].lost["detection"]) for name in NAMES[:-1]]),
        ("answers lost, by the user's limits", [str(of[name].lost["limits"]) for name in NAMES[:-1]]),
        ("answers lost, by answering too soon", [str(of[name].lost["short"]) for name in NAMES[:-1]]),
        ("answers won", [str(of[name].won) for name in NAMES[:-1]]),
    ]
    head = f"  {'':<38}" + "".join(f"{name:<26}" for name in NAMES) + "aim"
    body = [
        f"  {name:<38}" + "".join(f"{cell:<26}" for cell in (*cells, "")[: len(NAMES)]) + _AIMS.get(name, "")
        for name, cells in rows
    ]
    return [head, *(line.rstrip() for line in body)]


def figures(played: Sequence[Played]) -> dict[str, Any]:
    """Everything as JSON: the summaries by kind of agent, obedience and control, and each conversation."""
    summaries = [
        {"agents": kind, "obedience": obedience, "player": name, **asdict(summary(pairs_of(some, name)))}
        for kind, is_good in (("old habits", False), ("good", True))
        for obedience in sorted({each.obedience for each in played})
        if (some := [each for each in played if each.obedience == obedience and each.conversation.is_good == is_good])
        for name in NAMES
    ]
    each = [
        {
            "habit": one.conversation.habit,
            "task": one.conversation.task.name,
            "language": one.conversation.task.language,
            "player": one.player,
            "obedience": one.obedience,
            **asdict(one.score),
        }
        for one in played
    ]
    return {"summaries": summaries, "conversations": each}


def _percent(figure: Figure | None) -> str:
    return "-" if figure is None else figure.as_percent()


def _lost(of: Summary) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in of.lost.items() if count)
    return f"{sum(of.lost.values())}" + (f" ({kinds})" if kinds else "")


def _by_habit(played: Sequence[Played]) -> list[str]:
    habits = dict.fromkeys(each.conversation.habit for each in played)
    head = f"  {'':<28}{'unneeded calls':<17} {'unneeded turns':<17} complete answers"
    return [head] + [
        f"  {habit:<28}{_habit([each for each in played if each.conversation.habit == habit])}" for habit in habits
    ]


def _habit(played: Sequence[Played]) -> str:
    scores = {name: [each.score for each in played if each.player == name] for name in NAMES}

    def three(value: Mapping[PlayerName, int]) -> str:
        return " ".join(f"{value[name]:>4}" for name in NAMES)

    calls = three({name: sum(score.unneeded_calls for score in scores[name]) for name in NAMES})
    turns = three({name: sum(score.unneeded_turns for score in scores[name]) for name in NAMES})
    complete = three({name: sum(score.is_complete for score in scores[name]) for name in NAMES})
    return f"{calls}    {turns}    {complete}  of {len(scores['tree'])}"


def _by_obedience(played: Sequence[Played], obediences: Sequence[float]) -> list[str]:
    heads = ("unneeded calls saved", "unneeded turns saved", "within budget", "complete")
    found = ["  " + " " * 20 + "".join(f"{head:<24}" for head in heads) + "answers lost"]
    for obedience in obediences:
        some = [each for each in played if each.obedience == obedience and not each.conversation.is_good]
        for name in NAMES:
            of = summary(pairs_of(some, name))
            saved = ("", "") if name == "legacy" else (_percent(of.fewer_calls), _percent(of.fewer_turns))
            lost = "" if name == "legacy" else _lost(of)
            found.append(
                f"  {obedience:<12g}{name:<8}{saved[0]:<24}{saved[1]:<24}{of.within_budget.as_percent():<24}"
                f"{of.complete.as_percent():<24}{lost}".rstrip()
            )
    return found


def _worst(played: Sequence[Played], count: int) -> list[str]:
    before = {each.conversation.name: each.score for each in played if each.player == "legacy"}
    ranked = sorted(
        (each for each in played if each.player == "tree"),
        key=lambda each: (
            loss_of(each.score, before[each.conversation.name]) is None,
            each.score.is_complete,
            -each.score.unneeded_calls,
        ),
    )
    return [
        f"  {each.conversation.name:<48}{_what(each.score, before[each.conversation.name])}"
        for each in ranked[:count]
        if not each.score.is_complete or each.score.unneeded_calls
    ]


def _what(now: Score, before: Score) -> str:
    """What went wrong, in words."""
    loss = loss_of(now, before)
    ended = f"ended as {', '.join(now.reasons)} in turn {now.turns}"
    wasted = f"{now.unneeded_calls} unneeded calls (legacy {before.unneeded_calls})"
    facts = f"{now.facts_said}/{now.facts} facts"
    if loss is not None:
        return f"answer lost ({loss}): {facts}; {ended}, legacy had it in turn {before.turns}; {wasted}"
    if not now.is_complete:
        return f"incomplete, as under legacy: {facts}; {ended}; {wasted}"
    first = f": {', '.join(dict.fromkeys(now.wasted[:3]))}" if now.wasted else ""
    return f"{wasted}{first}; {ended}"
