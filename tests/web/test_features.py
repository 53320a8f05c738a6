"""The console where the operator has left features out: what would lead to them is not shown."""

import pytest
from playwright.async_api import expect

from tests.acceptance.scripts import answers
from tests.web.tab import Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    return {"ORACLE_FEATURES": "-feedback,-mcp-client,-shadow,-usage"}


async def test_pages_of_features_that_are_left_out_are_not_in_the_sections_and_the_palette(tab: Tab) -> None:
    await tab.go("/runs")
    sections = tab.page.get_by_role("navigation", name="Sections")
    await expect(sections.get_by_role("link", name="Runs")).to_be_visible()
    await expect(sections.get_by_role("link", name="Usage")).to_have_count(0)
    await expect(tab.page.get_by_role("link", name="Shadow runs")).to_have_count(0)
    await tab.page.keyboard.press("Control+k")
    places = tab.page.get_by_role("option")
    await expect(places.filter(has_text="Runs").first).to_be_visible()
    await expect(places.filter(has_text="Usage")).to_have_count(0)
    await expect(places.filter(has_text="Shadow runs")).to_have_count(0)


async def test_the_tools_of_servers_are_no_section_of_the_settings(tab: Tab) -> None:
    await tab.go("/settings")
    sections = tab.page.get_by_role("navigation", name="Settings")
    await expect(sections.get_by_role("link", name="Account")).to_be_visible()
    await expect(sections.get_by_role("link", name="Tools")).to_have_count(0)


async def test_an_answer_is_not_rated(tab: Tab, desk, user) -> None:
    desk.play(answers("In login.py."))
    run = await user.ask("Where is the login?")
    await tab.go(f"/chat/{run.done['context_id']}")
    await expect(tab.page.get_by_role("link", name="Open the run")).to_be_visible()
    await expect(tab.page.get_by_role("button", name="Helpful")).to_have_count(0)
    await tab.go(f"/runs/{run.run_id}?tab=answer")
    await expect(tab.page.get_by_text("In login.py.").first).to_be_visible()
    await expect(tab.page.get_by_role("button", name="Helpful")).to_have_count(0)
