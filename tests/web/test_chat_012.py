"""The chat side of specification 012: stories 1, 2 and 5, scenario by scenario, as a user sees them."""

import re

import pytest
from playwright.async_api import Locator, expect

from tests.acceptance.scripts import answers, calls, says
from tests.support.provider import Reply
from tests.web.tab import Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "Where is RetryPolicy defined in the code?"
AMBER_SOFT, AMBER_FILL = "rgb(255, 244, 214)", "rgb(184, 128, 0)"


def searches(count: int, *, tokens: int = 50) -> list[Reply]:
    """Turns that each search for something else."""
    return [says(f"Part {n}.", calls("search_code", query=f"RetryPolicy {n}"), tokens=tokens) for n in range(count)]


def system_rows(tab: Tab) -> Locator:
    return tab.page.locator("article").get_by_role("status").filter(has_text="System")


def said(tab: Tab, text: str) -> Locator:
    """A text of the conversation; screen readers hear it from elsewhere."""
    return tab.page.get_by_role("article").get_by_text(text)


async def with_limits(user, **limits: int) -> None:
    await user.http.post("/api/settings/agent-config/reset")
    response = await user.http.put("/api/settings/agent-config", json=limits)
    assert response.status_code == 200, response.text


async def test_us1_2_a_new_conversation_respects_the_configured_limits(tab, desk, user) -> None:
    await with_limits(user, max_iterations=2)
    desk.play(*searches(3))
    await tab.go("/")
    await expect(tab.page.get_by_text("Limits for each question: 2 turns, 50,000 tokens, 120 s.")).to_be_visible()
    await tab.ask(QUESTION)
    await expect(said(tab, "Stopped: iteration limit reached (2/2).")).to_be_visible()
    await expect(tab.page.get_by_text("2 turns", exact=True)).to_be_visible()


async def test_us2_1_at_70_percent_of_max_iterations_a_system_message_appears(tab, desk, user) -> None:
    await with_limits(user, max_iterations=10)
    desk.play(*searches(7), answers("It is in src/retry.py."))
    await tab.go("/")
    await tab.ask(QUESTION)
    row = system_rows(tab)
    await expect(row).to_contain_text("Approaching iteration limit (7/10)")
    await expect(said(tab, "It is in src/retry.py.")).to_be_visible()
    await expect(row).to_have_count(1)


async def test_us2_2_at_80_percent_of_the_token_budget_a_system_message_has_the_usage(tab, desk, user) -> None:
    await with_limits(user, token_budget=50_000)
    desk.play(*searches(1, tokens=41_000), answers("It is there."))
    await tab.go("/")
    await tab.ask(QUESTION)
    row = system_rows(tab)
    await expect(row).to_contain_text(re.compile(r"Approaching token budget \(4\d,\d{3}/50,000 tokens\)"))
    await expect(row).to_contain_text("Consider being more concise.")


async def test_us2_3_at_the_limit_what_was_said_is_saved_with_an_explanation(tab, desk, user) -> None:
    await with_limits(user, max_iterations=3)
    desk.play(*searches(4))
    await tab.go("/")
    await tab.ask(QUESTION)
    answer = tab.page.locator("article")
    await expect(system_rows(tab).last).to_contain_text("Maximum iterations reached (3/3). Saving partial response.")
    await expect(answer.get_by_text("Stopped: iteration limit reached (3/3).")).to_be_visible()
    await expect(answer.get_by_text("Stopped: iteration limit", exact=True)).to_be_visible()
    await expect(tab.page).to_have_url(re.compile(r"/chat/\w+"))
    await tab.page.reload()
    for said in ("Part 0.", "Part 1.", "Part 2.", "Stopped: iteration limit reached (3/3)."):
        await expect(answer.get_by_text(said)).to_be_visible()


async def test_us2_4_only_what_the_main_chain_has_said_is_saved(tab, desk, user) -> None:
    await with_limits(user, max_iterations=1)
    desk.play(*searches(2))
    await tab.go("/")
    await tab.ask(QUESTION)
    await expect(said(tab, "Stopped: iteration limit reached (1/1).")).to_be_visible()
    await expect(tab.page).to_have_url(re.compile(r"/chat/\w+"))
    await tab.page.reload()
    await expect(said(tab, "Part 0.")).to_be_visible()
    row = tab.page.get_by_role("button", name=re.compile("search_code"))
    await expect(row).to_contain_text("not run")
    await expect(said(tab, "Part 1.")).to_have_count(0)


async def test_us5_1_a_notification_is_a_system_message_with_a_style_of_its_own(tab, desk, user) -> None:
    await with_limits(user, max_iterations=3)
    desk.play(*searches(2), answers("It is there."))
    await tab.go("/")
    await tab.ask(QUESTION)
    row = system_rows(tab)
    await expect(row.get_by_text("System", exact=True)).to_be_visible()
    await expect(row).to_have_css("background-color", AMBER_SOFT)
    await expect(row).to_have_css("border-left-width", "4px")
    await expect(row).to_have_css("border-left-color", AMBER_FILL)
    for other in (said(tab, QUESTION), said(tab, "It is there.")):
        await expect(other).not_to_have_css("background-color", AMBER_SOFT)


async def test_us5_2_all_system_messages_are_in_the_history(tab, desk, user) -> None:
    await with_limits(user, max_iterations=3)
    desk.play(*searches(4))
    await tab.go("/")
    await tab.ask(QUESTION)
    expected = [
        re.compile(r"Approaching iteration limit \([12]/3\)"),
        re.compile(r"Maximum iterations reached \(3/3\)"),
    ]
    await expect(system_rows(tab)).to_contain_text(expected)
    await expect(tab.page.get_by_text("Stopped: iteration limit", exact=True)).to_be_visible()
    desk.play(answers("That was all."))
    await tab.ask("Please go on.")
    await expect(said(tab, "That was all.")).to_be_visible()
    await expect(system_rows(tab)).to_contain_text(expected)
    await expect(tab.page).to_have_url(re.compile(r"/chat/\w+"))
    await tab.page.reload()
    await expect(system_rows(tab)).to_contain_text(expected)
    await expect(system_rows(tab)).to_have_count(2)


async def test_us5_3_a_system_message_can_be_neither_answered_nor_edited(tab, desk, user) -> None:
    await with_limits(user, max_iterations=3)
    desk.play(*searches(2), answers("It is there."))
    await tab.go("/")
    await tab.ask(QUESTION)
    await expect(tab.page.get_by_text("Completed", exact=True)).to_be_visible()
    row = system_rows(tab)
    before = await row.inner_html()
    await row.hover()
    await row.click()
    await row.dblclick()
    assert await row.inner_html() == before
    for role in ("button", "link", "textbox", "menuitem"):
        await expect(row.get_by_role(role)).to_have_count(0)
    assert not await row.evaluate("row => row.isContentEditable || row.tabIndex >= 0")
