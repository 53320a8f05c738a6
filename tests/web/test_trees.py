"""The list of trees: how each stands, and the ways from it."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from tests.acceptance.scripts import answers
from tests.web.tab import PHONE, Tab
from tests.web.tree_editor import SHORT

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made: Path = tmp_path_factory.mktemp("trees")
    (made / "short.yaml").write_text(SHORT, encoding="utf-8")
    (made / "broken.yaml").write_text(SHORT.replace("short", "broken").replace("stop:", "stpo:"), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def settings(folder):
    return {"ORACLE_TREES_DIR": str(folder)}


def row(tab: Tab, name: str) -> Locator:
    return tab.page.get_by_role("row", name=re.compile(rf"^{name}\b"))


async def test_each_tree_is_listed_with_its_size_its_uses_its_version_and_the_queries_of_a_day(tab, user, desk) -> None:
    desk.play(answers())
    await user.ask(tree="short")
    await tab.go("/trees")
    await expect(row(tab, "fallback")).to_contain_text("follow_signal, oracle")
    await expect(row(tab, "fallback")).to_contain_text("in other trees")
    await expect(row(tab, "short")).to_contain_text("yours")
    await expect(row(tab, "short")).to_contain_text("1 version")
    await expect(row(tab, "short").get_by_role("link", name="1 run: 1 completed")).to_be_visible()
    await expect(row(tab, "short").get_by_role("img", name="no mistakes")).to_be_visible()


async def test_what_scenarios_and_verifications_have_found_is_listed_also_after_a_reload(tab, user) -> None:
    for trial in ("test", "verify"):
        assert (await user.http.post(f"/api/trees/{trial}", json={"name": "short"}, timeout=120)).status_code == 200
    await tab.go("/trees")
    await expect(row(tab, "short")).to_contain_text("no scenarios")
    verdict = re.compile("^(proven|refuted|not decided)$")
    await expect(row(tab, "short").get_by_role("img", name=verdict)).to_be_visible()
    await expect(row(tab, "fallback")).to_contain_text(re.compile(r"\d+ of \d+"))


async def test_a_tree_with_a_mistake_says_which_and_opens_at_its_line(tab) -> None:
    await tab.go("/trees")
    await expect(row(tab, "broken").get_by_role("img", name="1 mistake")).to_be_visible()
    band = tab.page.get_by_role("alert")
    await expect(band).to_contain_text("broken.yaml has 1 mistake.")
    await expect(band).to_contain_text("Line 8, column 7: there is no node kind 'stpo'")
    await band.get_by_role("link", name="Open line 8").click()
    await expect(tab.page.get_by_text("Line 8, column 7 · YAML")).to_be_visible()


async def test_rows_are_reached_searched_and_opened_by_keyboard(tab) -> None:
    await tab.go("/trees")
    await expect(row(tab, "short")).to_be_visible()
    await tab.page.keyboard.press("j")
    await expect(row(tab, "broken")).to_have_attribute("aria-current", "true")
    await tab.page.keyboard.press("/")
    await tab.page.keyboard.type("short")
    await expect(row(tab, "continue_answer")).to_have_count(0)
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("heading", name="short.yaml")).to_be_visible()


async def test_a_click_anywhere_on_a_row_opens_it_and_keys_mean_the_row_that_was_clicked(tab) -> None:
    await tab.go("/trees")
    quiet = row(tab, "fallback").get_by_text("in other trees")
    await quiet.click(force=True)  # the link of the name lies above it
    await expect(tab.page.get_by_role("heading", name="fallback.yaml")).to_be_visible()
    await tab.page.go_back()
    async with tab.context.expect_page() as opened:
        await quiet.click(force=True, modifiers=["Control"])
    await (await opened.value).close()
    await expect(row(tab, "fallback")).to_have_attribute("aria-current", "true")
    await tab.page.keyboard.press("k")
    await tab.page.keyboard.press("j")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("heading", name="fallback.yaml")).to_be_visible()


async def test_the_other_links_of_a_row_lead_where_they_say(tab, user, desk) -> None:
    desk.play(answers())
    await user.ask(tree="short")
    await tab.go("/trees")
    await row(tab, "short").get_by_role("link", name="1 version").click()
    await expect(tab.page).to_have_url(re.compile(r"/trees/short\?view=versions$"))
    await tab.page.go_back()
    await row(tab, "short").get_by_role("link", name=re.compile("runs?: ")).click()
    await expect(tab.page).to_have_url(re.compile(r"/runs\?tree=short$"))


async def test_a_new_tree_is_a_copy_that_is_checked_and_saved(tab, folder) -> None:
    tab.watch.allow("status of 404")  # the service is asked for it before it exists
    await tab.go("/trees")
    await tab.page.get_by_role("button", name="New tree").click()
    name = tab.page.get_by_role("textbox", name="Name")
    await name.fill("short")
    await expect(tab.page.get_by_text("A tree with this name exists.")).to_be_visible()
    await name.fill("mine")
    await tab.page.get_by_label("Template").select_option("short")
    await tab.page.get_by_role("button", name="Create").click()
    await expect(tab.page.get_by_text("new, not saved")).to_be_visible()
    await tab.page.get_by_role("button", name=re.compile("^Save")).click()
    await tab.page.get_by_role("dialog").get_by_role("button", name="Save").click()
    await expect(tab.page.get_by_text("Saved. The next question uses it.")).to_be_visible()
    assert (folder / "mine.yaml").read_text(encoding="utf-8") == SHORT.replace("tree: short", "tree: mine")


@pytest.mark.parametrize("size", [PHONE], ids=["phone"])
async def test_on_a_phone_trees_are_listed_and_read(tab) -> None:
    await tab.go("/trees")
    await expect(tab.page.get_by_role("button", name="New tree")).to_have_count(0)
    await tab.page.get_by_role("link", name="short", exact=True).click()
    await expect(tab.page.get_by_text("Use a wider screen to edit trees. Here you can read them.")).to_be_visible()
    text = tab.page.get_by_role("textbox", name="short.yaml")
    await expect(text).to_have_attribute("aria-readonly", "true")
    await expect(text).to_contain_text("Answers at once.")
    assert await tab.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
