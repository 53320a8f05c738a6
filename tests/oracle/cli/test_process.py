"""The console script as a process: signals, pipes, terminals, closed streams."""

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from oracle.cli import main
from oracle.cli.interrupts import Interrupts
from oracle.testing import ScriptedTurn
from tests.support.provider import Disturbed, StandInProvider
from tests.support.waiting import until

HANGS = Disturbed(ScriptedTurn(text="So far so good."), "hang")
LIMIT_S = 60
"""Seconds, in case the test itself hangs; nothing waits this long."""


@pytest.mark.long("starts the command line as a process")
async def test_an_interruption_keeps_the_partial_answer_and_ends_with_done(start, provided):
    async with StandInProvider([HANGS]) as provider:
        provided(provider)
        process = await start("ask", "Hello", "--json")
        await process.stdout.readuntil(b"good.")
        process.send_signal(signal.SIGTERM)
        rest = await process.stdout.read()
        assert await process.wait() == 128 + signal.SIGTERM
        await provider.wait_disconnected()
    done = json.loads(rest.splitlines()[-1])
    assert (done["type"], done["termination_reason"]) == ("done", "user_cancelled")


@pytest.mark.long("starts the command line as a process")
async def test_an_interruption_is_reported_in_plain_text(start, provided):
    async with StandInProvider([HANGS]) as provider:
        provided(provider)
        process = await start("ask", "Hello")
        shown = await process.stdout.readuntil(b"good.")
        process.send_signal(signal.SIGINT)
        rest, err = await process.communicate()
    assert process.returncode == 130
    assert (shown + rest).decode() == "So far so good.\n"
    assert err.decode().startswith("cancelled · ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_before_the_query_starts_ends_the_command(number):
    with pytest.raises(SystemExit) as ended, Interrupts():
        os.kill(os.getpid(), number)
    assert ended.value.code == 128 + number


def test_an_interruption_that_the_parent_process_ignores_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.number is None
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_first_interruption_stops_the_query_and_leaves_the_second_to_the_system():
    called = []
    with Interrupts() as interrupts:
        interrupts.bind(stop=lambda: called.append("stop"), give_up=lambda: called.append("give up"))
        os.kill(os.getpid(), signal.SIGINT)
        assert called == ["give up", "stop"]
        assert interrupts.exit_code == 130
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_DFL


@pytest.mark.long("starts the command line as a process")
async def test_a_second_interruption_ends_a_command_that_is_blocked_in_a_write(start, provided):
    async with StandInProvider([Disturbed(ScriptedTurn(text="word " * 100_000, piece_chars=1000), "hang")]) as provider:
        provided(provider)
        read_end, write_end = os.pipe()
        process = await start("ask", "Hello", "--limit", "token_budget=200000", stdout=write_end)
        os.close(write_end)
        # Nobody reads: the pipe is full after 64 KiB, and the command waits in the middle of a write.
        await asyncio.to_thread(os.read, read_end, 1)
        process.send_signal(signal.SIGINT)
        await until(lambda: not catches(process.pid, signal.SIGINT))
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), LIMIT_S) == -signal.SIGINT
        os.close(read_end)


def catches(pid, number):
    """Whether the process has a handler for the signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


@pytest.mark.long("starts the command line as a process")
async def test_a_closed_pipe_ends_the_query_without_a_message(start, provided):
    turn = ScriptedTurn(text="word " * 20_000, piece_chars=100)
    async with StandInProvider([turn]) as provider:
        provided(provider)
        process = await start("ask", "Hello", "--limit", "token_budget=200000")
        await process.stdout.read(10)
        process._transport.get_pipe_transport(1).close()
        err = await process.stderr.read()
        assert await process.wait() == 141
    assert b"Traceback" not in err
    assert b"Exception" not in err


@pytest.mark.long("starts the command line as a process")
@pytest.mark.parametrize(
    ("redirections", "code"),
    [(">&-", 0), ("<&- >&- 2>&-", 0), (">/dev/full", 1)],
)
async def test_closed_and_full_streams_cause_no_traceback(start, redirections, code):
    process = await start("ask", "Thanks!", wrapper=("sh", "-c", f'"$@" {redirections}', "sh"))
    out, err = await process.communicate()
    assert process.returncode == code
    assert b"Traceback" not in out + err
    if "full" in redirections:
        assert b"Error: the answer could not be written: No space left on device" in err


@pytest.mark.long("starts the command line as a process")
async def test_a_closed_standard_input_has_no_question(start):
    process = await start("ask", wrapper=("sh", "-c", '"$@" <&-', "sh"))
    _, err = await process.communicate()
    assert process.returncode == 1
    assert b"the question is empty" in err


async def at_terminal(start, *arguments, until=b"\x00", then=None):
    """The output on a terminal; `then` is called with the process as soon as `until` is shown."""
    parent, child = pty.openpty()
    os.set_blocking(parent, False)
    process = await start(
        *arguments, stdin=child, stdout=child, stderr=child, env={**os.environ, "TERM": "xterm-256color"}
    )
    os.close(child)
    loop, shown, ended = asyncio.get_running_loop(), bytearray(), asyncio.Event()

    def read():
        nonlocal then
        try:
            shown.extend(os.read(parent, 65536))
        except OSError:
            ended.set()
            loop.remove_reader(parent)
            return
        if then is not None and until in shown:
            then(process)
            then = None

    loop.add_reader(parent, read)
    await asyncio.wait_for(ended.wait(), LIMIT_S)
    os.close(parent)
    return await process.wait(), shown.decode()


@pytest.mark.long("starts the command line as a process")
async def test_a_terminal_shows_the_answer_with_its_tool_calls(start, project):
    code, shown = await at_terminal(start, "ask", "Where is the function check_password?", "--project", project)
    assert code == 0
    assert "\x1b[32m✓\x1b[0m search_code(" in shown
    assert "\x1b[1mSources\x1b[0m" in shown
    assert shown.count("\x1b[?25h") == shown.count("\x1b[?25l") > 0
    assert "\x1b[2mcompleted · " in shown


@pytest.mark.long("starts the command line as a process")
async def test_markdown_is_rendered_on_a_terminal_and_unchanged_in_a_pipe(start, provided):
    text = "## Title\n\nSee **this** in `a.py`:\n\n```\nx = 1\n```\n\n1. one\n2. two"
    answer = ScriptedTurn(text=text, piece_chars=3)
    async with StandInProvider([answer, answer]) as provider:
        provided(provider)
        code, shown = await at_terminal(start, "ask", "Hello")
        process = await start("ask", "Hello")
        piped, _ = await process.communicate()
    assert code == 0
    assert "\x1b[1mTitle\x1b[0m\r\n" in shown
    assert "See \x1b[1mthis\x1b[0m in \x1b[36ma.py\x1b[0m:\r\n" in shown
    assert "x = 1" in shown
    assert piped.decode() == f"{text}\n"


@pytest.mark.long("starts the command line as a process")
async def test_ctrl_c_at_a_terminal_restores_the_cursor_and_is_reported(start, provided):
    async with StandInProvider([HANGS]) as provider:
        provided(provider)
        code, shown = await at_terminal(
            start, "ask", "Hello", until=b"good.", then=lambda process: process.send_signal(signal.SIGINT)
        )
    assert code == 130
    assert "So far so good." in shown
    assert "\r\n\r\n\x1b[2mcancelled · " in shown
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")


@pytest.mark.long("starts the command line as a process")
async def test_no_colour_is_written_if_colour_is_turned_off(start, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    _, shown = await at_terminal(start, "ask", "Thanks!")
    assert "\x1b[3" not in shown


@pytest.mark.long("starts the command line as a process")
async def test_a_dumb_terminal_gets_plain_text(start, monkeypatch):
    process = await start("ask", "Thanks!", wrapper=("env", "TERM=dumb"))
    out, _ = await process.communicate()
    assert b"\x1b" not in out


def test_the_version_is_printed(oracle):
    ran = oracle("--version")
    assert ran.code == 0
    assert ran.out.startswith("oracle 0.")


def test_without_a_command_the_help_is_shown(oracle):
    ran = oracle("--help")
    assert re.search(r"^  ask +Ask one question", ran.out, re.MULTILINE)
    assert re.search(r"^  trees +Check", ran.out, re.MULTILINE)


def test_an_unknown_command_is_reported(oracle):
    ran = oracle("aks")
    assert ran.code == 2
    assert "No such command 'aks'; there are ask, serve, pending, runs, trees, features, plugins, " in ran.err


def test_the_entry_is_the_console_script():
    assert main.__module__ == "oracle.cli.entry"


def test_the_package_can_be_run_as_the_command(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-m", "oracle", "--version"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("oracle ")


@pytest.mark.parametrize(("words", "right"), [(["seve"], "serve"), (["trees", "chekc"], "check")])
def test_the_closest_name_is_suggested_for_a_misspelt_command(oracle, words, right):
    ran = oracle(*words)
    assert ran.code == 2
    assert f"No such command {words[-1]!r}; did you mean {right!r}?" in ran.err
