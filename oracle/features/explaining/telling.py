"""What came of a situation, in words: what the tree does, what the user sees, how it ends.

Equal texts mean equal outcomes: words of the model are named and not quoted, and what repeats is counted.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from bt_runtime import NodeDefinition, Outcome, Status, TickRecord, TreeDefinition
from bt_runtime.language.kind import CALLS_HOST
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import clipped, counted, listed
from oracle.agent.nodes.roles import STOPS
from oracle.core.chunks import (
    Chunk,
    Closing,
    Content,
    SystemNotice,
)
from oracle.features.explaining.acting import FINAL, ON_THE_WAY
from oracle.features.explaining.staging import Performance
from oracle.features.explaining.steps import QUOTED, Steps, compressed, in_short
from oracle.features.scenarios.played import Played

_MOST_TOOLS: Final = 12
_OWN_WORDS: Final = 8
"""So many characters of a note must stand in the tree for the note to count as its author's."""
_OF_LIMITS: Final = frozenset({"limit_reached", "no_progress", "error_limit"})
_EXPECTED: Final = frozenset({"completed", "user_cancelled"})
_SAID: Final = re.compile(
    rf"(?P<final>{FINAL}(?:\d+\.|depends[^?]*\?))|(?P<way>{ON_THE_WAY}(?:\d+\.(?: I will [^.]*\.)?|there[^.]*\.))"
)


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a situation.

    Args:
        does: what the tree does, step by step.
        steps: the same, uncounted.
        sees: what the user sees.
        shown: its parts.
        ends: as what it ends, and how.
        facts: the figures that tell most of it, by name; each is empty or a few words.
        decided_by: the node that gave the reason for the end; `None` if no node did.
        visited: the paths of the nodes that were visited.
    """

    does: str
    steps: tuple[str, ...]
    sees: str
    shown: tuple[str, ...]
    ends: str
    facts: Mapping[str, str]
    decided_by: NodeDefinition | None
    visited: frozenset[str]

    @property
    def sentence(self) -> str:
        """All of it."""
        return f"{self.does}. The user sees {self.sees}. Ends as {self.ends}."

    @property
    def outcome(self) -> tuple[str, str, str]:
        """Equal where the same happens."""
        return self.does, self.sees, self.ends


def told_of(performance: Performance, tree: TreeDefinition, own_words: Sequence[str]) -> Told:
    """What came of a situation.

    Args:
        performance: what happened.
        tree: the tree that was played.
        own_words: what the author says to the model, as `own_words_of` finds it.
    """
    played = performance.played
    asked = played.asked
    writing = performance.writing
    own = {str(getattr(node.settings, "call", "")) for node in tree.nodes() if node.has(CALLS_HOST)}
    steps = Steps(own_words, asked, played.tool_runs, writing, may_write=not own.isdisjoint(writing))
    for what in performance.seen:
        steps.take(what)
    does = in_short(steps.steps)
    written = ("written" if steps.writes == 1 else f"written {steps.writes} times") if steps.writes else "not written"
    if steps.may_write and not steps.writes:
        does.append("nothing is written")
    records = [each for each in performance.seen if isinstance(each, TickRecord)]
    nodes = tree.nodes()
    chunks: list[Any] = [each for each in performance.seen if not isinstance(each, int | str | Outcome | TickRecord)]
    visited = frozenset(nodes[index].path for record in records for index in record.visited)
    decided_by = _decider(records, nodes)
    shown, ends = _shown(chunks, performance.situation.said), _ends(played, by_tree=decided_by is not None)
    sees = ", ".join(compressed(shown))
    return Told(
        does=" → ".join(does) or "nothing",
        steps=tuple(steps.steps),
        sees=sees,
        shown=tuple(shown),
        ends=ends,
        facts={
            "written": written,
            "turns": counted(steps.turns, "turn"),
            "answer": next((each for each in ("the answer", "text on the way", "no answer") if each in sees), ""),
            "tools": listed(asked[0].tools, _MOST_TOOLS) if asked and asked[0].tools else "no tool",
            "end": ends,
        },
        decided_by=decided_by,
        visited=visited,
    )


def own_words_of(tree: TreeDefinition) -> tuple[str, ...]:
    """The pieces of text of a tree that the model may read, the longest first."""
    found: set[str] = set()
    for node in tree.nodes():
        for text in _texts(node.settings.model_dump()):
            pieces = re.split(r"\{[^{}]*\}|'", text)
            found |= {piece.strip() for piece in pieces if len(piece.strip()) >= _OWN_WORDS}
    return tuple(sorted(found, key=len, reverse=True))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _shown(chunks: Iterable[Chunk], said: str) -> list[str]:
    """What the user sees, part by part."""
    parts: list[str] = []
    text = ""
    for chunk in chunks:
        match chunk:
            case Closing():
                pass  # `ends` says so
            case Content(piece):
                text += piece
            case SystemNotice(kind, message) if kind not in _OF_LIMITS:
                parts += [*_said(text, said), _notice(kind, message)]
                text = ""
    parts += _said(text, said)
    has_answer = any("answer" in each or "“" in each or "on the way" in each for each in parts)
    return [*parts, *([] if has_answer else ["no answer"])]


def _notice(kind: str, message: str) -> str:
    return "a warning of a limit" if kind == "limit_warning" else f"the notice “{clipped(message, QUOTED)}”"


def _said(text: str, said: str) -> Iterator[str]:
    """What a part of the answer is made of: words of the model, and those of the tree."""
    if said:
        text = text.replace(said, f"{FINAL}1.")
    at = 0
    kinds: list[str] = []
    for found in _SAID.finditer(text):
        kinds += _of_tree(text[at : found.start()])
        kinds.append("the answer" if found["final"] else "text on the way")
        at = found.end()
    kinds += _of_tree(text[at:])
    last = None
    for kind in kinds:
        if kind != last or kind == "the answer":
            yield kind
        last = kind


def _of_tree(text: str) -> list[str]:
    return [f"“{clipped(text.strip(), QUOTED)}”"] if text.strip() else []


def _ends(played: Played, *, by_tree: bool) -> str:
    """As what it ends, whether the user reads why, and whether the tree stopped it itself."""
    answer, reason = played.answer, played.done.termination_reason if played.done else ""
    if reason == "error" and answer.failed is not None:
        return f"error ({answer.failed.error_type}: {clipped(answer.failed.error, 2 * QUOTED)})"
    ends = str(reason)
    ends += "" if by_tree or reason == "completed" else ", by the floor and not by the tree"
    return ends if answer.stopped is not None or reason in _EXPECTED else f"{ends}, without saying why"


def _decider(records: Sequence[TickRecord], nodes: Sequence[NodeDefinition]) -> NodeDefinition | None:
    """The node that gave the reason for the end."""
    for record in records:
        if not any(key == "termination_reason" and value for key, value in record.writes):
            continue
        statuses = dict(record.changes)
        for index in reversed(record.visited):
            node = nodes[index]
            if node.has(STOPS) or (not node.children and statuses.get(index) is Status.FAILURE):
                return node
    return None
