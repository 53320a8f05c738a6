"""How an agent reads what the control says, and whether it obeys.

Notes are read by their words, so a note that is worded anew is still understood; what has none of these words changes
nothing. An agent draws once per note, from a seed of its own: the first note that asks for another way is obeyed under
every control or under none, and so is each later one; and who obeys at 0.5 obeys at 1.0 as well.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Literal

Kind = Literal["answer", "conclude", "change", "signal", "none"]

_READINGS: tuple[tuple[Kind, str], ...] = (
    ("none", r"^more tools are offered|in the next turn|go on exactly where|^continue\.$"),
    ("change", r"another (approach|way)|other (search )?words|a different|rephras"),
    ("change", r"not (been )?(used|tried)|untried|do not repeat|try the tools|call the tools|change the call"),
    ("conclude", r"(only if|unless) .*\bmissing\b.*\blook\b|\bfurther calls? (is|are) run\b"),
    ("conclude", r"\bif\b[^.:;]*\b(have|found|enough|suffices?)\b[^.:;]*\banswer\b"),
    ("answer", r"\banswer now\b|answer from what|^answer\b|[.:;] answer\b"),
    ("answer", r"(write|give) (the|your|the part of the) answer"),
    ("answer", r"stop (gathering|searching)|not run any more|you have what you need|enough (sources|material)"),
    ("conclude", r"wrapping up|more concise|limit is near|approaching"),
    ("signal", r"\bsignal\b"),
)
"""The first that is found counts. So "take another way; if nothing is left, answer" is a request for another way, and
"answer; only if something is missing, look for that" one to do no more than what the answer needs."""


def kind_of(note: str) -> Kind:
    """What a note asks for."""
    folded = " ".join(note.casefold().split())
    return next((kind for kind, words in _READINGS if re.search(words, folded)), "none")


@dataclass(frozen=True)
class Advice:
    """What an agent takes from all notes of its query so far.

    Args:
        answer: to answer at once.
        conclude: to do only what the answer needs.
        change: to do what is sensible in this turn.
        signal: to end with a signal.
    """

    answer: bool = False
    conclude: bool = False
    change: bool = False
    signal: bool = False


def heeded(notes: Iterable[tuple[int, str]], *, last_turn: int, seed: str, obedience: float) -> Advice:
    """The advice that an agent obeys.

    Args:
        notes: after which turn each came, and its text.
        last_turn: the turn before the one that is asked for.
        seed: of the agent.
        obedience: the share of the notes that it obeys, from 0 to 1.
    """
    met: Counter[Kind] = Counter()
    obeyed: list[tuple[int, Kind]] = []
    for turn, text in notes:
        kind = kind_of(text)
        met[kind] += 1
        if kind != "none" and Random(f"{seed}:{kind}:{met[kind]}").random() < obedience:
            obeyed.append((turn, kind))
    kinds = {kind for _, kind in obeyed}
    return Advice(
        answer="answer" in kinds,
        conclude="conclude" in kinds,
        change=(last_turn, "change") in obeyed,
        signal="signal" in kinds,
    )
