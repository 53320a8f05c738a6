"""Two runs beside each other: where they part, what differs, and the keys."""

import re

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.web.gallery import Gallery, gallery
from tests.web.gallery_trees import STRATEGY
from tests.web.tab import DESKTOP, PHONE, Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shown(tmp_path_factory, console, chromium):
    async with gallery(tmp_path_factory.mktemp("gallery"), only={"poll", "thrifty", "limit"}) as it:
        yield it


async def opened(browse, shown: Gallery, first: str, second: str, **options) -> Tab:
    path = f"/compare/{shown.runs[first]}/{shown.runs[second]}"
    return await browse(path, at=shown.server.url, **options)


async def test_where_two_runs_part_is_shown_first(browse, shown) -> None:
    tab = await opened(browse, shown, "poll", "thrifty", size=DESKTOP)
    await expect(tab.page.get_by_text("They differ from tick 13")).to_be_visible()
    await expect(tab.page.get_by_text("of 22 and 14")).to_be_visible()
    await expect(tab.page.locator(".compare-bar p")).to_contain_text("12 ticks are the same.")
    side = tab.page.get_by_role("complementary", name="Differences")
    await expect(side.locator("del")).to_have_text(STRATEGY)
    await expect(side.locator("ins")).to_contain_text("tokens_used < 0.4 * token_budget")
    await expect(side.get_by_role("row", name="termination_reason")).to_contain_text('"stuck"')
    await expect(side.get_by_role("row", name=re.compile("^end"))).to_have_text(re.compile("completed *stuck"))


async def test_answers_and_the_difference_of_the_trees_have_panes_of_their_own(browse, shown) -> None:
    tab = await opened(browse, shown, "poll", "thrifty", size=DESKTOP)
    await tab.page.get_by_role("tab", name="Answers").click()
    panel = tab.page.get_by_role("tabpanel")
    await expect(panel.get_by_role("heading", name="Turn 1 the same in both")).to_be_visible()
    await expect(panel.get_by_text("not there").first).to_be_visible()
    await tab.page.get_by_role("tab", name="Tree difference").click()
    await expect(panel).to_contain_text("fallback.yaml")
    await expect(panel.get_by_text("other_strategy/condition#2")).to_be_visible()


async def test_keys_move_between_ticks_and_differences_and_swap_the_runs(browse, shown) -> None:
    tab = await opened(browse, shown, "poll", "thrifty")
    where = tab.page.locator(".compare-bar strong")
    await expect(where).to_have_text("They differ from tick 13")
    for key, words in (("n", "Tick 14"), ("ArrowLeft", "They differ from tick 13"), ("Home", "Tick 1")):
        await tab.page.keyboard.press(key)
        await expect(where).to_have_text(words)
    await tab.page.keyboard.press("s")
    await expect(tab.page).to_have_url(re.compile(f"/compare/{shown.runs['thrifty']}/{shown.runs['poll']}$"))
    await expect(tab.page.get_by_text("of 14 and 22")).to_be_visible()


async def test_a_comparison_is_saved_as_data(browse, shown) -> None:
    tab = await opened(browse, shown, "poll", "thrifty")
    await tab.page.get_by_role("button", name="Export").click()
    async with tab.page.expect_download() as download:
        await tab.page.get_by_role("menuitem", name="Comparison (JSON)").click()
    assert (await download.value).suggested_filename == "comparison.json"


async def test_a_run_that_is_not_there_is_said_so(browse, shown) -> None:
    tab = await browse(at=shown.server.url)
    tab.watch.allow("404")
    await tab.go(f"/compare/{shown.runs['poll']}/nowhere")
    await expect(tab.page.get_by_role("heading", name="There is no run nowhere")).to_be_visible()


async def test_on_a_phone_nothing_is_cut_off(browse, shown) -> None:
    tab = await opened(browse, shown, "poll", "limit", size=PHONE)
    await expect(tab.page.get_by_role("tab", name="Answers")).to_be_visible()
    assert await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    code = await tab.page.locator(".source-scroller .source-code").first.bounding_box()
    assert code is not None
    assert code["width"] > 250
