"""The answer of a run that is followed: the words of a turn as they come, before a tick has recorded them."""

import asyncio
import itertools
import re

import pytest
from playwright.async_api import Locator, expect

from tests.acceptance.scripts import calls, says
from tests.service.server import Client
from tests.service.users import TOKENS, token_of
from tests.web.stage import held, held_answer
from tests.web.tab import Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

LOST = "net::ERR_|Failed to load resource"

RECORD = """
() => {
  const pane = document.querySelector("[role=tabpanel]");
  globalThis.drawn = [];
  (function look() {
    const texts = [...pane.querySelectorAll(".growing-markdown")].map((each) => each.textContent.trim());
    const seen = texts.join(" | ");
    if (globalThis.drawn.at(-1) !== seen) globalThis.drawn.push(seen);
    requestAnimationFrame(look);
  })();
}
"""
"""Keeps what the pane has shown of the answer, frame by frame."""


def pane(tab: Tab) -> Locator:
    return tab.page.get_by_role("tabpanel")


def words(tab: Tab) -> Locator:
    """The texts of the answer, in order."""
    return pane(tab).locator(".growing-markdown")


def caret(tab: Tab) -> Locator:
    return pane(tab).locator(".growing-markdown-caret")


def where(tab: Tab) -> Locator:
    return tab.page.locator(".tick-bar-where")


def completed(tab: Tab) -> Locator:
    return tab.page.locator(".run-head").get_by_text("completed")


async def test_words_are_shown_as_they_come_and_stay_when_their_tick_comes(tab, user, desk) -> None:
    first, second = asyncio.Event(), asyncio.Event()
    desk.play(
        held(says("I will **look**.", calls("search_code", query="RetryPolicy")), first, pieces=1),
        held_answer(second, "It is in `src/", "retry.py`."),
    )
    async with user.stream() as stream:
        await tab.go(f"/runs/{stream.run_id}?tab=answer")
        await expect(words(tab)).to_have_text(["I will look."])
        await expect(caret(tab)).to_have_count(1)
        await expect(where(tab)).to_contain_text("Tick 1 of 1")
        await tab.page.evaluate(RECORD)
        shown = await words(tab).element_handle()
        first.set()
        await expect(words(tab)).to_have_text(["I will look.", "It is in `src/"])
        await expect(pane(tab).locator("summary", has_text="search_code")).to_contain_text("ms")
        await expect(caret(tab)).to_have_count(1)
        second.set()
        await expect(completed(tab)).to_be_visible()
        await stream.rest()
    await expect(words(tab)).to_have_text(["I will look.", "It is in src/retry.py."])
    await expect(caret(tab)).to_have_count(0)
    drawn = await tab.page.evaluate("globalThis.drawn")
    for before, after in itertools.pairwise(drawn):
        assert after.replace("`", "").startswith(before.replace("`", "")), drawn
    assert await shown.evaluate("(element) => element.isConnected")
    await tab.page.reload()
    await expect(words(tab)).to_have_text(["I will look.", "It is in src/retry.py."])


async def test_scrubbed_back_the_pane_shows_what_had_been_read_by_then(tab, user, desk) -> None:
    gate = asyncio.Event()
    desk.play(
        says("I will look. ", calls("search_code", query="RetryPolicy")),
        held_answer(gate, "Second, ", "third."),
    )
    async with user.stream() as stream:
        await tab.go(f"/runs/{stream.run_id}?tab=answer")
        await expect(words(tab)).to_have_text(["I will look.", "Second,"])
        await tab.page.keyboard.press("Home")
        await expect(pane(tab)).to_contain_text("Nothing had been shown yet.")
        await tab.page.keyboard.press("ArrowRight")
        await expect(words(tab)).to_have_text(["I will look."])
        await tab.page.keyboard.press("l")
        await expect(words(tab)).to_have_text(["I will look.", "Second,"])
        gate.set()
        await expect(completed(tab)).to_be_visible()
        await stream.rest()
    await expect(words(tab)).to_have_text(["I will look.", "Second, third."])


@pytest.mark.smoke
async def test_a_lost_line_loses_and_doubles_no_word(browse, line, user, desk) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "First half, ", "second half."))
    async with user.stream() as stream:
        tab = await browse(at=line.url)
        tab.watch.allow(LOST)
        await tab.go(f"/runs/{stream.run_id}?tab=answer")
        await expect(words(tab)).to_have_text(["First half,"])
        line.cut()
        await expect(caret(tab)).to_have_count(0)
        await expect(words(tab)).to_have_text(["First half,"])
        line.mend()
        await tab.page.evaluate("window.dispatchEvent(new Event('online'))")
        await expect(caret(tab)).to_have_count(1)
        gate.set()
        await expect(completed(tab)).to_be_visible()
        await stream.rest()
    await expect(words(tab)).to_have_text(["First half, second half."])


async def test_a_question_of_the_chat_is_read_on_in_the_view_of_its_run(tab, desk) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "First half, ", "second half."))
    await tab.go("/")
    await tab.ask("Where is RetryPolicy?")
    article = tab.page.get_by_role("article")
    await expect(article.get_by_text("First half,", exact=True)).to_be_visible()
    await expect(tab.page).to_have_url(re.compile("/chat/"))  # the conversation is known after its first words
    await tab.page.get_by_role("link", name="Runs").click()
    await tab.page.get_by_role("link", name="Where is RetryPolicy?").first.click()
    await tab.page.get_by_role("tab", name="Answer").click()
    await expect(words(tab)).to_have_text(["First half,"])
    gate.set()
    await expect(completed(tab)).to_be_visible()
    await expect(words(tab)).to_have_text(["First half, second half."])
    await tab.page.go_back()
    await tab.page.go_back()
    await expect(article.get_by_text("First half, second half.", exact=True)).to_be_visible()


async def test_the_end_stays_in_view_unless_the_reader_has_scrolled_away(tab, user, desk) -> None:
    gates = [asyncio.Event() for _ in range(2)]
    many = "".join(f"Line {number}.\n\n" for number in range(60))
    desk.play(
        held(says((many, "The end of one.", " More of one."), calls("search_code", query="x")), gates[0], pieces=2),
        held_answer(gates[1], "Two. ", "The end of two."),
    )
    at_end = "(pane) => pane.scrollHeight - pane.scrollTop - pane.clientHeight < 2"
    async with user.stream() as stream:
        await tab.go(f"/runs/{stream.run_id}?tab=answer")
        await expect(words(tab)).to_contain_text("The end of one.")
        scrolled = pane(tab)
        element = await scrolled.element_handle()
        await tab.page.wait_for_function(at_end, arg=element)
        gates[0].set()
        await expect(words(tab)).to_have_count(2)
        await tab.page.wait_for_function(at_end, arg=element)
        await scrolled.hover()
        await tab.page.mouse.wheel(0, -600)
        await tab.page.wait_for_function(
            "(pane) => pane.scrollHeight - pane.scrollTop - pane.clientHeight >= 500", arg=element
        )
        top = await scrolled.evaluate("(pane) => pane.scrollTop")
        gates[1].set()
        await expect(completed(tab)).to_be_visible()
        await stream.rest()
    await expect(words(tab).last).to_contain_text("The end of two.")
    assert await scrolled.evaluate("(pane) => pane.scrollTop") == top


async def test_an_operator_sees_of_other_users_what_ticks_have_recorded(browse, guarded) -> None:
    gate = asyncio.Event()
    guarded.desk.play(
        says("I will look. ", calls("search_code", query="RetryPolicy")),
        held_answer(gate, "Second, ", "third."),
    )
    alice = Client(guarded, headers=token_of("alice"))
    try:
        async with alice.stream() as stream:
            tab = await browse(at=guarded.url)
            tab.watch.allow("401")
            asked: list[str] = []
            tab.page.on("request", lambda request: asked.append(request.url))
            await tab.go(f"/runs/{stream.run_id}?tab=answer")
            token = tab.page.get_by_label("Access token", exact=True)
            await token.fill(TOKENS["olga"])
            await token.press("Enter")
            await expect(where(tab)).to_contain_text("turn 2")
            await expect(words(tab).first).to_have_text("I will look.")
            await expect(caret(tab)).to_have_count(0)
            gate.set()
            await expect(completed(tab)).to_be_visible()
            await stream.rest()
        await expect(words(tab)).to_have_text(["I will look.", "Second, third."])
    finally:
        await alice.aclose()
    ticks = re.compile(f"/api/runs/{stream.run_id}/ticks/stream")
    assert any(map(ticks.search, asked))
    assert not [url for url in asked if "/api/oracle/runs/" in url]
