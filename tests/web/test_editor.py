"""The editor of trees: what the service says while an author types, saving, versions, and two who edit the same."""

import re

import pytest
from playwright.async_api import expect

import trees
from tests.acceptance.scripts import answers, says, signal_xml
from tests.service.users import TOKENS
from tests.web.tab import DESKTOP, LAPTOP, PHONE, Tab
from tests.web.tree_editor import SHORT, folder, opened, save, save_button, settings, short, source, write_behind

__all__ = ["folder", "settings", "short"]  # fixtures

pytestmark = pytest.mark.asyncio(loop_scope="session")

STUCK = signal_xml("stuck", blocker="the clock", attempted="search")


@pytest.mark.smoke
async def test_a_mistake_is_shown_at_its_place_and_mended_by_a_key(tab) -> None:
    await opened(tab)
    await write_behind(tab, "llm_turn", "\n    - condition: turns > 1")
    problem = tab.page.get_by_role("listitem").filter(has_text="there is no blackboard key or parameter 'turns'")
    await expect(problem).to_contain_text("8:18")
    await expect(tab.page.locator(".cm-problem-line-error")).to_have_count(1)
    await expect(save_button(tab)).to_be_disabled()
    await tab.page.get_by_role("tab", name="Verify").click()
    await expect(tab.page.get_by_text("Fix the mistakes to run trials")).to_be_visible()
    await source(tab).focus()
    await tab.page.keyboard.press("Control+.")
    await expect(source(tab)).to_contain_text("condition: turn > 1")
    await expect(save_button(tab)).to_be_enabled()


async def test_kinds_are_completed_with_their_description(tab) -> None:
    await opened(tab)
    await write_behind(tab, "llm_turn", "\n    - ")
    await tab.page.keyboard.type("noti")
    option = tab.page.get_by_role("option", name=re.compile("^notify"))
    await expect(option).to_be_visible()
    await expect(tab.page.locator(".cm-completionInfo")).to_contain_text("notify")
    await option.click()  # Enter at once would be one that was meant for the text
    await expect(source(tab)).to_contain_text("- notify:")


async def test_tab_indents_and_escape_lets_it_leave_the_text(tab) -> None:
    await opened(tab)
    await write_behind(tab, "stop: completed", "\n")
    await tab.page.keyboard.press("Tab")
    await expect(source(tab)).to_be_focused()
    await tab.page.keyboard.press("Escape")
    await tab.page.keyboard.press("Tab")
    await expect(source(tab)).not_to_be_focused()


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
async def test_long_lines_go_on_below_behind_their_indent(tab) -> None:
    text = await opened(tab, "oracle")
    line = text.locator(".cm-line", has_text="# A node returns SUCCESS")
    rows = await line.evaluate("""(line) => {
      const range = document.createRange();
      range.selectNodeContents(line);
      const boxes = [...range.getClientRects()].filter((box) => box.width > 0);
      const lefts = new Map();
      for (const { top, left } of boxes) lefts.set(top, Math.min(left, lefts.get(top) ?? left));
      return [...lefts.values()];
    }""")
    assert len(rows) > 1
    assert all(left > rows[0] for left in rows[1:])
    scroller = tab.page.locator(".cm-scroller")
    assert await scroller.evaluate("each => each.scrollWidth <= each.clientWidth")


@pytest.mark.smoke
async def test_a_text_is_saved_with_a_note_and_taken_back(tab, folder) -> None:
    await opened(tab)
    await write_behind(tab, "Answers at once", " It is short.")
    await tab.page.get_by_role("button", name=re.compile(r"^Difference \+1")).click()
    await expect(tab.page.locator(".cm-changedText")).to_contain_text("It is short.")
    await save(tab, "says more")
    await expect(tab.page.get_by_text("Saved. The next question uses it.")).to_be_visible()
    assert "It is short." in (folder / "short.yaml").read_text(encoding="utf-8")
    await tab.page.get_by_role("button", name=re.compile(r"^Versions \d+$")).click()
    listed = tab.page.get_by_role("list", name="Versions").get_by_role("button")
    await expect(listed.first).to_contain_text("saved by local")
    await expect(listed.first).to_contain_text("says more")
    await listed.nth(1).click()
    await tab.page.get_by_role("button", name="Restore this version").click()
    await expect(tab.page.get_by_text("Restored. The next question uses it.")).to_be_visible()
    assert (folder / "short.yaml").read_text(encoding="utf-8") == SHORT


async def test_what_one_tab_saves_is_seen_in_the_other(tab) -> None:
    await opened(tab)
    other = Tab(await tab.context.new_page(), tab.context, tab.watch, tab.origin)
    await opened(other)
    await write_behind(tab, "Answers at once", " From the first tab.")
    await save(tab)
    await expect(source(other)).to_contain_text("From the first tab.")


async def test_recorded_queries_are_replayed_on_the_unsaved_text_and_counted_in_the_margin(tab, user, desk) -> None:
    for number in range(2):
        desk.play(says(f"I cannot go on.{STUCK}"), answers("Found."))
        await user.ask(f"Why does it never poll, {number}?")
    await opened(tab, "fallback")
    await expect(tab.page.get_by_text("answers in the last 2 runs: yes / no")).to_be_visible()
    await expect(tab.page.locator(".cm-answers-yes", has_text="2").first).to_be_visible()
    await tab.page.get_by_role("tab", name="Replay").click()
    await expect(tab.page.get_by_text("The same, tick by tick.")).to_be_visible()
    await write_behind(tab, "condition: turn_left", " and turn > 5", name="fallback")
    await expect(tab.page.get_by_text("The same until tick 2. Then it ends as stuck.")).to_be_visible()
    await expect(tab.page.get_by_role("img", name=re.compile("^With your edit: tick 2"))).to_be_visible()
    await expect(tab.page.get_by_text("2 end otherwise: 2 as stuck.")).to_be_visible()
    assert (trees.FOLDER / "fallback.yaml").read_text(encoding="utf-8").count("turn > 5") == 0


@pytest.mark.parametrize("size", [DESKTOP])
async def test_a_run_is_replayed_on_an_edit_and_leads_back_to_the_tick_where_they_part(tab, user, desk) -> None:
    desk.play(says(f"I cannot go on.{STUCK}"), answers("Found."))
    first = await user.ask("Where is the oldest mistake?")
    desk.play(answers("Here."))
    await user.ask("And the latest?")
    await tab.go(f"/runs/{first.run_id}")
    await tab.page.get_by_role("link", name="Replay on an edit…").click()
    await expect(tab.page.get_by_role("tab", name="Replay")).to_have_attribute("aria-selected", "true")
    results = tab.page.get_by_role("complementary", name="Results")
    await expect(results.get_by_text("Where is the oldest mistake?")).to_be_visible()
    await expect(results.get_by_text("The same, tick by tick.")).to_be_visible()
    await tab.page.get_by_role("navigation", name="Files").get_by_role("link", name="fallback").click()
    await expect(source(tab, "fallback")).to_contain_text("tree: fallback")
    await write_behind(tab, "condition: turn_left", " and turn > 5", name="fallback")
    await expect(results.get_by_text("The same until tick 2. Then it ends as stuck.")).to_be_visible()
    await results.get_by_role("link", name="Open tick 2").click()
    await expect(tab.page).to_have_url(re.compile(f"/runs/{first.run_id}\\?tick=2$"))
    await expect(tab.page.get_by_text("Tick 2 of")).to_be_visible()


async def test_the_run_that_an_address_names_is_replayed_first_with_the_values_that_decide(tab, user, desk) -> None:
    desk.play(says(f"I cannot go on.{STUCK}"), answers("Found."))
    run = await user.ask("Why does this one never poll?")
    await opened(tab, "fallback", f"?replay={run.run_id}")
    await expect(tab.page.get_by_text("The same, tick by tick.")).to_be_visible()
    await expect(tab.page.get_by_text(f"{run.run_id[:8]} Why does this one never poll?")).to_be_visible()
    await write_behind(tab, "condition: turn_left", " and turn > 5", name="fallback")
    await expect(tab.page.get_by_text(re.compile(r"Line \d+ is now no: turn > 5, with turn 1\."))).to_be_visible()
    went_on = "The recorded run went on for 1 turn; this tree would end it as stuck."
    await expect(tab.page.get_by_text(went_on)).to_be_visible()
    await expect(
        tab.page.get_by_text(re.compile(r"Together they would have used [\d,]+ fewer tokens\."))
    ).to_be_visible()


async def test_a_tree_is_verified_on_request(tab) -> None:
    await opened(tab)
    await tab.page.get_by_role("tab", name="Verify").click()
    await tab.page.get_by_role("button", name="Verify short").click()
    await expect(tab.page.get_by_role("listitem").filter(has_text="turn-limit")).to_be_visible()


async def test_the_behaviour_shows_what_an_edit_changes_and_a_row_leads_to_its_line(tab) -> None:
    await opened(tab)
    await tab.page.get_by_role("tab", name="Behaviour").click()
    await expect(tab.page.get_by_text("Does the same as the saved version")).to_be_visible()
    await write_behind(tab, "- llm_turn", "\n    - say: Bye.")
    await expect(tab.page.get_by_role("list", name="Changed rows").get_by_text("“Bye.”").first).to_be_visible()


async def test_who_is_no_operator_reads(browse, guarded) -> None:
    tab = await browse(at=guarded.url)
    await tab.context.add_init_script(f"sessionStorage.setItem('oracle.token', '{TOKENS['alice']}')")
    await tab.go("/trees/oracle")
    await expect(tab.page.get_by_text("You can read this tree. Only operators can change it.")).to_be_visible()
    await expect(source(tab, "oracle")).to_have_attribute("aria-readonly", "true")
    await expect(save_button(tab)).to_have_count(0)
