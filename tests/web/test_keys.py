"""The keyboard map, by real keys: each does what it says, and rests where text is typed or it is switched off."""

import re

import pytest
from playwright.async_api import expect

from tests.web.gallery import Gallery
from tests.web.scenes import settled
from tests.web.tab import Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

AT_13 = "/runs/{poll}?tick=13"
TICK = ".tick-bar-where"
SOURCE = "[role=treegrid]"
SELECTED = "[role=row][aria-selected=true]"

SHOWN = [
    (AT_13, ["ArrowRight"], TICK, r"^Tick 14 "),
    (AT_13, ["ArrowLeft"], TICK, r"^Tick 12 "),
    (AT_13, ["Shift+ArrowRight"], TICK, r"turn 6 "),
    (AT_13, ["Shift+ArrowLeft"], TICK, r"turn [45] "),
    (AT_13, ["Home"], TICK, r"^Tick 1 "),
    (AT_13, ["End"], TICK, r"^Tick 22 "),
    (AT_13, ["d"], SELECTED, r"try_strategy"),
    (AT_13, ["d", "ArrowUp"], SELECTED, r"rephrase_search"),
    ("/runs/{poll}?tick=13&node=0", ["n"], TICK, r"^Tick 14 "),
    (AT_13, [" "], TICK, r"^Tick 22 "),
    ("/runs/{error}?tick=1", ["e"], TICK, r"^Tick (?!1 )"),
    (AT_13, ["?"], "dialog[open]", r"all keys"),
    (AT_13, ["Control+k", "Escape", "?", "Escape", "g"], ".graph", r"Unfold all"),
    ("/settings", ["/"], "dialog[open]", r"Settings"),
    ("/compare/{poll}/{thrifty}", ["Home"], ".compare-bar strong", r"^Tick 1$"),
    ("/compare/{poll}/{thrifty}", ["Home", "ArrowRight"], ".compare-bar strong", r"^Tick 2$"),
    ("/compare/{poll}/{thrifty}", ["Home", "n"], ".compare-bar strong", r"^They differ from tick \d+"),
    ("/runs", ["j", "x", "j", "x"], ".runs-compare", r"^2 selected"),
    ("/runs", ["j", "x", "Escape", "j", "x"], ".runs-compare", r"^1 selected"),
]
"""Address, keys, element, and what stands there afterwards."""

LED = [
    (AT_13, ["t"], r"axis=time"),
    (AT_13, ["a"], r"lines=all"),
    (AT_13, ["2"], r"tab=answer"),
    (AT_13, ["3"], r"tab=board"),
    (AT_13, ["4"], r"tab=messages"),
    (AT_13, ["4", "1"], r"tick=13$"),
    (AT_13, ["F12"], r"/trees/fallback\?line=\d+$"),
    ("/runs", ["j", "Enter"], r"/runs/\w{32}"),
    ("/runs", ["j", "x", "j", "x", "c"], r"/compare/\w+/\w+$"),
    ("/trees", ["j", "Enter"], r"/trees/\w+"),
    ("/trees", ["j", "v"], r"/trees/\w+\?view=versions$"),
    ("/trees", ["j", "r"], r"/runs\?tree=\w+"),
    ("/chat/{conversation}", ["Tab", "n"], r"/$"),
    ("/compare/{poll}/{thrifty}", ["s"], r"/compare/{thrifty}/{poll}$"),
]
"""Address, keys, and the address afterwards."""

TYPED_IN = [
    ("/runs", "/", "searchbox"),
    ("/trees", "/", "searchbox"),
    (AT_13, "/", "textbox"),
    ("/runs", "f", "button"),
]
"""Address, key, and the role of what has the focus afterwards."""


async def press(tab: Tab, path: str, keys: list[str]) -> None:
    await tab.go(path)
    await settled(tab.page)
    await tab.page.evaluate("document.activeElement.blur()")
    for key in keys:
        await tab.page.keyboard.press(key)


def named(shown: Gallery) -> dict[str, str]:
    return {**shown.runs, "conversation": shown.conversations["poll"]}


async def test_keys_change_what_is_shown(browse, shown: Gallery) -> None:
    tab = await browse(at=shown.server.url)
    for path, keys, element, words in SHOWN:
        await press(tab, path.format(**named(shown)), keys)
        await expect(tab.page.locator(element).first, f"{keys} at {path}").to_have_text(re.compile(words))


PRESSED_EACH_FRAME = """
async (keys) => {
  for (const key of keys) {
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    await new Promise(requestAnimationFrame);
  }
}
"""


async def test_a_key_that_is_held_moves_the_selection_with_each_of_its_presses(browse, shown: Gallery) -> None:
    tab = await browse(at=shown.server.url)
    await press(tab, AT_13.format(**named(shown)), ["d"])
    selected = tab.page.locator(SELECTED).first
    decision = int(await selected.get_attribute("aria-rowindex") or "")
    await tab.page.evaluate(PRESSED_EACH_FRAME, ["ArrowDown", "d"] * 4 + ["ArrowUp"] * 8)
    await settled(tab.page)
    await expect(selected).to_have_attribute("aria-rowindex", str(decision - 8))


async def test_keys_lead_to_addresses(browse, shown: Gallery) -> None:
    tab = await browse(at=shown.server.url)
    for path, keys, address in LED:
        await press(tab, path.format(**named(shown)), keys)
        pattern = address.replace("{poll}", shown.runs["poll"]).replace("{thrifty}", shown.runs["thrifty"])
        await expect(tab.page, f"{keys} at {path}").to_have_url(re.compile(pattern))


async def test_keys_lead_into_fields(browse, shown: Gallery) -> None:
    tab = await browse(at=shown.server.url)
    for path, key, role in TYPED_IN:
        await press(tab, path.format(**named(shown)), [key])
        focused = tab.page.locator("*:focus")
        await expect(focused, f"{key} at {path}").to_have_role(role)


async def test_letters_rest_where_text_is_typed(browse, shown: Gallery) -> None:
    tab = await browse("/runs", at=shown.server.url)
    search = tab.page.get_by_role("searchbox").first
    await search.focus()
    await tab.page.keyboard.type("jxc?/f")
    await expect(search).to_have_value("jxc?/f")
    await expect(search).to_be_focused()
    await expect(tab.page.locator("dialog[open]")).to_have_count(0)


async def test_single_keys_can_be_switched_off(browse, shown: Gallery) -> None:
    tab = await browse("/settings#keys", at=shown.server.url)
    await tab.page.get_by_role("switch", name="Single keys").click()
    path = AT_13.format(**named(shown))
    await press(tab, path, ["t", "a", "g", "4", "?", "/", "ArrowRight"])
    await expect(tab.page).to_have_url(re.compile(r"\?tick=13$"))
    await expect(tab.page.locator("dialog[open]")).to_have_count(0)
    await tab.page.keyboard.press("Control+k")  # goes on working
    await expect(tab.page.get_by_role("dialog", name="Go to")).to_be_visible()


async def test_the_editor_is_left_by_escape_and_tab(browse, shown: Gallery) -> None:
    tab = await browse("/trees/fallback", at=shown.server.url)
    text = tab.page.locator(".cm-content")
    await text.click()
    await expect(text).to_be_focused()
    await tab.page.keyboard.press("Escape")
    await tab.page.keyboard.press("Tab")
    await expect(text).not_to_be_focused()
