"""Reads server-sent events from bytes, without I/O, in linear time.

Lines end with LF or CRLF; only the `data` of an event is read (WHATWG HTML, section 9.2.6).
"""


class EventReader:
    """Reads server-sent events from pieces of any size."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[str]:
        """The data of the events that are complete with this piece.

        Raises:
            ValueError: the data is not UTF-8.
        """
        *ended, rest = piece.split(b"\n")
        events: list[str] = []
        for end in ended:
            line = bytes(self._line) + end if self._line else end
            self._line.clear()
            self._read(line.removesuffix(b"\r"), events)
        self._line += rest
        return events

    def _read(self, line: bytes, events: list[str]) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            events.append(b"\n".join(self._data).decode())
            self._data.clear()
