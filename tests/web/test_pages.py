"""What holds for every page: its policy, and the ways between the sections by keyboard."""

import re

import pytest
from playwright.async_api import expect

from tests.web.scenes import presses, sees
from tests.web.tab import LAPTOP

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_every_page_comes_with_a_strict_policy(shown) -> None:
    for path in ("/", "/runs", f"/runs/{shown.runs['poll']}", "/trees/oracle", "/settings", "/no/such/page"):
        answer = await shown.client.http.get(path, headers={"accept": "text/html"})
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert not re.search(r"unsafe-|https?:|\*|blob:", policy)
        assert not re.search(r"\sstyle=|\son[a-z]+=|<style|<script(?![^>]*\ssrc=)", answer.text)


async def test_the_sections_are_reached_by_keyboard_alone(shown, browse) -> None:
    tab = await browse("/", at=shown.server.url, size=LAPTOP)
    for name, text in (
        ("Runs", "Runs"),
        ("Trees", "follow_signal"),
        ("Settings", "Settings"),
        ("Chat", "New question"),
    ):
        link = tab.page.get_by_role("navigation", name="Sections").get_by_role("link", name=name)
        await link.focus()
        await tab.page.keyboard.press("Enter")
        await expect(link).to_have_attribute("aria-current", "page")
        await sees(text)(tab)
    await presses("Control+k")(tab)
    await expect(tab.page.get_by_role("dialog")).to_be_visible()
    await presses("Escape")(tab)
    await expect(tab.page.get_by_role("dialog")).to_have_count(0)
    await tab.page.evaluate("document.activeElement?.blur()")
    await presses("?")(tab)
    await expect(tab.page.get_by_role("dialog")).to_be_visible()
    await presses("Escape")(tab)
    await expect(tab.page.get_by_role("dialog")).to_have_count(0)
