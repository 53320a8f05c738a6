"""Hints for the model with facts of the query in them: `{empty_searches}` stands for the value of that key.

Facts are names and words of the model, its tools and the user, in a text that has the authority of the control. So each
is put on one line, cut, and written in quotation marks that it cannot end; the note as a whole is neutralised
(`oracle.core.control_notes`). Texts of results, which anybody may have written, are not among the keys for hints.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bt_runtime.language.templates import filled, keys_in
from bt_runtime.text.phrases import clipped, joined
from oracle.agent.notices import quoted

_MOST_SHOWN = 60
_MOST_ITEMS = 10


def filled_hint(template: str, board: Mapping[str, object]) -> str:
    """The hint with the facts in place.

    Args:
        template: the author's text.
        board: values by key.
    """
    return filled(template, board, show=_fact)


def is_lacking(template: str, board: Any) -> str:  # noqa: ANN401  a blackboard or the view of one
    """The first key of a template that has nothing to show: an empty list or text; empty if there is none."""
    return next((key for key in keys_in(template) if board[key] in ((), [], "", None)), "")


def _fact(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        shown = [_quoted(str(item)) for item in value[-_MOST_ITEMS:]]
        return joined(shown) if shown else "none"
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    return f'"{clipped(quoted(text), _MOST_SHOWN).replace(chr(34), chr(39))}"'
