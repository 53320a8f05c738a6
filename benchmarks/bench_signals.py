"""The cost of parsing signals per delta and per response, relative to two alternatives (020 SC-007, SC-008).

Baseline: append every delta to a list and join at the end. Naive: search the whole response again with a regular
expression at every delta. Takes a few seconds: `python benchmarks/bench_signals.py`.
"""

import re
import time
from collections.abc import Callable

import signals

SIGNAL = '\n\n<signal type="context_sufficient"><sources_found>3</sources_found><confidence>0.9</confidence></signal>'
PARAGRAPH = (
    "The middleware checks the token before the handler runs, and the handler never sees a request without one. "
)
PLAIN = (PARAGRAPH * 4 + "\n\n") * 23
MARKDOWN = (
    PARAGRAPH + "See `auth.py` and `a < b`.\n\n- one\n- two\n\n```python\ndef f(x):\n    return x < 1\n```\n\n"
) * 50  # denser in marks than answers are
NAIVE = re.compile(r"<signal\s[^>]*>.*?</signal>", re.DOTALL)
BUDGET_S = 0.5
AIM_US = 1_000
"""For dense Markdown in small pieces."""


def pieces(text: str, count: int) -> list[str]:
    size = -(-len(text) // count)
    return [text[at : at + size] for at in range(0, len(text), size)]


def baseline(deltas: list[str]) -> str:
    kept: list[str] = []
    for delta in deltas:
        kept.append(delta)  # noqa: PERF402 - a stream comes one by one
    return "".join(kept)


def naive(deltas: list[str]) -> str:
    buffer = ""
    for delta in deltas:
        buffer += delta
        NAIVE.search(buffer)
    return NAIVE.sub("", buffer)


def stream(deltas: list[str]) -> str:
    reader = signals.SignalStream()
    for delta in deltas:
        reader.feed(delta)
    return reader.close().text


def best_us(read: Callable[[list[str]], str], deltas: list[str]) -> float:
    """The best of the runs that fit into the time budget, in microseconds per response."""
    best, end = float("inf"), time.perf_counter() + BUDGET_S / 3
    while time.perf_counter() < end:
        start = time.perf_counter()
        read(deltas)
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def plain_delta_us() -> float:
    """One plain delta on the fast path, including the cost of the loop."""
    deltas = [" middleware"] * 10_000
    reader = signals.SignalStream()
    reader.feed("The")
    feed = reader.feed
    start = time.perf_counter()
    for delta in deltas:
        feed(delta)
    return (time.perf_counter() - start) * 1e6 / len(deltas)


def main() -> None:
    print(f"one plain delta: {min(plain_delta_us() for _ in range(20)):.2f} us")
    print(f"{'text':10} {'deltas':>7} {'us/delta':>9} {'us/10 kB':>9} {'x append':>9} {'x naive':>8}")
    for name, body in (("plain", PLAIN), ("markdown", MARKDOWN)):
        text = body[: 10_000 - len(SIGNAL)] + SIGNAL
        for count in (50, 2_500):
            deltas = pieces(text, count)
            ours, least, slow = best_us(stream, deltas), best_us(baseline, deltas), best_us(naive, deltas)
            times = f"{ours / len(deltas):9.2f} {ours:9.0f} {ours / least:9.1f} {ours / slow:8.3f}"
            aim = f"   (aim: at most {AIM_US:,} us)" if body is MARKDOWN and count > 50 else ""
            print(f"{name:10} {len(deltas):7} {times}{aim}")


if __name__ == "__main__":
    main()
