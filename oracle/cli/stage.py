"""A query on the standard streams, whatever gives its chunks: this process, a service or a database."""

import sys
from collections.abc import Callable

from rich.console import Console

from oracle.cli.errors import FAILED, INTERRUPTED, CommandError
from oracle.cli.streams import SafeStream, abandon_standard_output, are_one
from oracle.cli.terminal import TerminalView
from oracle.cli.views import JsonView, PlainView, QueryView, is_answered
from oracle.core.chunks import Chunk
from oracle.core.logs.configuring import is_interactive, wants_colour

_BROKEN_PIPE = INTERRUPTED + 13


class QueryStage:
    """Shows a query on the standard streams; a chunk that cannot be shown cancels the query, and never raises in it."""

    def __init__(self, *, as_json: bool) -> None:
        self._cancel: Callable[[], None] = lambda: None
        self._out = SafeStream(sys.stdout, on_failure=self._stop)
        self._trouble: Exception | None = None
        self.view = _choose_view(self._out, as_json=as_json)

    def begin(self, *, cancel: Callable[[], None]) -> None:
        """Start the view; `cancel` stops the query."""
        self._cancel = cancel
        self.view.start()

    def show(self, chunk: Chunk) -> None:
        """Show the next chunk."""
        try:
            self.view.show(chunk)
        except Exception as error:  # noqa: BLE001  raised again when the query has ended
            self._trouble = self._trouble or error
            self._stop()

    @property
    def is_broken(self) -> bool:
        """Whether a chunk could not be shown."""
        return self._out.failure is not None or self._trouble is not None

    def exit_code(self) -> int:
        """The exit code of a query that was not interrupted.

        Raises:
            CommandError: the answer could not be written.
        """
        failure = self._out.failure or (self._trouble if isinstance(self._trouble, OSError) else None)
        if isinstance(failure, BrokenPipeError):
            abandon_standard_output()
            return _BROKEN_PIPE
        if failure is not None:
            abandon_standard_output()
            raise CommandError(f"the answer could not be written: {failure.strerror}")
        if self._trouble is not None:
            raise self._trouble
        return 0 if is_answered(self.view.answer) else FAILED

    def _stop(self) -> None:
        self._cancel()


def _choose_view(out: SafeStream, *, as_json: bool) -> QueryView:
    if as_json:
        return JsonView(out)
    if not is_interactive(sys.stdout):
        is_together = are_one(sys.stdout, sys.stderr)
        return PlainView(out, SafeStream(sys.stderr, on_failure=lambda: None), is_together=is_together)
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, no_color=not wants_colour())
    return TerminalView(console, out, redirects_errors=is_interactive(sys.stderr))
