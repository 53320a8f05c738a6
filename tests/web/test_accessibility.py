"""The console for everyone: what axe-core finds, names for screen readers, titles, focus, and every size of screen."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.web.axe import COLOURS, findings
from tests.web.gallery import Gallery
from tests.web.scenes import SCENES, settled
from tests.web.tab import DESKTOP, LAPTOP, PHONE, THEMES

pytestmark = pytest.mark.asyncio(loop_scope="session")


ONE_OF_EACH = ("chat-answered", "runs", "run-normal", "compare", "trees", "editor", "settings", "signin")
"""A scene of each page; the others take minutes."""

IS_DARK = """
() => Math.max(...getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number)) < 60
"""
MOVING = """
() => document.getAnimations().filter((each) => each.effect.getComputedTiming().duration > 1)
  .map((each) => each.effect.target?.className ?? "?")
"""


async def found_in(page: Page, theme: str, *, is_loading: bool) -> list[str]:
    """What axe-core finds in a theme, which is the page's as soon as the system prefers it: in the dark, colours."""
    await page.emulate_media(color_scheme=theme)
    await expect(page.locator("html")).to_have_attribute("data-theme", theme)
    await settled(page, is_loading=is_loading)
    assert await page.evaluate(IS_DARK) == (theme == "dark")
    return [f"{theme}: {each}" for each in await findings(page, rules=COLOURS if theme == "dark" else ())]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=() if name in ONE_OF_EACH else pytest.mark.long("every page in a browser, at every size")
        )
        for name in SCENES
    ],
)
async def test_axe_finds_nothing_grave_in_either_theme_and_on_a_phone_nothing_is_cut_off(
    browse, shown: Gallery, name
) -> None:
    async with SCENES[name](shown) as scene:
        for size, themes in ((LAPTOP, THEMES), (PHONE, THEMES[:1] if name in ONE_OF_EACH else ())):
            if scene.line is not None:
                scene.line.mend()
            at = scene.at or (scene.line.url if scene.line else shown.server.url)
            tab = await browse(at=at, size=size, reduced_motion=True)
            tab.watch.allow("404|net::ERR_|Failed to load")
            await tab.go(scene.path)
            await scene.act(tab)
            for theme in themes:
                assert await found_in(tab.page, theme, is_loading=scene.is_loading) == []
            await settled(tab.page, is_loading=scene.is_loading)
            assert await tab.page.evaluate(MOVING) == []
            assert await tab.page.evaluate("document.scrollingElement.scrollWidth") <= size[0]


TITLES = {
    "/": "Chat",
    "/runs": "Runs",
    "/runs/{poll}": "Why does the run loop never poll? · Run",
    "/compare/{poll}/{thrifty}": re.compile("^Compare "),
    "/waiting": "Waiting",
    "/trees": "Trees",
    "/trees/fallback": "fallback · Tree",
    "/usage": "Usage",
    "/settings": "Limits · Settings",
    "/settings#keys": "Keys · Settings",
}


async def test_each_page_has_a_title_and_one_first_heading(browse, shown: Gallery) -> None:
    tab = await browse(at=shown.server.url)
    for path, title in TITLES.items():
        await tab.go(path.format(**shown.runs))
        await expect(tab.page).to_have_title(title if isinstance(title, re.Pattern) else f"{title} · Oracle")
        await expect(tab.page.get_by_role("heading", level=1)).to_have_count(1)


async def test_the_source_is_a_tree_whose_rows_say_line_kind_status_values_and_turn(browse, shown: Gallery) -> None:
    tab = await browse(f"/runs/{shown.runs['poll']}?tick=13", at=shown.server.url)
    source = tab.page.get_by_role("treegrid", name="Source of the tree")
    row = source.get_by_role("row", name=re.compile(r"^line 21, condition, success, turn_left true.*, turn 5$"))
    await expect(row).to_have_attribute("aria-level", re.compile(r"^\d+$"))
    await expect(source.locator("[role=row][aria-expanded]").first).to_be_visible()
    await expect(tab.page.get_by_role("slider", name="Tick")).to_have_attribute(
        "aria-valuetext", re.compile(r"^tick 13 of \d+, turn 5$")
    )
    await expect(tab.page.locator(".tick-bar-headline")).to_have_attribute("aria-live", "polite")
    await tab.page.keyboard.press("ArrowDown")
    await expect(source).to_be_focused()
    await expect(source.locator("[role=row][aria-selected=true]")).to_have_count(1)
    selected = await source.get_attribute("aria-activedescendant")
    await expect(source.locator("[role=row][aria-selected=true]")).to_have_id(selected or "")


async def test_a_system_message_is_labelled_and_not_announced_when_it_is_read_again(browse, shown: Gallery) -> None:
    tab = await browse(f"/chat/{shown.conversations['limit']}", at=shown.server.url)
    row = tab.page.get_by_role("status").filter(has_text="System").filter(has_text="Approaching iteration limit (3/5)")
    await expect(row).to_be_visible()
    await expect(row).to_have_attribute("aria-live", "off")


async def test_the_focus_is_never_lost(browse, shown: Gallery) -> None:
    tab = await browse("/runs", at=shown.server.url)
    await expect(tab.page.locator("[data-run]").first).to_be_visible()
    await tab.page.keyboard.press("Tab")
    skip = tab.page.get_by_role("link", name="Skip to the page")
    await expect(skip).to_be_focused()
    await expect(skip).to_be_in_viewport()
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.locator("#main")).to_be_focused()
    for opens in ("Reason", "Go to run or tree…"):
        button = tab.page.get_by_role("button", name=opens)
        await button.focus()
        await tab.page.keyboard.press("Enter")
        await expect(button).not_to_be_focused()
        await tab.page.keyboard.press("Escape")
        await expect(button).to_be_focused()
    await tab.page.keyboard.press("?")
    await expect(tab.page.get_by_role("dialog", name="Keys")).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await expect(button).to_be_focused()
    await tab.page.keyboard.press("j")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page).to_have_url(re.compile(r"/runs/\w{32}"))
    await expect(tab.page.locator("#main")).to_be_focused()


async def test_tab_reaches_every_control_with_a_ring_around_it_and_leaves_the_page(browse, shown: Gallery) -> None:
    tab = await browse(at=shown.server.url)
    for path in PAGES:
        await tab.go(path.format(**shown.runs))
        await settled(tab.page)
        await tab.page.get_by_role("link", name="Skip to the page").focus()
        reached = 0
        for _ in range(150):
            await tab.page.keyboard.press("Tab")
            seen = await tab.page.evaluate(_HAS_RING)
            if seen is None:
                break
            if seen == "text":
                await tab.page.keyboard.press("Escape")  # it keeps Tab until then
            assert seen in {"", "text"}, f"{path}: {seen}"
            reached += 1
        assert 10 < reached < 149, path


_HAS_RING = """
() => {
  const at = document.activeElement;
  if (at === document.body) return null;
  if (at.matches(".cm-content")) return "text";
  const rings = [at, at.parentElement, at.firstElementChild, at.closest(".cm-editor")].filter(Boolean);
  const styles = [...rings.map((each) => getComputedStyle(each)), getComputedStyle(at, "::after")];
  const isVisible = (style) => style.boxShadow !== "none" ||
    (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2);
  const visible = styles.some(isVisible) || rings.some((each) => each.matches(".graph-node > path"));
  const caret = at.matches("input, textarea");
  return visible || caret ? "" : at.outerHTML.slice(0, 160);
}
"""

PAGES = (
    "/",
    "/runs",
    "/runs/{poll}?tick=13",
    "/compare/{poll}/{thrifty}",
    "/waiting",
    "/trees",
    "/trees/fallback",
    "/usage",
    "/settings",
)
SIZES = (DESKTOP, (1024, 768), (768, 1024), (640, 400), (360, 740))
"""Others than those of the scenes; 640x400 is 1280x800 at 200 %."""


@pytest.mark.long("every page in a browser, at every size")
async def test_no_page_scrolls_sideways_at_any_size(browse, shown: Gallery) -> None:
    tab = await browse(at=shown.server.url)
    for path in PAGES:
        await tab.go(path.format(**shown.runs))
        await settled(tab.page)
        for width, height in SIZES:
            await tab.page.set_viewport_size({"width": width, "height": height})
            await settled(tab.page)
            assert await tab.page.evaluate("document.scrollingElement.scrollWidth") <= width, (path, width)
