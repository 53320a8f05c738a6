"""A run as one HTML file that needs nothing else: its tree with the marks of every tick, values, answer and messages.

The page loads nothing and runs only its own script and style, whose digests are in its content security policy. All
data of the run is JSON in which no character can end the element, and the script shows it as text only.
"""

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any, Final

from oracle.encoding import to_json
from oracle.histories import History, why
from oracle.histories.codec import plain
from oracle.histories.model import TickFacts

_UNSAFE: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_SCRIPTS: Final = (
    "history.js",
    "source.js",
    "shown.js",
    "matrix.js",
    "overview.js",
    "rows.js",
    "page.js",
    "panes.js",
    "control.js",
)
"""One script; later parts use what earlier ones define."""
_LONGEST_TITLE: Final = 120
_PLACE: Final = re.compile(r"%([A-Z]+)%")


def render_page(history: History, *, tick: int | None) -> str:
    """The page.

    Args:
        history: the run.
        tick: that is shown first; `None`: the run has none.
    """
    style, script = _own("page.css"), "".join(map(_own, _SCRIPTS))
    policy = ("default-src 'none'", f"script-src {_digest(script)}", f"style-src {_digest(style)}", "base-uri 'none'")
    question = " ".join(history.run.question.split())[:_LONGEST_TITLE]
    parts = {
        "POLICY": "; ".join((*policy, "form-action 'none'")),
        "TITLE": escape(f"{history.run.id[:8]} {question}".strip()),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": embedded(
            {"history": plain(history), "tick": tick, "why": [_reasons(history, each) for each in history.ticks]}
        ),
    }
    return _PLACE.sub(lambda match: parts[match[1]], _own("page.html"))


def _reasons(history: History, tick: TickFacts) -> list[tuple[int, str]]:
    return [(reason.node, reason.sentence) for reason in why(history, tick)]


def embedded(data: Any) -> str:  # noqa: ANN401  any JSON data
    """JSON that can stand in a `script` element: no character of it can begin or end markup, or a line of a script."""
    text = to_json(data).decode()
    for character, escaped in _UNSAFE.items():
        text = text.replace(character, escaped)
    return text


def _own(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
