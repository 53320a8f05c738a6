"""Log lines by a thread: in order, bounded, and never in anybody's way."""

import json
import os
import threading
from collections.abc import Iterator

import pytest

from oracle.core.logs import LineThread, dropped_lines, put_line, written_in_background

PIPE_BYTES = 1 << 20
GUARD_S = 20.0


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    for descriptor in (read, write):
        try:
            os.close(descriptor)
        except OSError:
            continue


def test_lines_come_in_order_and_all_before_the_end(pipe: tuple[int, int]) -> None:
    read, write = pipe
    lines = LineThread(write)
    for number in range(1_000):
        lines.put(f"line {number} \ud800")
    assert lines.close()
    os.close(write)
    with open(read, encoding="utf-8", closefd=False) as reader:
        assert reader.read().splitlines() == [f"line {number} \\ud800" for number in range(1_000)]
    assert lines.dropped == 0


def test_lines_that_are_not_read_are_dropped_counted_and_reported_later(pipe: tuple[int, int]) -> None:
    read, write = pipe
    lines = LineThread(write, most_lines=100)
    given = 0
    while lines.dropped < 10:  # the pipe is full, the thread holds some, and a hundred wait
        lines.put("x" * 999)
        given += 1
        assert given < PIPE_BYTES
    assert not lines.close(within_s=0.01)  # the end of the process does not wait for whoever does not read
    taken = list[bytes]()
    reading = threading.Thread(target=lambda: taken.extend(iter(lambda: os.read(read, 65_536), b"")))
    reading.start()
    assert lines.close(within_s=GUARD_S)
    os.close(write)
    reading.join(GUARD_S)
    said = b"".join(taken).decode().splitlines()
    assert len(said) == given - lines.dropped + 1
    assert json.loads(said[-1]) == {"level": "warning", "event": "log.dropped", "lines": lines.dropped}


def test_a_pipe_whose_reader_is_gone_breaks_nothing(pipe: tuple[int, int]) -> None:
    read, write = pipe
    os.close(read)
    lines = LineThread(write)
    lines.put("nobody")
    lines.put("reads")
    assert lines.close()


def test_in_the_background_lines_are_written_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    with written_in_background():
        put_line("one")
        assert dropped_lines() == 0
    put_line("two")
    assert capfd.readouterr().err.splitlines() == ["one", "two"]
