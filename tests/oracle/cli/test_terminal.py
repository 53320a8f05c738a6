import io
import random
import re

import pytest
from rich.console import Console

from oracle.cli.streams import SafeStream
from oracle.cli.terminal import TerminalView
from oracle.core.chunks import (
    Content,
    Done,
    Failed,
    Source,
    SourceFound,
    SystemNotice,
    Thinking,
    ToolCall,
    ToolCalled,
    ToolReturned,
)

DONE = Done("completed", 1234, tokens_estimated=False, model_used="m", context_id="c", run_id="r", turns=3)
CALL = ToolCalled(ToolCall("1", "search_code", {"query": "auth"}))
RESULT = ToolReturned("1", "two hits", is_error=False, duration_ms=35)
NOTICE = SystemNotice("limit_warning", "Approaching [bold]limit[/bold].", "warning", "t")


class Terminal(io.StringIO):
    encoding = "utf-8"


def raw(*chunks, no_color=False):
    file = Terminal()
    console = Console(
        file=file,
        force_terminal=True,
        color_system="truecolor",
        width=60,
        height=20,
        highlight=False,
        markup=False,
        no_color=no_color,
        _environ={"TERM": "xterm-256color"},
    )
    times = iter([0.0, 1.2])
    view = TerminalView(console, SafeStream(file, on_failure=pytest.fail), now=lambda: next(times))
    view.start()
    for chunk in chunks:
        view.show(chunk)
    view.close()
    return file.getvalue()


def screen(*chunks):
    """The text left on the screen, without erased lines and colours."""
    rows, column = [""], 0
    for token in re.findall(r"\x1b\[[?0-9;]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", raw(*chunks)):
        if token == "\n":
            rows.append("")
            column = 0
        elif token == "\r":
            column = 0
        elif re.fullmatch(r"\x1b\[\d*A", token):
            up = int(token[2:-1] or 1)
            rows = rows[: len(rows) - up] if up < len(rows) else [""]
        elif token == "\x1b[2K":
            rows[-1], column = "", 0
        elif not token.startswith("\x1b"):
            rows[-1] = rows[-1][:column] + token
            column += len(token)
    return "\n".join(rows)


def test_text_tool_calls_and_notifications_are_separated_and_in_order():
    shown = screen(
        Thinking("hm"),
        Content("Let me "),
        Content("look."),
        CALL,
        RESULT,
        NOTICE,
        Content("\n\n"),
        Content("Here it is."),
        SourceFound(Source("a.py", "code", line=1)),
        SourceFound(Source("a.py", "code", line=1, snippet="again")),
        DONE,
    )
    assert shown == (
        "Let me look.\n"
        "\n"
        '✓ search_code(query="auth")  35 ms\n'
        "! Approaching [bold]limit[/bold].\n"
        "\n"
        "Here it is.\n"
        "\n"
        "Sources\n"
        "  a.py:1\n"
        "\n"
        "completed · 3 turns · 1,234 tokens · m · 1.2 s\n"
    )


def test_running_calls_have_spinners_below_that_vanish_at_their_end():
    shown = raw(CALL)
    assert "\N{BRAILLE PATTERN DOTS-124}" in shown
    assert 'search_code(query="auth")' in shown
    assert screen(CALL, RESULT, DONE).count("search_code") == 1


def test_parallel_calls_are_each_shown_as_they_end():
    second = ToolCalled(ToolCall("2", "read_file", {"path": "b.py"}))
    shown = screen(CALL, second, ToolReturned("2", "no such file", is_error=True, duration_ms=1), RESULT, DONE)
    assert shown.startswith(
        '✗ read_file(path="b.py")  1 ms · no such file\n✓ search_code(query="auth")  35 ms\n\ncompleted'
    )


ANSWER = """# Title

A paragraph that is longer than the screen is wide, so that it takes more than one line of it, and `code`.

1. one
2. two
   - half

```python
x = 1

y = 2
```

| a | b |
|---|---|
| 1 | 2 |

The end."""
SHOWN = """Title

A paragraph that is longer than the screen is wide, so that
it takes more than one line of it, and code.

 1 one
 2 two
    • half

  x = 1

  y = 2

a   b
─────
1   2

The end.

completed · 3 turns · 1,234 tokens · m · 1.2 s
"""


@pytest.mark.parametrize("seed", range(8))
def test_markdown_in_any_pieces_is_rendered_and_shown_once(seed):
    rng = random.Random(seed)
    cuts = sorted(rng.randrange(len(ANSWER)) for _ in range(40))
    pieces = [ANSWER[start:end] for start, end in zip([0, *cuts], [*cuts, len(ANSWER)], strict=True)]
    assert screen(*(Content(piece) for piece in pieces), DONE) == SHOWN


def test_an_unfinished_block_is_shown_when_the_answer_is_cut_off():
    assert screen(Content("Half of a sent")) == "Half of a sent\n"
    assert screen(Content("```\nx = 1")) == "  x = 1\n"


def test_a_block_taller_than_the_screen_is_complete_when_it_is_finished():
    lines = [f"line {number}" for number in range(60)]
    assert screen(Content("```\n"), *(Content(f"{line}\n") for line in lines), Content("```\n")) == "".join(
        f"  {line}\n" for line in lines
    )


def test_one_empty_line_separates_the_text_of_two_turns_and_the_calls_between():
    shown = screen(
        Content("A"), Content("\n\n"), Thinking("hm"), CALL, RESULT, Thinking("hm"), Content("\n\n"), Content("B")
    )
    assert shown == 'A\n\n✓ search_code(query="auth")  35 ms\n\nB\n'


def test_notifications_are_amber():
    assert "\x1b[38;2;255;176;0m! Approaching" in raw(NOTICE)


def test_no_colour_is_used_if_colour_is_turned_off():
    assert "38;2" not in raw(CALL, RESULT, NOTICE, DONE, no_color=True)


def test_thinking_is_hidden():
    assert "secretly" not in raw(Thinking("secretly"), Content("Hi."), DONE)


def test_an_error_is_shown_once_in_the_sentence_that_ends_the_answer():
    shown = screen(
        Content("Half"), Failed("It failed.", "internal"), Content("\n\n"), Content("Stopped: It failed."), DONE
    )
    assert shown.startswith("Half\n\nStopped: It failed.\n\ncompleted")


def test_the_cursor_is_restored_after_an_interruption():
    shown = raw(CALL)
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")


def test_hostile_text_does_not_reach_the_terminal():
    evil = "\x1b]0;owned\x07\x1b[2J\u202e"
    call = ToolCalled(ToolCall("1", f"t{evil}", {f"k{evil}": evil}))
    shown = raw(
        Content(evil),
        call,
        ToolReturned("1", evil, is_error=True, duration_ms=1),
        SystemNotice("stuck", evil, "warning", "t"),
        SourceFound(Source(evil, "code")),
        Done("completed", 1, tokens_estimated=False, model_used=evil, context_id="c", run_id="r", turns=1),
    )
    assert "\x1b]" not in shown
    assert "\x07" not in shown
    assert "\x1b[2J" not in shown
    assert "\u202e" not in shown


def test_a_long_list_of_sources_is_cut():
    shown = screen(*(SourceFound(Source(f"{n}.py", "code")) for n in range(30)), DONE)
    assert "  19.py\n  … and 10 more\n" in shown
