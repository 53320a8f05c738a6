"""Leaves the texts out of a history, so that it can be shown to others: what remains is figures, names and the tree.

What remains is listed here by field; every other text is replaced by `OMITTED`. So a field that is added to the model
later is left out until it is listed here.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from oracle.core.chunks import Interrupt
from oracle.replay.histories import model
from oracle.replay.histories.model import History
from oracle.replay.histories.naming import OMITTED
from oracle.replay.histories.view import add_view
from oracle.runs.storage.records import Feedback

_KEPT: Final[Mapping[type, frozenset[str]]] = {
    History: frozenset({"format", "version"}),
    model.RunFacts: frozenset(
        {"id", "status", "tree", "tree_version", "model", "termination_reason", "limits", "kept"}
    ),
    Feedback: frozenset({"rating"}),
    model.TreeFacts: frozenset({"name", "version", "file", "files", "rows"}),
    model.NodeFacts: frozenset(field.name for field in fields(model.NodeFacts)),
    model.RowFacts: frozenset(field.name for field in fields(model.RowFacts)),
    model.KeyFacts: frozenset({"name", "type", "description"}),
    model.FigureFacts: frozenset({"name", "unit"}),
    model.OperandFacts: frozenset({"name", "at"}),
    model.ClauseFacts: frozenset(),
    model.EvaluationFacts: frozenset({"text", "setting"}),
    model.VisitFacts: frozenset({"status"}),
    model.TickFacts: frozenset({"cause", "causes", "visited", "changes"}),
    model.StepFacts: frozenset(),  # worded anew
    model.PieceFacts: frozenset({"kind"}),
    model.RequestFacts: frozenset({"segments", "prompt_sha", "tools", "tool_choice"}),
    model.SignalFacts: frozenset({"action"}),
    model.TurnFacts: frozenset({"model", "calls", "stop_reason", "server_tools", "cache_miss"}),
    model.CallFacts: frozenset({"id", "caller", "labels"}),
    model.NoticeFacts: frozenset({"type", "severity"}),
    model.DebugFacts: frozenset({"what", "path", "key", "result", "why"}),
    model.BreachFacts: frozenset({"rule", "text", "enforcement", "call_id"}),
    model.TextFacts: frozenset({"type"}),
    model.SeamFacts: frozenset({"version"}),
    model.UnderWayFacts: frozenset({"what", "name", "how"}),
    model.InterruptFacts: frozenset(),
    model.DecisionFacts: frozenset(),
    Interrupt: frozenset({"id", "reason", "may", "on_expiry", "answerers", "status", "expires_at", "answered_at"}),
    model.EndFacts: frozenset({"reason", "by"}),
}
"""The fields whose texts remain, by the part of a history: what the tree, the service or the provider have named."""

_WORDS: Final[Mapping[type, str]] = {
    model.CallFacts: "name",
    model.SignalFacts: "type",
    model.BreachFacts: "after",
    Interrupt: "tool_name",
}
"""The field that the model writes and that remains if it is a plain word, as the names of tools and signals are."""
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")

_NAMED = frozenset({"writes", "deliveries", "errors"})
"""Fields of pairs whose first part is the name of a key or a node."""


def without_texts(history: History) -> History:
    """The history without questions, answers, prompts, arguments, results, and texts among the values."""
    found: History = _part(history)
    add_view(found)  # made of what remains
    return replace(found, run=replace(found.run, kept="gone" if history.run.kept == "gone" else "figures"))


def _part(part: Any) -> Any:  # noqa: ANN401  any part of a history
    kept = _KEPT.get(type(part), frozenset())
    changed = {
        field.name: _field(field.name, getattr(part, field.name)) for field in fields(part) if field.name not in kept
    }
    word = _WORDS.get(type(part))
    if word is not None and _WORD.fullmatch(getattr(part, word) or ""):
        del changed[word]
    if isinstance(part, Interrupt):  # whose objects stay objects
        changed |= {"response_schema": {}, "arguments": None if part.arguments is None else {}}
    return replace(part, **changed)


def _field(name: str, value: Any) -> Any:  # noqa: ANN401  any field of a history
    if is_dataclass(value):
        return _part(value)
    if isinstance(value, list | tuple) and value and all(map(is_dataclass, value)):
        return type(value)(map(_part, value))
    if name in _NAMED and isinstance(value, tuple):
        return tuple((each[0], _figure(each[1])) if isinstance(each, tuple) else _figure(each) for each in value)
    if isinstance(value, tuple):
        return tuple(map(_figure, value))
    if isinstance(value, Mapping):
        return {key: _figure(each) for key, each in value.items()} if name == "fields" else _figure(value)
    return _figure(value)


def _figure(value: Any) -> Any:  # noqa: ANN401  any value of a blackboard
    """The value if it is no text, and nothing that could have texts in it."""
    if value is None or isinstance(value, bool | int | float):
        return value
    return OMITTED if value else value
