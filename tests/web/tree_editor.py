"""What a person does in the editor of trees."""

import re
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.web.tab import Tab

SHORT = """tree: short
description: Answers at once.
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn: { tools: false }
    - stop: completed
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("trees")


@pytest.fixture(scope="module")
def settings(folder):
    return {"ORACLE_TREES_DIR": str(folder)}


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def short(service, user, folder) -> None:
    """The tree as it was, whatever the test before has saved."""
    found = (await user.http.get("/api/trees/short")).json()
    response = await user.http.put("/api/trees/short", json={"source": SHORT, "version": found.get("version")})
    assert response.status_code == 200, response.text


def source(tab: Tab, name: str = "short") -> Locator:
    """The text that is edited."""
    return tab.page.get_by_role("textbox", name=f"{name}.yaml")


async def opened(tab: Tab, name: str = "short", search: str = "") -> Locator:
    """Open a tree in the editor."""
    await tab.go(f"/trees/{name}{search}")
    text = source(tab, name)
    await expect(text).to_contain_text(f"tree: {name}")
    return text


async def write_behind(tab: Tab, line: str, words: str, *, name: str = "short") -> None:
    """Put the cursor behind a line, and type."""
    await source(tab, name).locator(".cm-line", has_text=line).first.click()
    await tab.page.keyboard.press("End")
    await tab.page.keyboard.insert_text(words)


def save_button(tab: Tab) -> Locator:
    """Opens the dialog that saves."""
    return tab.page.get_by_role("button", name=re.compile("^Save"))


async def save(tab: Tab, note: str = "") -> None:
    """Save the text with a note."""
    await save_button(tab).click()
    dialog = tab.page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name="Note").fill(note)
    await dialog.get_by_role("textbox", name="Note").press("Enter")
