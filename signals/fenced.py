"""A fence that is not code but the model's wrapping around its signal.

A fence is such a wrapping if it is at the very end of a response and contains nothing but one well-formed signal, even
if it is never closed. Only the end of the response can tell, so a fence is held back while its content begins like a
signal and nothing but white space follows it. Any other fence is code as soon as its first words have arrived.
"""

from bt_runtime.text.data import dataclass

from .markup import WHITE, WINDOW_CHARS, SignalBlock, find_block
from .reader import Clock, read_block
from .view import TextView


@dataclass(slots=True)
class Wrapping:
    """A fence whose content begins with a signal. All places are counted from the start of the response.

    Args:
        start: of the marks that open the fence.
        signal_start: the index of the signal's `<` in the text.
        type_end: after the signal's `type=`.
        end: after the marks and blanks that close the fence; `None`: not closed.
    """

    start: int
    signal_start: int
    type_end: int
    end: int | None = None


def only_signal(text: str, wrapping: Wrapping, offset: int, *, now: Clock) -> SignalBlock | None:
    """The well-formed signal that a fence at the end of a response holds, if it holds nothing else.

    Args:
        text: the end of the response.
        wrapping: the fence.
        offset: how much of the response comes before `text`.
        now: the clock that stamps signals.
    """
    start, type_end = wrapping.signal_start - offset, wrapping.type_end - offset
    content_end = len(text)
    if wrapping.end is not None:
        closed_at = wrapping.end - offset
        content_end = max(text.rfind("\n", 0, closed_at), text.rfind("\r", 0, closed_at))
    if type_end > content_end:
        return None
    block = find_block(TextView(text, min(content_end, start + WINDOW_CHARS), whole=True), start, type_end)
    if not block.closed or text[block.end : content_end].strip(WHITE):
        return None
    return block if read_block(text, block, now=now).signal else None
