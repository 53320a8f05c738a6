"""Bounds what the ticks of one run add to its record: a tree can write long values in every tick at no cost.

Rules:

- Up to `most_bytes` each tick is recorded whole.
- A tick whose values go beyond that is recorded with sizes in the place of its long values (`{"characters": 45000}`).
  The run goes on, and it can be replayed and explained as others can.
- A run whose ticks need twice as much all the same is to be ended, and none of its later ticks is recorded.
"""

from dataclasses import dataclass, replace

from bt_runtime import TickRecord
from bt_runtime.text import extent, without_long
from oracle.runs.tick_json import encode_tick


@dataclass(slots=True)
class TickRoom:
    """The room for the ticks of one run; `most_bytes` is that for values."""

    most_bytes: int
    _used_bytes: int = 0

    def is_exceeded(self) -> bool:
        """Whether the run is to be ended."""
        return self._used_bytes > 2 * self.most_bytes

    def encode(self, record: TickRecord) -> bytes:
        """The record as `encode_tick` makes it, with sizes for values that have no room."""
        if record.writes:
            left = max(0, self.most_bytes - self._used_bytes)
            if extent([value for _, value in record.writes], most=left) > left:
                record = replace(record, writes=without_long(record.writes))
        data = encode_tick(record)
        self._used_bytes += len(data)
        return data
