"""The console where the operator has left features out: what would lead to them is not shown."""

import pytest
from playwright.async_api import expect

from tests.acceptance.scripts import answers
from tests.web.tab import Tab
from tests.web.tree_editor import folder, opened, save, save_button, short, source, write_behind

__all__ = ["folder", "short"]  # fixtures

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="module")
def settings(folder) -> dict[str, str]:
    of_people = "-feedback,-mcp-client,-shadow,-usage"
    of_trees = "-editing,-judging,-language-server,-scenarios,-verifier,-explaining"
    return {"ORACLE_FEATURES": f"{of_people},{of_trees}", "ORACLE_TREES_DIR": str(folder)}


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


async def test_trees_are_listed_without_what_scenarios_and_the_verifier_would_have_found(tab: Tab) -> None:
    await tab.go("/trees")
    await expect(tab.page.get_by_role("button", name="New tree")).to_be_visible()
    await expect(tab.page.get_by_role("button", name="Check all")).to_have_count(0)
    await expect(tab.page.get_by_role("columnheader", name="Check")).to_be_visible()
    await expect(tab.page.get_by_role("columnheader", name="Verify")).to_have_count(0)
    await expect(tab.page.get_by_role("columnheader", name="Scenarios")).to_have_count(0)


async def test_a_text_is_replayed_and_asked_for_no_check_and_no_completion(tab: Tab, desk, user) -> None:
    desk.play(answers())
    await user.ask(tree="short")
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url.removeprefix(tab.origin)))
    await opened(tab)
    tabs = tab.page.get_by_role("tablist", name="Results").get_by_role("tab")
    await expect(tabs).to_have_count(2)
    await expect(tabs.filter(has_text="Problems")).to_be_visible()
    await expect(tab.page.get_by_text("complete", exact=True)).to_have_count(0)
    await write_behind(tab, "Answers at once", " It is shor")
    await tab.page.keyboard.type("t.")
    await tab.page.keyboard.press("Control+Space")
    await expect(tab.page.get_by_text("The text is checked when it is saved.")).to_be_visible()
    await tabs.filter(has_text="Replay").click()
    await expect(tab.page.get_by_text("The same, tick by tick.")).to_be_visible()
    assert {"/api/trees/short", "/api/trees/compare"} <= set(asked)
    assert {f"/api/trees/{call}" for call in ("check", "complete", "hover", "test", "verify")}.isdisjoint(asked)


async def test_a_text_is_saved_and_what_the_service_refuses_is_shown(tab: Tab, folder) -> None:
    await opened(tab)
    await write_behind(tab, "Answers at once", " It is short.")
    await save(tab)
    await expect(tab.page.get_by_text("Saved. The next question uses it.")).to_be_visible()
    assert "It is short." in (folder / "short.yaml").read_text(encoding="utf-8")
    tab.watch.allow("status of 422")
    await write_behind(tab, "llm_turn", "\n    - nowhere_known")
    await save(tab)
    await expect(tab.page.get_by_role("listitem").filter(has_text="nowhere_known")).to_be_visible()
    await expect(save_button(tab)).to_be_disabled()
    await tab.page.get_by_role("button", name="Discard").click()
    await expect(tab.page.get_by_role("listitem").filter(has_text="nowhere_known")).to_have_count(0)
    await expect(source(tab)).to_contain_text("It is short.")
    assert "nowhere_known" not in (folder / "short.yaml").read_text(encoding="utf-8")
