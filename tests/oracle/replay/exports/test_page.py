"""The page of a run, in a real Chromium."""

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from oracle.agent.nodes import REGISTRY
from oracle.core.errors import OperatorError
from oracle.replay.exports import formats
from oracle.replay.exports.formats import embedded, render_page, render_run
from oracle.replay.exports.redaction import without_texts
from oracle.replay.histories.model import History
from oracle.replay.histories.view import add_view
from tests.oracle.replay.exports.browser import Page
from tests.oracle.replay.exports.synthetic import HOSTILE, hostile, large
from tests.web.built import missing_for_the_console

SELECTED = "document.querySelector('.source-scroller .source-row.is-selected')"
TABPANEL = "document.querySelector('[role=tabpanel]:not([hidden])').textContent"


@pytest.fixture(scope="session")
def built() -> None:
    """The page is built."""
    if missing := missing_for_the_console():
        pytest.skip(missing)


@pytest.fixture
def show(built, tab: Page, tmp_path: Path):
    """Open the page of a run; it must load nothing, and break no rule of its own policy."""

    def open_(history: History, *, tick: int | None = None, width: int = 1280, scheme: str = "light") -> Page:
        path = tmp_path / "run.html"
        add_view(history)  # of what a test has changed
        path.write_text(render_page(history, tick=tick), encoding="utf-8")
        tab.size(width, 800, scheme=scheme)
        tab.open(path)
        assert tab.problems() == []
        assert tab.requests() == [path.as_uri()]
        return tab

    return open_


def where(page: Page) -> str:
    return page.run("document.querySelector('.tick-bar-where b').textContent")


def test_it_begins_at_the_tick_that_is_asked_for_with_the_decision_in_view(show, stuck):
    page = show(stuck, tick=2)
    assert where(page) == "Tick 2"
    decision = page.run("document.querySelector('.source-scroller .source-row.is-decision').getAttribute('aria-label')")
    assert re.match(r"line \d+, try_strategy, use_untried_tools, success", decision)
    top, bottom = page.run(
        "(() => { const a = document.querySelector('.source-row.is-decision').getBoundingClientRect(), "
        "b = document.querySelector('.source-scroller').getBoundingClientRect(); "
        "return [a.top - b.top, b.bottom - a.bottom]; })()"
    )
    assert top > 0
    assert bottom > 0


def test_values_stand_at_their_operands_and_clauses_say_what_came_of_them(show, stuck):
    page = show(stuck, tick=2)
    labels = page.run("[...document.querySelectorAll('[role=row]')].map(row => row.getAttribute('aria-label'))")
    assert any(re.search(r'condition, success, signal "stuck"', label) for label in labels)
    assert page.run("document.querySelectorAll('.source-token.is-yes').length") > 0
    assert '"stuck"' in page.run("[...document.querySelectorAll('.source-value.is-yes')].map(each => each.textContent)")


def test_keys_move_through_ticks_turns_tabs_and_lines(show, stuck):
    page = show(stuck, tick=2)
    second = next(tick.tick for tick in stuck.ticks if tick.turn == 2)
    first = next(tick.tick for tick in stuck.ticks if tick.turn == 1)
    for key, shift, expected in (
        ("ArrowRight", False, "Tick 3"),
        ("ArrowLeft", False, "Tick 2"),
        ("End", False, "Tick 5"),
        ("Home", False, "Tick 1"),
        ("ArrowLeft", False, "Tick 1"),
        ("ArrowRight", True, f"Tick {second}"),
        ("ArrowLeft", True, f"Tick {first}"),
    ):
        page.press(key, shift=shift)
        assert where(page) == expected, (key, shift)
    for key, name in (("2", "Answer"), ("3", "Blackboard"), ("4", "Messages"), ("1", "Why")):
        page.press(key)
        assert page.run("document.querySelector('[role=tab][aria-selected=true]').textContent").startswith(name)
    page.press("d")
    assert "is-decision" in page.run(f"{SELECTED}.className")
    page.press("ArrowUp")
    assert "is-decision" not in page.run(f"{SELECTED}.className")
    unseen = "[...document.querySelectorAll('.source-row')].filter(row => row.textContent.includes('children:')).length"
    assert page.run(unseen) == 0
    page.press("a")
    assert page.run(unseen) > 0
    page.press("?")
    assert page.run("document.querySelector('dialog').open") is True
    page.run("document.querySelector('dialog').close()")


def test_enter_folds_a_line_and_search_unfolds_what_it_finds(show, stuck):
    page = show(stuck, tick=2)
    page.run("document.querySelector('.source-row[aria-expanded=true]').click()")
    page.settle()
    page.press("Enter")
    assert page.run(f"{SELECTED}.getAttribute('aria-expanded')") == "false"
    page.press("Enter")
    assert page.run(f"{SELECTED}.getAttribute('aria-expanded')") == "true"
    page.press("/")
    page.type("refuse_tools")
    page.press("Enter")
    assert "refuse_tools" in page.run(f"{SELECTED}.textContent")


def test_the_mouse_scrubs_in_the_overview_and_in_the_matrix(show, stuck):
    page = show(stuck, tick=2)
    box = (
        "(() => { const b = document.querySelector('%s').getBoundingClientRect(); return [b.left, b.top, b.right]; })()"
    )
    left, top, right = page.run(box % ".overview")
    page.drag((left + 80, top + 60), (right - 20, top + 60))
    assert where(page) == "Tick 5"
    left, top, right = page.run(box % ".source-rows > canvas")
    page.drag((right - 20, top + 100), (left + 2, top + 100))
    assert where(page) == "Tick 1"


def test_answer_blackboard_and_messages_are_those_of_the_tick(show, tools):
    page = show(tools, tick=1)
    page.press("2")
    assert "search_code" not in page.run(TABPANEL)
    assert tools.run.question in page.run(TABPANEL)
    page.press("End")
    assert "search_code" in page.run(TABPANEL)
    assert "Searching." in page.run(TABPANEL)
    page.press("3")
    assert "Unchanged" in page.run(TABPANEL)
    page.press("4")
    assert "Request of turn 2" in page.run(TABPANEL)


def test_it_names_its_parts_for_screen_readers(show, stuck):
    page = show(stuck, tick=2)
    slider = page.run("[...document.querySelector('[role=slider]').attributes].map(each => [each.name, each.value])")
    assert dict(slider)["aria-valuetext"] == "tick 2 of 5, turn 1"
    assert page.run("document.querySelector('.tick-bar-headline').getAttribute('aria-live')") == "polite"
    assert page.run("document.querySelectorAll('[role=treegrid] [role=row][aria-level]').length") > 5
    controls = "[...document.querySelectorAll('button, input')]"
    assert page.run(f"{controls}.filter(each => !each.textContent && !each.ariaLabel && !each.id).length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_has_the_colours_that_the_reader_prefers(show, stuck, scheme):
    page = show(stuck, scheme=scheme, tick=2)
    assert page.run("document.documentElement.dataset.theme") == scheme
    contrast = page.run("getComputedStyle(document.querySelector('.run')).backgroundColor")
    assert contrast == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 20, 24)"}[scheme]


def test_no_text_of_a_run_becomes_markup_or_script(show, tools):
    page = show(hostile(tools), tick=2, width=1680)
    for key in (*"1234", "a", "t", "End", *"1234", "?"):
        page.press(key)
        assert page.problems() == []
    assert page.run("window.hacked") is None
    assert page.run("document.querySelectorAll('img, iframe, object, script:not([type])').length") == 1  # its own
    page.run("document.querySelector('dialog').close()")
    assert page.run("document.querySelector('h1').textContent") == HOSTILE
    page.press("2")
    assert HOSTILE in page.run("document.querySelector('.answer-question').textContent")
    assert page.run("document.title").startswith(tools.run.id[:8])


def test_the_data_cannot_end_its_element():
    text = embedded({"a": "</script>", "b": "<!--", "c": "\u2028\u2029", "d": "&amp;"})
    assert not re.search("[<>&\u2028\u2029]", text)


@pytest.mark.usefixtures("built")
def test_the_policy_names_the_digests_of_the_one_script_and_style(stuck):
    page = render_page(stuck, tick=None)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    head, _, rest = page.partition("<style>")
    style, _, rest = rest.partition("</style>")
    script = rest.rpartition("<script>")[2].partition("</script>")[0]
    for text in (style, script):
        assert b64encode(sha256(text.encode()).digest()).decode() in policy
    assert not re.search(r"(src|href)=", head + rest.partition("</script>")[0])
    assert len(page) - len(rest) < 600_000


def test_where_it_is_not_built_it_says_how(stuck, monkeypatch, tmp_path):
    monkeypatch.setattr(formats, "EXPORT_PAGE", tmp_path / "export.html")
    with pytest.raises(OperatorError, match=r"Node\.js .* `python web/tasks\.py build`"):
        render_run(stuck, "html", registry=REGISTRY)
    assert render_run(stuck, "json", registry=REGISTRY)


def test_a_run_without_a_tree_or_ticks_says_so(show, stuck):
    stuck.tree = None
    stuck.problem = "no YAML tree drove it"
    stuck.end = None
    page = show(History(stuck.run, problem="its version of the tree is not in the store any more"))
    assert "its version of the tree is not in the store any more" in page.run("document.body.innerText")
    for key in ("ArrowRight", "End", "d", "2", "Enter", " ", "n", "e", "t", "a"):
        page.press(key)
        assert page.problems() == []


def test_an_error_is_found_with_its_message(show, stuck):
    tick = next(each for each in stuck.ticks if each.tick == 4)
    node = next(each for each in stuck.tree.nodes if each.index == tick.visited[-3])
    error = "ValueError: not a number"
    visits = tuple(replace(each, errors=(error,)) if each.node == node.index else each for each in tick.visits)
    stuck.ticks[3] = replace(tick, errors=((node.path, error),), visits=visits)
    page = show(stuck, tick=1)
    page.press("e")
    assert where(page) == "Tick 4"
    selected = page.run("document.querySelector('.source-row.is-selected').getAttribute('aria-label')")
    assert selected.startswith(f"line {node.line}, {node.kind}, error")
    assert error in page.run("document.querySelector('.why').textContent")


def test_a_run_without_texts_is_shown_with_its_figures(show, tools):
    page = show(without_texts(tools), tick=2)
    assert page.run("document.querySelector('.tick-bar-headline').textContent").strip().endswith("decided: running.")
    assert "The texts of this run were left out or deleted." in page.run("document.body.innerText")
    for key in (*"1234", "End", *"1234", "a", "e"):
        page.press(key)
        assert page.problems() == []


@pytest.mark.long("exports a run of thousands of ticks")
def test_a_large_run_stays_usable(show):
    page = show(large(nodes=400, ticks=2000), tick=1999)
    assert where(page) == "Tick 1999"
    assert page.run("document.querySelectorAll('.source-row').length") < 100
    page.run("window.took = []")
    frame = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
    key = "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft', bubbles: true}))"
    page.run(
        f"(async () => {{ for (let n = 0; n < 20; n++) {{ const begun = performance.now(); {key}; "
        f"await {frame}; window.took.push(performance.now() - begun); }} }})()"
    )
    took = sorted(page.run("window.took"))
    assert took[10] < 250, took  # ms for a step; about 30 without other load
    assert where(page) == "Tick 1979"
