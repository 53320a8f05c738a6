"""The page of shadow runs: whether two controls agree, and the way to where they part."""

import asyncio
import re

import pytest
from playwright.async_api import expect

from tests.acceptance.scripts import answers, calls, says
from tests.service.queries import PATIENCE_S
from tests.web.axe import findings
from tests.web.tab import PHONE

pytestmark = pytest.mark.asyncio(loop_scope="session")

SAME = "Where is the login?"
OTHERWISE = "Where is the logout?"


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    return {"ORACLE_CONTROL": "shadow"}


async def compared(user, pairs: int) -> None:
    """Wait until so many pairs are compared."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            report = (await user.http.get("/api/shadow/report")).json()
            if report["pairs"] == pairs and not report["running"]:
                return


async def test_two_controls_are_compared_and_lead_to_where_they_part(tab, desk, user) -> None:
    desk.play(answers("In login.py, at line 3."), answers("In login.py, at line 3."))
    await user.ask(SAME)
    await compared(user, 1)
    desk.play(
        answers("In logout.py."),
        says("I look.", calls("read_file", path="login.py")),
        answers("Nobody has written one: nothing was found anywhere."),
    )
    other = await user.ask(OTHERWISE)
    await compared(user, 2)
    await tab.go("/runs")
    await tab.page.get_by_role("link", name="Shadow runs").click()
    await expect(tab.page.get_by_role("heading", name="Shadow runs")).to_be_visible()
    await expect(tab.page.get_by_text("2 pairs", exact=True)).to_be_visible()
    group = tab.page.get_by_role("region", name=re.compile("is what users see"))
    await expect(group.get_by_role("row", name=re.compile("^same end 100 %"))).to_be_visible()
    await expect(group.get_by_role("row", name=re.compile("^Turns"))).to_contain_text("+0.5")
    worst = group.get_by_role("row", name=re.compile(re.escape(OTHERWISE)))
    await expect(worst).to_contain_text("turn 1: ends: completed → read_file")
    assert await findings(tab.page) == []
    await worst.get_by_role("link", name=OTHERWISE).click()
    await expect(tab.page).to_have_url(re.compile(rf"/compare/{other.run_id}/\w{{32}}$"))
    rating = tab.page.get_by_role("group", name="What you think of this answer")
    for run_id, rated in ((other.run_id, 1), (tab.page.url.rpartition("/")[2], 0)):  # nobody rates a shadow
        await tab.go(f"/runs/{run_id}?tab=answer")
        await expect(tab.page.get_by_role("tabpanel").first).to_contain_text(OTHERWISE)
        await expect(rating).to_have_count(rated)


@pytest.mark.parametrize("size", [PHONE])
async def test_on_a_phone_nothing_is_cut_off(tab) -> None:
    await tab.go("/shadow")
    await expect(tab.page.get_by_role("heading", name="Shadow runs")).to_be_visible()
    await tab.page.get_by_role("button", name="All").click()
    assert await tab.page.evaluate("document.scrollingElement.scrollWidth") <= PHONE[0]
