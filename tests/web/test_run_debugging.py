"""Live debugging on the page of a run, where the operator has enabled it."""

import re

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.acceptance.scripts import answers, calls, says, text_of_request
from tests.web.tab import Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

BREAKPOINTS = "/api/debug/breakpoints"


@pytest.fixture(scope="module")
def settings():
    return {"ORACLE_DEBUG": "1"}


@pytest_asyncio.fixture(loop_scope="session")
async def breakpoint_at_start(user):
    """runs are paused before their first tick; what a test leaves behind pauses no other one."""
    made = await user.http.post(BREAKPOINTS, json={"kind": "start", "user_id": "local"})
    assert made.status_code == 201, made.text
    yield
    for each in (await user.http.get(BREAKPOINTS)).json()["breakpoints"]:
        await user.http.delete(f"{BREAKPOINTS}/{each['id']}")


def paused(tab: Tab) -> Locator:
    return tab.page.get_by_role("status", name="Debugger")


def where(tab: Tab) -> Locator:
    return tab.page.locator(".tick-bar-where")


@pytest.mark.usefixtures("breakpoint_at_start")
async def test_a_run_is_paused_stepped_changed_and_goes_on(tab, user, desk) -> None:
    desk.play(says("Look. ", calls("search_code", query="RetryPolicy")), answers("Done."))
    async with user.stream() as stream:
        await tab.go(f"/runs/{stream.run_id}?tab=board")
        await expect(paused(tab)).to_contain_text("Paused before the first tick")
        await expect(paused(tab)).to_contain_text("The time limit stands still.")
        await tab.page.keyboard.press("F10")
        await expect(paused(tab)).to_contain_text("Paused by local after tick 1")
        await expect(where(tab)).to_contain_text("Tick 1 of 1")
        assert desk.requests == []  # what the tick asked for has not begun
        board = tab.page.get_by_role("tabpanel")
        await board.get_by_role("button", name=re.compile("without a value yet")).click()
        await board.get_by_role("button", name=re.compile("^hint ")).click()
        await board.get_by_role("button", name="Change the value…").click()
        value = tab.page.get_by_label("Value, as JSON")
        await value.fill("not JSON")
        await expect(tab.page.get_by_text("This is not valid JSON")).to_be_visible()
        await value.fill('"Answer in one sentence."')
        await tab.page.get_by_role("button", name="Set for the next tick").click()
        await expect(paused(tab)).to_contain_text('hint = "Answer in one sentence."')
        await paused(tab).get_by_role("button", name="Resume").click()
        await stream.rest()
    await expect(tab.page.locator(".run-head").get_by_text("completed")).to_be_visible()
    assert any("Answer in one sentence." in text_of_request(body) for body in desk.bodies)
    await tab.page.keyboard.press("2")
    await expect(tab.page.get_by_text('hint was set to "Answer in one sentence." by local.')).to_be_visible()


@pytest.mark.usefixtures("breakpoint_at_start")
async def test_a_condition_halts_a_run_and_a_result_is_forced(tab, user, desk) -> None:
    desk.play(answers("Done."), answers("Again."))
    async with user.stream() as stream:
        await tab.go(f"/runs/{stream.run_id}")
        await expect(paused(tab)).to_be_visible()
        await tab.page.get_by_role("button", name="Breakpoints…").click()
        await tab.page.get_by_role("textbox", name="Condition").fill("turn >= 1")
        await tab.page.get_by_role("button", name="Add", exact=True).click()
        await expect(tab.page.get_by_role("checkbox").last).to_be_checked()
        await tab.page.keyboard.press("Escape")
        await paused(tab).get_by_role("button", name="Force a result…").click()
        nodes = tab.page.get_by_role("combobox", name="Node")
        label = await nodes.locator("option", has_text="warn_near_limits").text_content()
        await nodes.select_option(label=label)
        await tab.page.get_by_role("button", name="Success", exact=True).click()
        await expect(paused(tab)).to_contain_text("warn_near_limits → success")
        await paused(tab).get_by_role("button", name="Resume").click()
        await expect(paused(tab)).to_contain_text("Paused because this became true: turn >= 1")
        await paused(tab).get_by_role("button", name="Resume").click()
        await stream.rest()
    await expect(paused(tab)).to_have_count(0)


@pytest.mark.usefixtures("breakpoint_at_start")
async def test_the_service_keeps_breakpoints_at_nodes(tab, user, desk) -> None:
    desk.play(answers("Done."))
    async with user.stream() as stream:
        await tab.go(f"/runs/{stream.run_id}")
        await expect(paused(tab)).to_contain_text("Paused before the first tick")
        await tab.page.keyboard.press("F10")
        await expect(where(tab)).to_contain_text("Tick 1 of 1")
        await expect(tab.page.get_by_role("tabpanel").locator("[aria-current=step]")).to_be_visible()
        await tab.page.keyboard.press("d")
        await tab.page.keyboard.press("b")
        await tab.page.get_by_role("button", name="Breakpoints…").click()
        target = await tab.page.locator(".source-rows .source-breakpoint").first.bounding_box()
        assert target is not None
        assert min(target["width"], target["height"]) >= 24
        dialog = tab.page.get_by_role("dialog", name="Breakpoints")
        await expect(dialog).to_contain_text(re.compile(r"llm_turn oracle:\d+ tree oracle, runs of local"))
        await tab.page.reload()
        await tab.page.get_by_role("button", name="Breakpoints…").click()
        await expect(dialog).to_contain_text("llm_turn")
        await dialog.get_by_role("button", name="Remove the breakpoint").last.click()
        await expect(dialog).not_to_contain_text("llm_turn")
        await tab.page.keyboard.press("Escape")
        await paused(tab).get_by_role("button", name="Resume").click()
        await stream.rest()
    await expect(tab.page.locator(".run-head").get_by_text("completed")).to_be_visible()


@pytest.mark.usefixtures("breakpoint_at_start")
async def test_the_tree_beside_the_chat_is_paused_stepped_and_followed(tab, desk) -> None:
    desk.play(says("Look. ", calls("search_code", query="RetryPolicy")), answers("Done."))
    await tab.go("/")
    await tab.ask("Where is RetryPolicy?")
    tree = tab.page.get_by_role("region", name="Tree of the run")
    ticks = tree.get_by_role("group", name="Ticks")
    await expect(paused(tab)).to_contain_text("Paused before the first tick")
    await expect(ticks.get_by_role("button", name="Pause")).to_have_attribute("aria-pressed", "true")
    await ticks.get_by_role("button", name="Step").click()
    await expect(paused(tab)).to_contain_text("Paused by local after tick 1")
    await expect(tree.get_by_text("Tick 1", exact=True)).to_be_visible()
    assert desk.requests == []
    await ticks.get_by_role("button", name="Follow").click()
    await expect(tree.get_by_text("Ended", exact=True)).to_be_visible()
    await expect(paused(tab)).to_have_count(0)
    await expect(tab.page.get_by_role("article").get_by_text("Done.")).to_be_visible()


async def test_breakpoints_are_set_and_removed_in_the_editor(tab, user) -> None:
    await tab.go("/trees/oracle?line=37")
    points = tab.page.locator(".cm-breakpoint")
    await expect(points.first).to_be_visible()
    target = await tab.page.locator(".cm-breakpoint-gutter").bounding_box()
    assert target is not None
    assert target["width"] >= 24
    await expect(points.first.locator("..")).to_have_css("height", "24px")
    await tab.page.locator(".cm-content").press("F9")
    await expect(tab.page.locator(".cm-breakpoint.is-set")).to_have_count(1)
    (made,) = (await user.http.get(BREAKPOINTS)).json()["breakpoints"]
    assert (made["tree"], made["user_id"], made["path"].rpartition("/")[2]) == ("oracle", "local", "llm_turn")
    await tab.page.locator(".cm-lineNumbers").get_by_text("37", exact=True).click()
    await expect(tab.page.locator(".cm-breakpoint.is-set")).to_have_count(0)
    assert (await user.http.get(BREAKPOINTS)).json()["breakpoints"] == []
