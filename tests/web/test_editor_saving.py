"""The editor of trees where saving is not plain: unsaved texts, two who edit the same, failing scenarios, mistakes."""

import re

import pytest
from playwright.async_api import expect

from tests.web.tree_editor import SHORT, folder, opened, save, save_button, settings, short, source, write_behind

__all__ = ["folder", "settings", "short"]  # fixtures

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_node_at_the_cursor_is_named_and_its_subtree_is_opened_by_a_key(tab) -> None:
    await opened(tab, "follow_signal")
    await source(tab, "follow_signal").locator(".cm-line", has_text="subtree: fallback").first.click()
    path = tab.page.get_by_role("navigation", name="Node at the cursor")
    await expect(path.get_by_role("button").first).to_have_text("root")
    await expect(path.locator("[aria-current=location]")).to_have_text("subtree")
    await tab.page.keyboard.press("F12")
    await expect(tab.page.get_by_role("heading", name="fallback.yaml")).to_be_visible()
    await expect(tab.page.get_by_text(re.compile("used by .*follow_signal in .*oracle"))).to_be_visible()


async def test_a_text_that_is_not_saved_survives_a_reload_and_is_discarded_on_request(tab) -> None:
    await opened(tab)
    await write_behind(tab, "Answers at once", " Not yet saved.")
    await expect(tab.page.get_by_text("not saved", exact=True)).to_be_visible()
    tab.watch.accept("beforeunload")
    async with tab.page.expect_event("dialog"):  # the browser asks, and the answer is to reload
        await tab.page.reload()
    await expect(source(tab)).to_contain_text("Not yet saved.")
    await tab.page.get_by_role("button", name="Discard").click()
    await expect(source(tab)).not_to_contain_text("Not yet saved.")
    await expect(tab.page.get_by_text("not saved", exact=True)).to_have_count(0)


async def test_of_two_who_edit_the_same_nobody_undoes_the_others_work(tab, user, folder) -> None:
    await opened(tab)
    await write_behind(tab, "Answers at once", " Mine.")
    await expect(save_button(tab)).to_be_enabled()
    present = (await user.http.get("/api/trees/short")).json()["version"]
    theirs = {"source": SHORT.replace("- stop", "- explain_stop\n    - stop"), "version": present, "note": "theirs"}
    assert (await user.http.put("/api/trees/short", json=theirs)).status_code == 200
    tab.watch.allow("status of 409")
    await save(tab)
    dialog = tab.page.get_by_role("dialog", name="Another user has saved this tree")
    await expect(dialog).to_contain_text("local has saved another version")
    await expect(dialog).to_contain_text("theirs")
    await expect(dialog).to_contain_text("explain_stop")
    assert "Mine." not in (folder / "short.yaml").read_text(encoding="utf-8")
    await dialog.get_by_role("button", name="Keep mine, and compare").click()
    await expect(tab.page.locator(".cm-deletedChunk", has_text="explain_stop")).to_be_visible()
    await save(tab, "mine after all")
    await expect(tab.page.get_by_text("Saved. The next question uses it.")).to_be_visible()
    assert "Mine." in (folder / "short.yaml").read_text(encoding="utf-8")


async def test_a_text_whose_scenarios_fail_can_be_saved(tab, user, folder) -> None:
    await opened(tab, "fallback")
    await write_behind(tab, "condition: turn_left", " and turn > 5", name="fallback")
    await tab.page.get_by_role("tab", name="Scenarios").click()
    await expect(tab.page.get_by_role("heading", name=re.compile(r"^\d+ of \d+ pass$"))).to_be_visible()
    await expect(tab.page.get_by_text("A stuck model gets another strategy").first).to_be_visible()
    await save_button(tab).click()
    dialog = tab.page.get_by_role("dialog")
    await expect(dialog).to_contain_text(re.compile(r"scenarios? of \d+ fails?"))
    await dialog.get_by_role("button", name="Save").click()
    await expect(tab.page.get_by_text("Saved. The next question uses it.")).to_be_visible()
    assert "turn > 5" in (folder / "fallback.yaml").read_text(encoding="utf-8")
    await expect(tab.page.get_by_text("not saved", exact=True)).to_have_count(0)


async def test_a_text_with_mistakes_cannot_be_saved_by_button_or_key(tab, folder) -> None:
    await opened(tab)
    await write_behind(tab, "llm_turn", "\n    - nowhere_known")
    await expect(tab.page.get_by_text("1 mistake", exact=True).first).to_be_visible()
    await expect(save_button(tab)).to_be_disabled()
    await tab.page.keyboard.press("ControlOrMeta+s")
    await expect(tab.page.get_by_text("Fix the mistakes before you save.")).to_be_visible()
    await expect(tab.page.get_by_role("dialog")).to_have_count(0)
    assert (folder / "short.yaml").read_text(encoding="utf-8") == SHORT


async def test_hostile_words_of_a_tree_file_are_shown_as_text(tab) -> None:
    await opened(tab)
    await write_behind(tab, "Answers at once", " <img src=x onerror=canary(1)>")
    await write_behind(tab, "llm_turn", "\n    - '<img src=x onerror=canary(2)>'")
    await expect(tab.page.get_by_role("listitem").filter(has_text="<img src=x onerror=canary(2)>")).to_be_visible()
    await expect(source(tab)).to_contain_text("<img src=x onerror=canary(1)>")
    assert await tab.page.locator("img[src]").count() == 0
