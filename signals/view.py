"""The part of a text that a decision may depend on.

A stream has the text only up to some place. What is decided must depend on the text alone, not on how much of it had
arrived: while more text could change an answer, the deciding function raises `MoreTextNeeded`, and is called again when
more has arrived.
"""

from bt_runtime.text.data import dataclass


class MoreTextNeeded(Exception):  # noqa: N818 - a request to wait, not a mistake
    """More text could change the answer; another attempt is worthwhile when text with `until` has arrived."""

    def __init__(self, until: str = "") -> None:
        self.until = until


@dataclass(slots=True)
class TextView:
    """The text up to `end`; `whole`: no more can come, since the response has ended or the window is full."""

    text: str
    end: int
    whole: bool

    def require_whole(self, until: str = "") -> None:
        """Return if no more can come, else raise `MoreTextNeeded`."""
        if not self.whole:
            raise MoreTextNeeded(until)
