"""What a user thinks of an answer: given, changed and withdrawn in the chat and in the view of its run."""

import pytest
from playwright.async_api import Locator, expect

from tests.acceptance.scripts import answers
from tests.service.server import Client
from tests.service.users import OPERATOR, TOKENS, token_of
from tests.web.axe import findings
from tests.web.tab import PHONE, Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

HOSTILE = "<img src=x onerror=canary()> **no**"


def thumbs(tab: Tab) -> tuple[Locator, Locator]:
    group = tab.page.get_by_role("group", name="What you think of this answer")
    return group.get_by_role("button", name="Helpful", exact=True), group.get_by_role("button", name="Not helpful")


async def pressed(tab: Tab, *, up: bool, down: bool) -> None:
    for thumb, is_pressed in zip(thumbs(tab), (up, down), strict=True):
        await expect(thumb).to_have_attribute("aria-pressed", str(is_pressed).lower())


@pytest.mark.smoke
async def test_an_answer_is_rated_by_keyboard_with_a_reason_and_that_is_shown_again(tab, desk, user) -> None:
    desk.play(answers("In login.py."))
    run = await user.ask("Where is the login?")
    context_id = run.done["context_id"]

    async def kept():
        return (await user.run(run.run_id))["feedback"]

    await tab.go(f"/chat/{context_id}")
    await pressed(tab, up=False, down=False)
    up, down = thumbs(tab)
    await up.press("Enter")
    await pressed(tab, up=True, down=False)
    await expect(up).to_be_focused()
    await down.press("Space")
    await pressed(tab, up=False, down=True)
    await tab.page.get_by_role("button", name="Add a comment…").press("Enter")
    field = tab.page.get_by_role("textbox", name="What was not helpful?")
    await expect(field).to_be_focused()
    await field.fill("x" * 2_001)
    await expect(tab.page.get_by_role("button", name="Save")).to_be_disabled()
    await field.fill(HOSTILE)
    await field.press("Control+Enter")
    await expect(tab.page.get_by_text(f"“{HOSTILE}”")).to_be_visible()
    assert await kept() == {"rating": "down", "text": HOSTILE}
    assert await findings(tab.page) == []
    await tab.go(f"/runs/{run.run_id}?tab=answer")
    await expect(tab.page.get_by_text(f"“{HOSTILE}”")).to_be_visible()
    await pressed(tab, up=False, down=True)
    await thumbs(tab)[1].press("Enter")
    await pressed(tab, up=False, down=False)
    assert await kept() is None
    await tab.go(f"/chat/{context_id}")
    await pressed(tab, up=False, down=False)


async def test_a_rating_that_is_refused_is_not_shown_as_given(tab, desk, user) -> None:
    desk.play(answers("In login.py."))
    run = await user.ask("Where is the login?")
    await tab.go(f"/chat/{run.done['context_id']}")
    await pressed(tab, up=False, down=False)
    await user.http.delete(f"/api/oracle/conversations/{run.done['context_id']}")
    tab.watch.allow("404|410")
    await thumbs(tab)[0].click()
    await expect(tab.page.get_by_role("status").filter(has_text="run")).to_be_visible()
    await pressed(tab, up=False, down=False)


async def test_operators_see_what_others_said_and_cannot_say_it_for_them(browse, guarded) -> None:
    alice = Client(guarded, headers=token_of("alice"))
    guarded.desk.play(answers("In login.py."))
    run = await alice.ask("Where is the login?")
    await alice.http.post(f"/api/oracle/runs/{run.run_id}/feedback", json={"rating": "up", "text": "Short."})
    await alice.aclose()
    tab = await browse(at=guarded.url)
    tab.watch.allow("401")
    await tab.go(f"/runs/{run.run_id}?tab=answer")
    await tab.page.get_by_label("Access token", exact=True).fill(TOKENS[OPERATOR])
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_text("Rated helpful by its user")).to_be_visible()
    await expect(tab.page.get_by_text("“Short.”")).to_be_visible()
    await expect(tab.page.get_by_role("group", name="What you think of this answer")).to_have_count(0)


@pytest.mark.parametrize("size", [PHONE])
async def test_thumbs_are_large_enough_for_fingers(tab, desk, user) -> None:
    desk.play(answers("In login.py."))
    run = await user.ask("Where is the login?")
    await tab.go(f"/chat/{run.done['context_id']}")
    for thumb in thumbs(tab):
        await expect(thumb).to_be_visible()
        box = await thumb.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
