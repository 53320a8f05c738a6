"""The formats of an export: the whole history as JSON, its tree with the statuses at one tick, or a page that shows it.

The page is one HTML file that needs nothing else: the console's own view of a run, over the history in the file. It is
built with the console (`web/src/export`), loads nothing and runs only its own script and style, whose digests are in
its content security policy. All data of the run is JSON in which no character can end the element, and the script shows
it as text only.
"""

import logging
from html import escape
from typing import Any, Final, Literal, get_args

from bt_runtime import Registry, TreeFileError, TreeNotFoundError, render
from bt_runtime.library.named import read_sources
from oracle.console.built import EXPORT_PAGE
from oracle.core.encoding import to_json
from oracle.core.errors import OperatorError, UserError
from oracle.replay.histories import naming
from oracle.replay.histories.codec import history_to_json, plain
from oracle.replay.histories.model import History, TickFacts

Picture = Literal["svg", "dot", "mermaid"]
ExportFormat = Literal["json", "html", "svg", "dot", "mermaid"]
EXPORT_FORMATS: Final[tuple[ExportFormat, ...]] = get_args(ExportFormat)


def render_run(history: History, format: ExportFormat, *, tick: int | None = None, registry: Registry) -> bytes:  # noqa: A002
    """A run as a file.

    Args:
        history: the run.
        format: one of `EXPORT_FORMATS`.
        tick: that a picture shows, and that a page shows first; `None`: the one that decided the end.
        registry: the node kinds, for pictures.

    Raises:
        UserError: there is no such tick, or the tree cannot be drawn.
        OperatorError: a page is asked for, and has not been built here.
    """
    shown = chosen_tick(history, tick)
    match format:
        case "json":
            return history_to_json(history) + b"\n"
        case "html":
            return render_page(history, tick=shown.tick if shown else None).encode()
        case _:
            return _picture(history, format, shown, registry=registry)


def chosen_tick(history: History, tick: int | None) -> TickFacts | None:
    """The tick of that number, else the one that decided the end, else the last; `None` if the run has no ticks.

    Raises:
        UserError: there is no tick of that number.
    """
    wanted = tick if tick is not None else history.end and history.end.tick
    found = next((each for each in history.ticks if each.tick == wanted), None)
    if found is None and tick is not None:
        numbers = f"it has the ticks 1 to {history.ticks[-1].tick}" if history.ticks else "it has no ticks"
        raise UserError(f"the run {history.run.id} has no tick {tick}; {numbers}")
    return found or (history.ticks[-1] if history.ticks else None)


def _picture(history: History, format: Picture, shown: TickFacts | None, *, registry: Registry) -> bytes:  # noqa: A002
    if history.tree is None:
        raise UserError(f"the run {history.run.id} has no tree to draw: {history.problem or 'it is not known'}")
    texts = {file.removesuffix(".yaml"): text for file, text in history.tree.files.items()}
    try:
        definition = read_sources(texts, name=history.tree.name, registry=registry)
    except (TreeFileError, TreeNotFoundError) as error:
        first = str(error).partition("\n")[0]
        raise UserError(f"the tree of the run {history.run.id} cannot be drawn any more: {first}") from None
    statuses: dict[str, str] = {}
    if shown is not None:
        latest = naming.statuses_after(each for each in history.ticks if each.tick <= shown.tick)
        statuses = {history.tree.nodes[index].path: latest.get(index, "INVALID") for index in shown.visited}
    return f"{render(definition, format, statuses)}\n".encode()


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
