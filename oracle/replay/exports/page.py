"""A run as one HTML file that needs nothing else: the console's own view of a run, over the history in the file.

The page is built with the console (`web/src/export`). It loads nothing and runs only its own script and style, whose
digests are in its content security policy. All data of the run is JSON in which no character can end the element, and
the script shows it as text only.
"""

import logging
from html import escape
from typing import Any, Final

from oracle.console.built import EXPORT_PAGE
from oracle.core.encoding import to_json
from oracle.core.errors import OperatorError
from oracle.replay.histories.codec import plain
from oracle.replay.histories.model import History

_UNSAFE: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_LONGEST_TITLE: Final = 120
_TITLE, _DATA = "RUN_TITLE", "RUN_DATA"


def render_page(history: History, *, tick: int | None) -> str:
    """The page.

    Args:
        history: the run.
        tick: that is shown first; `None`: the run has none.

    Raises:
        OperatorError: it is made of a file that has not been built.
    """
    try:
        page = EXPORT_PAGE.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise OperatorError(
            "the page is built with the web console, which has not been built here: "
            "with Node.js 20.19 or newer and npm, `python web/tasks.py build` builds both; other formats need neither",
            detail=None,
            log_level=logging.WARNING,
        ) from None
    question = " ".join(history.run.question.split())[:_LONGEST_TITLE]
    title = escape(f"{history.run.id[:8]} {question}".strip())
    data = embedded({"history": plain(history), "tick": tick})
    return page.replace(_DATA, data, 1).replace(_TITLE, title, 1)  # the title stands before the data, which may name it


def embedded(data: Any) -> str:  # noqa: ANN401  any JSON data
    """JSON that can stand in a `script` element: no character of it can begin or end markup, or a line of a script."""
    text = to_json(data).decode()
    for character, escaped in _UNSAFE.items():
        text = text.replace(character, escaped)
    return text
