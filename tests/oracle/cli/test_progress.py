"""What a long command is doing: one line at a terminal, and a Ctrl-C that keeps what was found."""

import io
import os
import pty
import signal
import subprocess
import sys

import pytest

from oracle.cli.progress import ProgressLine
from oracle.features.verifier.verify import Scope, verify
from tests.oracle.features.verifier.verified import shipped

CLEAR = "\r\x1b[K"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "shown"), [(Terminal(), f"{CLEAR}one{CLEAR}three{CLEAR}four{CLEAR}"), (io.StringIO(), "four\n")]
)
def test_the_line_is_replaced_a_few_times_a_second_at_a_terminal_and_elsewhere_there_is_one_every_ten_seconds(
    stream, shown
):
    times = iter((0.0, 0.1, 0.3, 10.5) if stream.isatty() else (0.0, 0.0, 0.1, 0.3, 10.5))
    progress = ProgressLine(stream, now=lambda: next(times))
    for text in ("one", "two", "three", "four"):
        progress.show(text)
    progress.clear()
    assert stream.getvalue() == shown


def test_an_exploration_that_is_stopped_reports_what_it_has_found():
    seen = []
    report = verify(shipped(), Scope(turns=2), watch=lambda standing: seen.append(standing) or len(seen) < 2)
    assert (report.bound, report.verdict) == ("an interruption", "not_decided")
    assert seen[0].transitions > 0
    assert seen[1].transitions <= report.transitions < 1_000
    assert report.result("saved").problem == "interrupted; proven for up to 1 turn"


@pytest.mark.long("starts a process")
def test_ctrl_c_prints_the_verdicts_so_far():
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "oracle", "trees", "verify", "oracle", "--turns", "5"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=child) as process:
        os.close(child)
        told = b""
        while b"states" not in told:
            told += os.read(parent, 1024)
        process.send_signal(signal.SIGINT)
        printed = process.communicate()[0].decode()
    os.close(parent)
    assert process.returncode == 130
    assert b"oracle: up to 1 turn, " in told or b"oracle: up to 2 turns, " in told
    assert "oracle: not decided" in printed
    assert printed.count("interrupted; proven for up to ") <= 1 < printed.count("interrupted")
