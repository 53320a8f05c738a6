"""The views of runs: what they show, at every width, and that nothing hostile gets through."""

import io
import os
import re
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import RenderableType

from oracle.cli.run_sources.protocol import ListedRun
from oracle.cli.run_view.listing import run_table
from oracle.cli.run_view.page import Sections, deciding_tick, run_page, sentence_of, tick_line
from oracle.cli.run_view.screen import Page, Screen
from oracle.cli.run_view.words import cache_use, safe, shortened
from oracle.replay.histories.model import (
    BreachFacts,
    DecisionFacts,
    EndFacts,
    History,
    InterruptFacts,
    NoticeFacts,
    OperandFacts,
    SeamFacts,
    TurnFacts,
    UnderWayFacts,
)
from oracle.runs.storage.records import RunSummary, Span
from tests.oracle.cli import histories_made as made

WRITES = os.environ.get("ORACLE_TEST_WRITE") == "1"
"""Set to write the files anew; look at what has changed."""

HOSTILE = "\x1b]0;title\x07\x1b[2J\r\n\t\u202egnp.exe\u2066 漢字🧑‍🚀e\u0301\u0301 \x00\x9b31m" + "x" * 5_000

WHY, ANSWER, BOARD = Sections(why=True), Sections(answer=True), Sections(board=True)
TREE = Sections()

PAGES = {
    "tree-80": (made.stuck_once, 13, 80, TREE),
    "tree-100": (made.stuck_once, 13, 100, TREE),
    "tree-120": (made.stuck_once, 13, 120, TREE),
    "first-tick-100": (made.stuck_once, 1, 100, TREE),
    "tools-100": (made.stuck_once, 2, 100, TREE),
    "end-100": (made.stuck_once, None, 100, TREE),
    "last-tick-100": (made.stuck_once, 22, 100, TREE),
    "why-100": (made.stuck_once, 13, 100, WHY),
    "why-80": (made.stuck_once, 13, 80, WHY),
    "answer-100": (made.stuck_once, 13, 100, ANSWER),
    "board-100": (made.stuck_once, 13, 100, BOARD),
    "error-100": (made.with_error, 13, 100, TREE),
    "running-100": (lambda: made.running(9), None, 100, TREE),
    "not-begun-100": (lambda: made.running(0), None, 100, TREE),
    "gone-100": (made.gone, None, 100, TREE),
    "unexplained-100": (made.unexplained, 13, 100, TREE),
    "continued-100": (made.continued, 13, 100, TREE),
    "continued-120": (made.continued, 14, 120, TREE),
    "waiting-100": (lambda: made.continued(is_answered=False), None, 100, WHY),
}


def page_of(history: History, tick: int | None, width: int, sections: Sections = TREE) -> Page:
    position = deciding_tick(history) if tick is None else tick - 1
    return run_page(history, position, width=width, sections=sections, now=made.NOW)


def text_of(parts: Iterable[RenderableType], width: int) -> str:
    stream = io.StringIO()
    Screen("never", stream=stream, environ={"COLUMNS": str(width)}).write(parts)
    return stream.getvalue()


def lines_of(history: History, tick: int | None, width: int, sections: Sections = TREE) -> list[str]:
    return text_of(page_of(history, tick, width, sections).parts, width).splitlines()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_it_was(name: str) -> None:
    make, tick, width, sections = PAGES[name]
    shown = text_of(page_of(make(), tick, width, sections).parts, width)
    path = made.DATA / f"{name}.txt"
    if WRITES:
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [80, 81, 100, 120])
@pytest.mark.parametrize("sections", [TREE, WHY, ANSWER, BOARD])
def test_no_line_is_wider_than_the_terminal(width: int, sections: Sections) -> None:
    history = made.stuck_once()
    for tick in range(1, len(history.ticks) + 1):
        for line in lines_of(history, tick, width, sections):
            assert cell_len(line) <= width, line


@pytest.mark.parametrize("sections", [TREE, WHY, ANSWER, BOARD])
@pytest.mark.parametrize("width", [80, 133])
@pytest.mark.parametrize("hostile", [HOSTILE, "", "漢" * 300, "e\u0301" * 300, "\n".join("ab cd"), "🧑\u200d🚀" * 99])
def test_hostile_text_stays_on_its_line_and_does_nothing(hostile: str, width: int, sections: Sections) -> None:
    history = made.stuck_once()
    assert history.tree is not None
    history.run = replace(history.run, question=hostile, model=hostile, tree=hostile, termination_reason=hostile)
    history.tree = replace(
        history.tree,
        files={file: text.replace("signal", hostile) for file, text in history.tree.files.items()},
        nodes=tuple(replace(node, name=hostile if node.name else None, label=hostile) for node in history.tree.nodes),
    )
    history.notices.append(NoticeFacts(13, 5, 11.0, hostile, "info", hostile))
    tick = history.ticks[12]
    evil = tuple(
        replace(
            visit,
            text=hostile,
            sentence=hostile,
            evaluations=tuple(
                replace(each, operands=(OperandFacts(hostile, hostile),), value=hostile) for each in visit.evaluations
            ),
        )
        for visit in tick.visits
    )
    errors = ((history.tree.nodes[13].path, hostile),)
    history.ticks[12] = replace(
        tick, headline=hostile, writes=((hostile, hostile),), visits=evil, errors=errors, causes=(hostile,)
    )
    history.texts = [replace(text, text=hostile) for text in history.texts]
    asked = replace(made.ASKED, message=hostile, tool_name=hostile, arguments={hostile: hostile}, answered_by=hostile)
    history.interrupts = [InterruptFacts(13, 5, 9.7, asked)]
    history.decisions = [DecisionFacts(13, 9.7, asked, answer={hostile: hostile}, comment=hostile)]
    history.seams = [SeamFacts(13, 9.6, 2, 2.1, 2.1, (UnderWayFacts(hostile, hostile, hostile),))]
    history.problem = hostile
    assert tick_line(history, history.ticks[12]).plain.isprintable()
    for line in text_of(page_of(history, 13, width, sections).parts, width).split("\n"):
        assert line.isprintable(), repr(line)
        assert cell_len(line) <= width, line


def test_the_legend_names_interrupted_nodes_where_there_are_some() -> None:
    history = made.stuck_once()
    tick = replace(history.ticks[1], visited=(0,), visits=(), changes=((13, "INVALID"),), marks=">............/")
    halted = replace(history, ticks=[history.ticks[0], tick, *history.ticks[2:]])
    assert "╸ interrupted" in lines_of(halted, 2, 120)[-1]
    assert "interrupted" not in lines_of(history, 2, 120)[-1]


def test_children_that_were_not_asked_share_a_line_when_they_are_many() -> None:
    history = made.stuck_once()
    assert history.tree is not None
    node = next(node for node in reversed(history.tree.nodes) if node.file == "follow_signal.yaml" and node.line == 69)
    extra = tuple(replace(node, index=len(history.tree.nodes) + n, line=node.line + n) for n in range(400))
    history.tree = replace(history.tree, nodes=(*history.tree.nodes, *extra))
    lines = lines_of(history, 13, 100)
    assert len(lines) < 70
    assert any("… 405 not asked: another_turn to stop" in line for line in lines)


@pytest.mark.parametrize(("height", "width"), [(24, 80), (40, 100), (10, 80), (200, 100)])
def test_a_page_is_cut_to_the_screen_around_the_decision(height: int, width: int) -> None:
    page = page_of(made.stuck_once(), 13, width)
    screen = Screen("never", stream=io.StringIO(), environ={"COLUMNS": str(width)})
    seen = ["".join(piece.text for piece in line).rstrip() for line in screen.cropped(page, height)]
    assert len(seen) <= height
    if height >= 24:
        assert any(line.startswith("▸") for line in seen)
        assert seen[-1] == text_of(page.parts, width).splitlines()[-1]


def rows() -> list[ListedRun]:
    shape = (Span("turn", 0, 900), Span("tool", 900, 50), Span("turn", 950, 4_000), Span("notice", 4_950, 0))
    return [
        ListedRun(made.facts(id="aaaaaaaa1", created_at=made.NOW - 200), RunSummary(1, 0, 1, 0, 9, shape)),
        ListedRun(made.facts(id="aaaaaaaa2", termination_reason="error"), RunSummary(0, 2, 0, 0, 4, shape)),
        ListedRun(made.facts(id="bbbbbbbb1", status="running", termination_reason=None, finished_at=None)),
        ListedRun(made.facts(id="bbbbbbbb2", status="parked", termination_reason=None, finished_at=None)),
        ListedRun(made.facts(id="bbbbbbbb3", status="queued", termination_reason=None, finished_at=None)),
        ListedRun(made.facts(id="cccccccc1", kept="gone", question="", termination_reason="user_cancelled")),
        ListedRun(made.facts(id="dddddddd1", question=HOSTILE, termination_reason="max_iterations")),
    ]


@pytest.mark.parametrize("width", [80, 100, 120, 160, 200])
def test_a_list_is_as_it_was(width: int) -> None:
    shown = text_of([run_table(rows(), width=width, now=made.NOW, has_head=True)], width)
    path = made.DATA / f"list-{width}.txt"
    if WRITES:
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")
    for line in shown.splitlines():
        assert cell_len(line) <= width
        assert line.isprintable()


RUN = made.facts()
texts = st.text(alphabet="漢\u0301\x1b[m\r\n\t🧑\u200d x\u202e", max_size=60) | st.text(max_size=60)


@given(texts, st.integers(80, 200))
@pytest.mark.long("many examples of a line")
def test_each_run_is_one_line_of_a_list(question: str, width: int) -> None:
    listed = [ListedRun(replace(RUN, question=question, tree=question))]
    line, end = text_of([run_table(listed, width=width, now=made.NOW, has_head=False)], width).split("\n")
    assert cell_len(line) <= width
    assert (line + end).isprintable()


@given(texts, st.integers(2, 40))
def test_a_text_is_shortened_to_its_width(value: str, width: int) -> None:
    short = shortened(safe(value), width)
    assert cell_len(short) <= width
    assert safe(value).startswith(short.removesuffix("…").rstrip())


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def written(stream: io.StringIO, color: str, monkeypatch: pytest.MonkeyPatch, **environ: str) -> str:
    for name, value in {"TERM": "xterm-256color", **environ}.items():
        monkeypatch.setenv(name, value)
    screen = Screen(color, widest=100, stream=stream)  # type: ignore[arg-type]
    screen.write(page_of(made.stuck_once(), 13, 100).parts)
    return stream.getvalue()


def test_output_to_a_pipe_is_plain_and_a_terminal_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    plain = text_of(page_of(made.stuck_once(), 13, 100).parts, 100)
    assert written(io.StringIO(), "auto", monkeypatch) == plain
    assert written(Terminal(), "never", monkeypatch) == plain
    assert written(Terminal(), "auto", monkeypatch, NO_COLOR="1") == plain
    monkeypatch.delenv("NO_COLOR")
    for stream, color in ((Terminal(), "auto"), (io.StringIO(), "always")):
        coloured = written(stream, color, monkeypatch)
        assert "\x1b[" in coloured
        without = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
        assert [line.rstrip() for line in without.splitlines()] == plain.splitlines()


def test_a_stream_without_the_marks_gets_others_of_the_same_width() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Screen("never", stream=stream, widest=100).write(page_of(made.stuck_once(), 13, 100).parts)
    shown = raw.getvalue().decode("ascii").splitlines()
    assert [len(line) for line in shown] == [cell_len(line) for line in lines_of(made.stuck_once(), 13, 100)]
    assert any("tool_calls 0 > no" in line for line in shown)


@pytest.mark.parametrize(
    ("headline", "sentence", "shown"),
    [
        ("Turn 2 is stuck. The run stops.", "The run stops.", "Turn 2 is stuck. The run stops."),
        ("Turn 2 is stuck.", "The floor ended it.", "Turn 2 is stuck. The floor ended it."),
        ("", "The floor ended it.", "The floor ended it."),
        ("Turn 2 is stuck.", "", "Turn 2 is stuck."),
    ],
    ids=["said already", "says more", "end alone", "tick alone"],
)
def test_the_tick_that_decided_the_end_says_what_came_in_and_the_end_where_that_says_more(headline, sentence, shown):
    history = made.stuck_once()
    tick = replace(history.ticks[-1], headline=headline)
    history.end = EndFacts("stuck", tick.tick, None, sentence)
    assert sentence_of(history, tick) == shown


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, ""),
        (
            {"input_tokens": 9_320, "cache_read_tokens": 8_900, "cache_creation_tokens": 300},
            "input 8.9k cached, 300 written, 120 fresh",
        ),
        (
            {"input_tokens": 500, "cache_creation_tokens": 500, "cache_miss": "tools_changed"},
            "input 0 cached, 500 written, 0 fresh · cache missed: the tools changed",
        ),
        ({"input_tokens": 500, "cache_miss": "model_changed"}, "cache missed: another model was asked"),
    ],
    ids=["nothing", "read", "missed", "not-cached"],
)
def test_a_turn_says_what_the_cache_had_of_its_input_and_why_it_was_missed(facts, words):
    assert cache_use(TurnFacts(1, 1, 1, 2, 0.0, 1.0, **facts)) == words


def test_the_line_of_a_turn_says_it():
    history = made.stuck_once()
    history.turns[4] = replace(history.turns[4], input_tokens=900, cache_read_tokens=800, cache_miss="messages_changed")
    assert "input 800 cached, 0 written, 100 fresh · cache missed: earlier messages" in text_of(
        page_of(history, 13, 200).parts, 200
    )


def test_what_a_rule_has_refused_is_named_with_what_led_to_it() -> None:
    history = made.stuck_once()
    what = "tool send_mail, after the result of read_inbox"
    breach = BreachFacts(2, 1, "nothing_leaks", "Nothing leaks.", "refuse", what)
    history.breaches[:] = [breach, replace(breach, enforcement="notify"), *(breach,) * 6]
    refused = [line for line in lines_of(history, None, 120) if line.startswith("Refused")]
    named = f"Refused in turn 1 by the rule nothing_leaks: {what}."
    assert refused == [*(named,) * 5, "Refused besides: 2 calls."]
