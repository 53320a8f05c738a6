"""A parsed response: the text that the user sees, and the signal for the control."""

from dataclasses import field

from bt_runtime.text.data import dataclass

from .model import Signal
from .reader import BlockReading


@dataclass(frozen=True, slots=True)
class ParsedResponse:
    """A whole response of the model.

    Args:
        text: the visible text: the response less its signal blocks and the blank lines around blocks at the end.
        signal: the first well-formed signal; `None` if there is none.
        warnings: everything that was assumed, corrected, dropped or ignored, with the raw text of malformed and later
            signals; they quote the model, and are part of the audit.
        readings: every signal block in the order of the response, malformed and ignored ones too; for the audit.
        written_calls: tool calls that the model has written as text; they are not part of `text`.
        remainder: the end of `text` that `SignalStream.feed` has not returned. Of `parse`: all of it.
    """

    text: str
    signal: Signal | None = None
    warnings: tuple[str, ...] = ()
    readings: tuple[BlockReading, ...] = field(default=(), repr=False)
    remainder: str = field(default="", repr=False)
    written_calls: tuple[str, ...] = ()

    @property
    def malformed(self) -> tuple[str, ...]:
        """The raw texts of malformed signals; if there is one, the fallback is consulted."""
        return tuple(reading.raw_xml for reading in self.readings if reading.signal is None)

    @property
    def ignored(self) -> tuple[Signal, ...]:
        """Well-formed signals after the first, which have no effect."""
        return tuple(reading.signal for reading in self.readings if reading.signal is not None)[1:]


def describe(reading: BlockReading, *, counts: bool) -> tuple[str, ...]:
    """The warnings about a block; `counts`: it is the response's signal."""
    if reading.problem is not None:
        return (*reading.warnings, f"malformed signal, {reading.problem}: {reading.raw_xml!r}")
    if not counts:
        further = f"further signal {reading.declared_type} ignored, the first one counts: {reading.raw_xml!r}"
        return (*reading.warnings, further)
    return reading.warnings
