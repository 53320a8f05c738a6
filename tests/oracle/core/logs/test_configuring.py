import io
import json
import logging
import subprocess
import sys

import pytest
import structlog

from oracle.core.logs import configure_logging, configure_unless_configured


@pytest.fixture(autouse=True)
def own_logging():
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def lines(capsys):
    out, err = capsys.readouterr()
    assert out == ""
    return [json.loads(line) for line in err.splitlines()]


def test_an_event_is_a_line_of_json_with_the_names_of_run_and_user(capsys):
    configure_logging("info")
    with structlog.contextvars.bound_contextvars(run_id="r1", user_id="anna"):
        structlog.get_logger().info("run.finished", turns=2)
    (line,) = lines(capsys)
    assert line.pop("timestamp").endswith("Z")
    assert line == {"event": "run.finished", "level": "info", "run_id": "r1", "turns": 2, "user_id": "anna"}


def test_what_is_below_the_level_is_not_written(capsys):
    configure_logging("warning")
    structlog.get_logger().info("run.finished")
    assert lines(capsys) == []


def test_what_libraries_log_is_a_line_of_json_from_warning_on(capsys):
    configure_logging("info")
    library = logging.getLogger("uvicorn.error")
    library.info("GET /?token=hush-hush")
    library.warning("Invalid HTTP request %s.", "received")
    (line,) = lines(capsys)
    assert (line["event"], line["logger"], line["level"]) == (
        "Invalid HTTP request received.",
        "uvicorn.error",
        "warning",
    )


def test_a_librarys_exception_comes_with_its_traceback_and_without_values(capsys):
    configure_logging()
    hush = "hu" * 2
    try:
        1 / len(hush[4:])
    except ZeroDivisionError:
        logging.getLogger("asyncio").exception("Task exception was never retrieved")
    (line,) = lines(capsys)
    assert "ZeroDivisionError" in line["exception"]
    assert "huhu" not in line["exception"]


def test_configuring_twice_writes_nothing_twice(capsys):
    configure_logging()
    configure_logging()
    logging.getLogger("library").error("once")
    assert [line["event"] for line in lines(capsys)] == ["once"]


def test_a_host_that_has_configured_its_logs_is_left_alone(capsys):
    structlog.configure(processors=[structlog.processors.KeyValueRenderer()])
    configure_unless_configured("error")
    structlog.get_logger().info("host.spoke")
    assert capsys.readouterr().out == "event='host.spoke'\n"


@pytest.mark.long("starts an interpreter")
def test_a_host_that_has_not_gets_no_debug_lines_on_standard_output():
    code = """
import asyncio, structlog
from oracle import Ask, open_oracle, read_settings
async def main():
    async with open_oracle(read_settings(llm="offline")) as oracle:
        query = await oracle.open(Ask("Thanks!"), emit=lambda chunk: None)
        await query.run()
asyncio.run(main())
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


HOSTILE = "/\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u2066\x7f\r\nforged\ud800"


class Hostile:
    def __repr__(self):
        return "<\x1b[2J>"


def break_with(text):
    raise ValueError(text)


def logged_everywhere():
    log = structlog.get_logger()
    log.info(HOSTILE, path=HOSTILE, **{HOSTILE: 1}, many=[HOSTILE], thing=Hostile(), count=7)
    try:
        break_with(HOSTILE)
    except ValueError:
        log.exception("broke")


def test_nothing_that_is_logged_is_obeyed_by_a_terminal(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # what a terminal is to us
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    configure_logging("info")
    logged_everywhere()
    written = terminal.getvalue()
    assert [each for each in written if not each.isprintable() and each != "\n"] == []
    assert "count=7" in written
    first = written.splitlines()[0]
    for shown in (r"\x1b]0;owned\x07", r"\x9b31m", r"\u202e", r"\n"):
        assert shown in first
    assert "Traceback" in written


def test_a_line_of_json_has_no_control_characters_and_means_the_same(capsys):
    configure_logging("info")
    logged_everywhere()
    written = capsys.readouterr().err
    assert [each for each in written if not each.isprintable() and each != "\n"] == []
    said, broke = map(json.loads, written.splitlines())
    assert (said["event"], said["path"], said["many"], said[HOSTILE]) == (HOSTILE, HOSTILE, [HOSTILE], 1)
    assert HOSTILE.partition("\r")[0] in broke["exception"]


def test_text_that_goes_to_a_file_has_no_colours(capsys):
    configure_logging(as_text=True)
    structlog.get_logger().error("run.failed", problem="no model")
    out, err = capsys.readouterr()
    assert "run.failed" in err
    assert "no model" in err
    assert "\x1b" not in out + err
