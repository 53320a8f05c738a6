"""The palette while its code is on its way: it comes behind the first page, and no key goes to the page meanwhile."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Locator, Route, expect

from tests.web.gallery import Gallery
from tests.web.scenes import settled
from tests.web.tab import Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

CODE = re.compile(r"/assets/Palette-.*\.js$")
AT_13 = "/runs/{poll}?tick=13"


def palette(tab: Tab) -> Locator:
    return tab.page.get_by_role("dialog", name="Go to")


def field(tab: Tab) -> Locator:
    return palette(tab).get_by_role("combobox")


@asynccontextmanager
async def held_code(tab: Tab) -> AsyncIterator[asyncio.Event]:
    """A tab in which the code of the palette has been asked for, and comes when the event is set."""
    gate, asked = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        asked.set()
        await gate.wait()
        await route.continue_()

    await tab.page.route(CODE, hold)
    try:
        yield gate
        assert asked.is_set()
    finally:
        gate.set()


STARTS = """
() => {
  const files = performance.getEntriesByType("resource").filter(({ name }) => name.includes("/assets/"));
  const isPalette = ({ name }) => name.includes("/assets/Palette-");
  const palette = files.filter(isPalette);
  if (palette.length === 0) return null;
  const ends = files.filter((each) => !isPalette(each) && /chat|index/.test(each.name)).map((each) => each.responseEnd);
  return { palette: Math.min(...palette.map((each) => each.startTime)), page: Math.max(...ends), files: ends.length };
}
"""


async def test_its_code_comes_behind_the_first_page_without_being_asked_for(tab) -> None:
    await tab.go("/")
    starts = await (await tab.page.wait_for_function(STARTS)).json_value()
    assert starts["files"] >= 2
    assert starts["palette"] >= starts["page"]


async def test_keys_rest_until_it_is_open_and_are_its_own_then(browse, shown: Gallery) -> None:
    tab = await browse(at=shown.server.url)
    async with held_code(tab) as gate:
        await tab.go(AT_13.format(**shown.runs))
        await settled(tab.page)
        for key in ("Control+k", "t", "4", "ArrowRight", "?", "Enter", "Control+k"):
            await tab.page.keyboard.press(key)
        gate.set()
        await expect(palette(tab)).to_be_visible()
    await tab.page.keyboard.type("Settings")
    await expect(field(tab)).to_have_value("Settings")
    await expect(tab.page.locator("dialog[open]")).to_have_count(1)
    await tab.page.keyboard.press("Escape")
    await expect(palette(tab)).to_have_count(0)
    await expect(tab.page.locator(".tick-bar-where")).to_have_text(re.compile("^Tick 13 "))
    await expect(tab.page).to_have_url(re.compile(r"\?tick=13$"))
    await tab.page.keyboard.press("ArrowRight")
    await expect(tab.page.locator(".tick-bar-where")).to_have_text(re.compile("^Tick 14 "))


async def test_text_that_is_typed_before_it_is_open_is_not_written_below(tab) -> None:
    async with held_code(tab) as gate:
        await tab.go("/")
        await tab.composer.fill("Where ")
        await tab.page.keyboard.press("Control+k")
        await tab.page.keyboard.type("is")
        await tab.page.keyboard.press("Enter")
        gate.set()
        await expect(palette(tab)).to_be_visible()
    await expect(tab.composer).to_have_value("Where ")
    await expect(tab.page).to_have_url(re.compile("/$"))


async def test_escape_gives_it_up(browse, shown: Gallery) -> None:
    tab = await browse(at=shown.server.url)
    async with held_code(tab) as gate:
        await tab.go(AT_13.format(**shown.runs))
        await settled(tab.page)
        for key in ("Control+k", "ArrowLeft", "Escape", "ArrowRight"):
            await tab.page.keyboard.press(key)
        await expect(tab.page.locator(".tick-bar-where")).to_have_text(re.compile("^Tick 14 "))
        async with tab.page.expect_response(CODE):
            gate.set()
    await settled(tab.page)
    await expect(palette(tab)).to_have_count(0)


async def test_code_that_cannot_be_loaded_is_reported_and_asked_for_again(tab) -> None:
    tab.watch.allow("net::ERR_|Failed to load")
    async with tab.page.expect_request(CODE):
        await tab.page.route(CODE, lambda route: route.abort())
        await tab.go("/settings")
    await tab.page.keyboard.press("/")
    await expect(tab.page.get_by_text("This could not be loaded: the service is not responding.")).to_be_visible()
    await tab.page.keyboard.press("?")
    await expect(tab.page.get_by_role("dialog", name="Keys")).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await tab.page.unroute(CODE)
    await tab.page.keyboard.press("/")
    await expect(palette(tab)).to_be_visible()


async def test_once_loaded_it_opens_with_the_key(tab) -> None:
    await tab.go("/settings")
    await tab.page.keyboard.press("/")
    await expect(field(tab)).to_be_focused()
    await tab.page.keyboard.press("Escape")
    await expect(palette(tab)).to_have_count(0)
    await tab.page.keyboard.type("/shad")
    await expect(field(tab)).to_have_value("shad")
    await expect(palette(tab).get_by_role("option", name="Shadow runs")).to_be_visible()


BUSY = """
addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  const end = performance.now() + 100;
  while (performance.now() < end);
}, { capture: true });
"""
"""A machine that is slow: the next key has been pressed before the page has done with Escape."""


@pytest.mark.parametrize(("key", "name"), [("/", "Go to"), ("?", "Keys")])
async def test_a_key_right_behind_escape_is_not_lost(tab, key, name) -> None:
    await tab.context.add_init_script(BUSY)
    await tab.go("/settings")
    dialog = tab.page.get_by_role("dialog", name=name)
    await tab.page.keyboard.press(key)
    await expect(dialog).to_be_visible()
    async with asyncio.TaskGroup() as keys:
        keys.create_task(tab.page.keyboard.press("Escape"))
        keys.create_task(tab.page.keyboard.press(key))
    await expect(dialog).to_be_visible()
    await tab.page.evaluate("new Promise((tell) => requestAnimationFrame(() => requestAnimationFrame(tell)))")
    await expect(dialog).to_be_visible()
