"""What a run asks people: cards in the chat and in the view of a run, the page of what waits, and its count."""

import json
import re
from collections.abc import Awaitable, Callable

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from tests.acceptance.scripts import answers, calls, says
from tests.service.provider import Desk
from tests.service.server import Client
from tests.web import gallery_trees as trees
from tests.web.tab import PHONE, Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "Write the retry limit to a note."
NOTE = {"path": "limits.md", "body": "Five."}

Begin = Callable[[str], Awaitable[dict[str, str]]]


@pytest_asyncio.fixture(loop_scope="session")
async def begin(user: Client) -> Begin:
    """Begins a query that nobody reads, under one of the trees above."""
    for name, text in (("careful", trees.CAREFUL), ("asking", trees.ASKING)):
        found = (await user.http.get(f"/api/trees/{name}")).json()
        saved = await user.http.put(f"/api/trees/{name}", json={"source": text, "version": found.get("version")})
        assert saved.is_success, saved.text

    async def begun(tree: str) -> dict[str, str]:
        response = await user.http.post("/api/oracle/runs", json={"question": QUESTION, "tree": tree})
        assert response.status_code == 202, response.text
        found: dict[str, str] = response.json()
        return found

    return begun


def card(page: Page) -> Locator:
    return page.locator("[data-interrupt]")


async def count_is(tab: Tab, count: str) -> None:
    link = tab.page.get_by_role("navigation", name="Sections").first.get_by_role("link", name="Waiting")
    await expect(link).to_have_text(f"Waiting{count}")


@pytest.mark.smoke
async def test_a_call_waits_in_the_chat_until_it_is_approved_with_other_arguments(
    tab: Tab, desk: Desk, begin: Begin
) -> None:
    desk.play(says("I write it.", calls("vault_write", **NOTE)), answers("It is written."))
    run = await begin("careful")
    await tab.go(f"/chat/{run['context_id']}")
    asked = card(tab.page)
    await expect(asked).to_contain_text("vault_write")
    await expect(asked).to_contain_text('"path": "limits.md"')
    await expect(asked).to_contain_text(re.compile(r"Answer by \d+ \w+, \d\d:\d\d\. After that it counts as refused\."))
    await count_is(tab, "1")
    await asked.get_by_role("button", name="Edit arguments…").press("Enter")
    field = asked.get_by_role("textbox", name="Arguments, as JSON")
    await expect(field).to_be_focused()
    await field.fill("{")
    await expect(asked.get_by_role("button", name="Approve as edited")).to_be_disabled()
    tab.watch.allow("422")
    await field.fill(json.dumps({"path": "b.md"}))
    await field.press("Control+Enter")
    await expect(asked).to_contain_text('"body" is a required property')
    await field.fill(json.dumps(NOTE | {"path": "b.md"}))
    await field.press("Control+Enter")
    await expect(asked).to_contain_text("approved with changes")
    await expect(asked).to_contain_text("b.md")
    await expect(tab.page.get_by_text("It is written.").first).to_be_visible()
    await expect(asked.get_by_role("button")).to_have_count(0)
    await count_is(tab, "")
    await tab.page.reload()  # it is shown as answered, and never open again
    await expect(asked).to_contain_text("approved with changes")
    await expect(asked.get_by_role("button")).to_have_count(0)


async def test_what_waits_is_listed_and_refused_with_a_comment(tab: Tab, desk: Desk, begin: Begin) -> None:
    desk.play(says("", calls("vault_write", **NOTE)), answers("Then not."))
    run = await begin("careful")
    await tab.go("/waiting")
    asked = card(tab.page)
    await asked.get_by_role("button", name="Refuse…").click()
    await asked.get_by_role("textbox").fill("Not there.")
    await asked.get_by_role("button", name="Refuse", exact=True).click()
    await expect(tab.page.get_by_text("Nothing waits for an answer")).to_be_visible()
    await expect(tab.page.get_by_role("heading", name="Waiting for a person")).to_be_focused()
    await tab.go(f"/runs/{run['run_id']}?tab=answer")
    await expect(card(tab.page)).to_contain_text("refused")
    await expect(card(tab.page)).to_contain_text("Not there.")
    assert "a person refused this call. They said: Not there." in desk.provider.bodies[-1].__repr__()


@pytest.mark.parametrize("size", [PHONE])
async def test_a_question_is_answered_by_an_option_in_the_view_of_the_run(tab: Tab, desk: Desk, begin: Begin) -> None:
    desk.play(answers("It is release."))
    run = await begin("asking")
    await tab.go(f"/runs/{run['run_id']}?tab=answer")
    await tab.page.get_by_role("button", name="Show", exact=True).click()
    await expect(card(tab.page)).to_contain_text("Which branch is meant?")
    await card(tab.page).get_by_role("button", name="release").click()
    await expect(card(tab.page)).to_contain_text("answered")
    await expect(tab.page.get_by_text("It is release.").first).to_be_visible()


async def test_an_allowed_tool_asks_no_more_until_the_grant_is_withdrawn(
    tab: Tab, desk: Desk, begin: Begin, user: Client
) -> None:
    desk.play(says("", calls("vault_write", **NOTE)), answers("Done."))
    run = await begin("careful")
    await tab.go("/waiting")
    await card(tab.page).get_by_role("checkbox").check()
    await card(tab.page).get_by_role("button", name="Approve").click()
    grants = tab.page.get_by_role("region", name="Allowed without approval")
    await expect(grants).to_contain_text("vault_write")
    await grants.get_by_role("button", name="Withdraw vault_write").click()
    await expect(grants).to_have_count(0)
    await user.resumed(run["run_id"])
