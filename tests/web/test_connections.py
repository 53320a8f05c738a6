"""Six connections are all that a browser has for a service over HTTP/1.1, for all of its tabs together."""

import asyncio

import pytest
from playwright.async_api import Page, expect

from tests.web.stage import held_answer
from tests.web.tab import DESKTOP

pytestmark = pytest.mark.asyncio(loop_scope="session")

TABS = 5

SHOW = """(state) => {
  Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""Playwright's pages are all shown, whichever is in front."""

ANSWERS = """async (count) => {
  const signal = AbortSignal.timeout(10_000);
  const responses = await Promise.all(Array.from({ length: count }, () => fetch("/api/me", { signal })));
  return responses.every((response) => response.ok);
}"""


@pytest.fixture(scope="module")
def settings():
    return {}  # a service without other runs


def question(number: int) -> str:
    return f"Where is number {number} in the code?"


async def turn_away(page: Page) -> None:
    """Hide a tab, and wait until the tab has taken note of it: it waits for its place, or has it."""
    async with page.expect_request("**/api/oracle/runs/*/stream"):
        await page.evaluate(SHOW, "hidden")


@pytest.mark.long("a dozen tabs of a browser")
async def test_answers_in_many_tabs_leave_connections_for_calls(browse, service, stage) -> None:
    gates = [asyncio.Event() for _ in range(TABS)]
    for number, gate in enumerate(gates):
        stage.lay(question(number), held_answer(gate, f"First {number}, ", f"second {number}."))
    tab = await browse("/", size=DESKTOP)
    pages = [tab.page]
    try:
        for number in range(TABS):
            if number:
                page = await tab.context.new_page()
                await page.goto(f"{service.url}/")
                pages.append(page)
            field = pages[number].get_by_role("textbox", name="Question", exact=True)
            await field.fill(question(number))
            await field.press("Enter")
            await expect(pages[number].get_by_text(f"First {number},")).to_be_visible()
            if number < TABS - 1:
                await turn_away(pages[number])
        assert await pages[-1].evaluate(ANSWERS, 3)
        for gate in gates:
            gate.set()
        for number, page in enumerate(pages):
            await page.evaluate(SHOW, "visible")
            await expect(page.get_by_text(f"First {number}, second {number}.").first).to_be_visible()
            await expect(page.get_by_text("Completed").first).to_be_visible()
    finally:
        for gate in gates:
            gate.set()
        for page in pages[1:]:
            await page.close()
