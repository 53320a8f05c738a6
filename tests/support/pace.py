"""How fast the machine is now, for tests whose bound is a time.

A bound in milliseconds means the machine that it was chosen on. Another one, or the same one with other work beside the
tests, takes longer for everything: `slowness` says how much, by a fixed piece of work of the same kind.
"""

import re
import time

_FIXED_WORK_MS = 14
"""What `_fixed_work` takes on the machine that the bounds of the tests were chosen on."""
_PATTERN = re.compile(r"(?:[a-z]+ )?<(?:signal|SIGNAL)(?= |\Z)")


def slowness() -> float:
    """How many times as long as where the bounds were chosen the processor takes now; 1 on a faster one."""
    return max(1.0, min(_fixed_work() for _ in range(5)) / _FIXED_WORK_MS)


def _fixed_work() -> float:
    """The milliseconds of processor time that calls, texts and patterns take."""
    began = time.process_time()
    text = ""
    for number in range(8_000):
        text = (text + "a word <sig")[-32:]
        if _PATTERN.search(text, number % 16) is not None:
            text = ""
    return (time.process_time() - began) * 1_000
