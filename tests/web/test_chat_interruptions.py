"""The chat when the network or the service goes away: no word is lost, none comes twice, nothing is asked twice."""

import asyncio
import re

import pytest
from playwright.async_api import Locator, Page, expect

from tests.acceptance.scripts import answers
from tests.web.stage import held_answer

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "Where is RetryPolicy defined in the code?"
LOST = "net::ERR_|Failed to load resource"


def said(page: Page, text: str | re.Pattern[str]) -> Locator:
    """A text of the conversation, as a whole; screen readers hear it from elsewhere."""
    return page.get_by_role("article").get_by_text(text, exact=True)


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    return {"ORACLE_DRAIN_S": "1", "ORACLE_RUNS_PER_USER": "2"}


async def test_a_lost_network_in_mid_stream_loses_and_doubles_no_word(browse, line, desk, service) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "First half, ", "second half."))
    tab = await browse("/", at=line.url)
    tab.watch.allow(LOST)
    line.cut_after("First half,")
    await tab.ask(QUESTION)
    await expect(tab.page.get_by_text("Connection lost.")).to_be_visible()
    await expect(tab.page.get_by_text(re.compile(r"Trying again in \d+ s"))).to_be_visible()
    await expect(tab.page.get_by_role("banner").get_by_text("Reconnecting")).to_be_visible()
    line.mend()
    gate.set()
    await tab.page.get_by_role("button", name="Try now").click()
    await expect(said(tab.page, "First half, second half.")).to_be_visible()
    await expect(tab.page.get_by_text("Connection lost.")).to_have_count(0)
    await expect(tab.page.get_by_role("banner").get_by_text("Connected")).to_be_visible()


async def test_after_some_chunks_the_strip_says_from_which_one_it_goes_on(browse, line, desk, service) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "First half, ", "second half."))
    tab = await browse("/", at=line.url)
    tab.watch.allow(LOST)
    await tab.ask(QUESTION)
    await expect(said(tab.page, "First half,")).to_be_visible()
    line.cut()
    await expect(tab.page.get_by_text(re.compile(r"Trying again in \d+ s, from chunk 1\."))).to_be_visible()
    await expect(said(tab.page, "First half,")).to_be_visible()
    line.mend()
    gate.set()
    await tab.page.evaluate("window.dispatchEvent(new Event('online'))")
    await expect(said(tab.page, "First half, second half.")).to_be_visible()


async def test_a_question_whose_response_was_lost_is_asked_once(browse, line, desk, service, user) -> None:
    question = "Where is the word onlyonce in the code?"
    desk.play(answers("Nowhere."))
    tab = await browse("/", at=line.url)
    tab.watch.allow(LOST)
    await expect(
        tab.page.get_by_role("button", name="Tree: oracle").or_(tab.page.get_by_title("Tree: oracle"))
    ).to_be_visible()
    line.cut_after("x-run-id")
    await tab.ask(question)
    await expect(tab.page.get_by_text("The question is sent again, but runs only once.")).to_be_visible()
    line.mend()
    await tab.page.get_by_role("button", name="Try now").click()
    await expect(said(tab.page, "Nowhere.")).to_be_visible()
    found = await user.http.get("/api/runs", params={"search": "onlyonce"})
    assert len(found.json()["runs"]) == 1


async def test_a_restart_of_the_service_in_mid_stream_keeps_what_was_said(browse, service, desk) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "First half, ", "second half."))
    tab = await browse("/")
    tab.watch.allow(LOST)
    await tab.ask(QUESTION)
    await expect(said(tab.page, "First half,")).to_be_visible()
    await expect(tab.page).to_have_url(re.compile(r"/chat/\w+"))
    port = service.port
    await service.kill()
    await expect(tab.page.get_by_text("Connection lost.")).to_be_visible()
    desk.play(answers("second half."))
    await service.start(port=port)
    gate.set()
    await expect(said(tab.page, "First half, second half.")).to_be_visible()
    await expect(tab.page.get_by_text("Connection lost.")).to_have_count(0)
    await tab.page.reload()
    await expect(said(tab.page, "First half, second half.")).to_have_count(1)


async def test_the_answer_of_a_service_that_stops_goes_on_after_its_start(browse, service, desk) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "First half, ", "second half."))
    tab = await browse("/")
    tab.watch.allow(LOST)
    await tab.ask(QUESTION)
    await expect(said(tab.page, "First half,")).to_be_visible()
    port = service.port
    await service.stop()
    desk.play(answers("second half."))
    await service.start(port=port)
    gate.set()
    await expect(said(tab.page, "First half, second half.")).to_be_visible()


async def test_too_many_questions_at_once_leave_the_text_in_the_box(browse, service, desk, user) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "A", "."), held_answer(gate, "B", "."))
    tab = await browse("/")
    tab.watch.allow("429")
    async with user.stream(QUESTION) as one, user.stream(QUESTION) as two:
        await one.until_content("A")
        await two.until_content("B")
        await tab.ask("And a third one?")
        row = tab.page.get_by_role("status").filter(has_text="System")
        await expect(row).to_contain_text("You have reached the number of concurrent runs")
        await expect(row).to_contain_text("429")
        await expect(tab.page.get_by_text("Your text is still in the box.")).to_be_visible()
        await expect(tab.composer).to_have_value("And a third one?")
        gate.set()
        await one.rest()
        await two.rest()
    desk.play(answers("Now it goes."))
    await tab.composer.press("Enter")
    await expect(said(tab.page, "Now it goes.")).to_be_visible()
