"""What a rule has refused, and what was read before a call that a person is asked about."""

import re

import pytest
from playwright.async_api import Locator, Page, expect

from tests.service.server import Client
from tests.web.gallery_trees import GUARDED, GUARDED_ASKING
from tests.web.scenes import SHOWN, closing_tickets, labelled_tickets, sees
from tests.web.stage import Stage
from tests.web.tab import LAPTOP, PHONE, Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

RESULT = "Two tickets about late parcels: T-1, T-2"


@pytest.fixture(scope="module")
def settings(tmp_path_factory) -> dict[str, str]:
    """A server of tickets, whose tools have labels."""
    return {"ORACLE_MCP_SERVERS": labelled_tickets(tmp_path_factory.mktemp("servers"))}


async def is_led_to(page: Page, link: Locator) -> None:
    """The link leads to the result, which is unfolded, with the labels of its tool."""
    await expect(page.get_by_text(RESULT)).to_be_hidden()
    await link.click()
    await expect(page.locator("summary", has_text="tickets.search")).to_be_focused()
    await expect(page.locator("summary", has_text="tickets.search")).to_be_in_viewport()
    await expect(page.get_by_text(RESULT)).to_be_visible()
    await expect(page.locator("details[open]").get_by_role("listitem")).to_have_text(["private", "untrusted"])


@pytest.mark.smoke
async def test_a_refused_call_names_the_rule_and_leads_to_what_was_read(tab: Tab, stage: Stage, user: Client) -> None:
    run = await closing_tickets(user, stage, GUARDED)
    await user.resumed(run["run_id"])
    await tab.go(f"/runs/{run['run_id']}")
    await tab.page.get_by_role("button", name="1 refused by a rule").click()
    await expect(tab.page.get_by_text("tickets.close_ticket was refused by the rule nothing_leaks.")).to_be_visible()
    call = tab.page.locator("details", has_text="tickets.close_ticket").locator("..")
    await expect(call).to_contain_text(
        "Refused by the rule nothing_leaks: After untrusted text was read, nothing is sent without an approval."
    )
    await is_led_to(tab.page, call.get_by_role("button", name="tickets.search, turn 1"))


@pytest.mark.parametrize("size", [LAPTOP, PHONE])
async def test_who_is_asked_sees_what_was_read_before(tab: Tab, stage: Stage, user: Client) -> None:
    run = await closing_tickets(user, stage, GUARDED_ASKING)
    await tab.go("/waiting")
    card = tab.page.locator("[data-interrupt]")
    await expect(card).to_contain_text("It may be made of what was read: tickets.search.")
    await expect(card.get_by_role("checkbox")).to_have_count(0)  # no grant covers such a call
    await card.get_by_role("link", name="Show what was read").click()
    await expect(tab.page).to_have_url(re.compile(f"/runs/{run['run_id']}"))
    await sees(SHOWN)(tab)
    await is_led_to(tab.page, card.get_by_role("button", name="tickets.search, turn 1"))
    await card.get_by_role("button", name="Approve").click()
    await expect(card).to_contain_text("approved")
    await expect(card.get_by_role("button")).to_have_text(["tickets.search, turn 1"])
    await user.resumed(run["run_id"])
