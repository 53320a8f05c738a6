"""`examples/ai_sdk_chat` as a user builds it, in Chromium."""

import asyncio
import functools
import hashlib
import http.server
import shutil
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from filelock import FileLock
from playwright.async_api import Page, async_playwright, expect

from oracle.testing import ScriptedTurn
from tests.acceptance.scripts import answers, calls, says
from tests.connect.stage import Stage, staged, token
from tests.connect.test_ai_sdk import NOTE, lay_careful
from tests.web.stage import held_answer
from tests.web.tab import find_chromium, launch

pytestmark = pytest.mark.asyncio(loop_scope="session")

EXAMPLE = Path(__file__).parents[2] / "examples" / "ai_sdk_chat"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of the built page; its packages are kept between sessions while they are the same."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    digest = hashlib.sha256((EXAMPLE / "package-lock.json").read_bytes()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"oracle-ai-sdk-chat-{digest}"
    folder.mkdir(exist_ok=True)
    with FileLock(folder / "lock"):
        for name in ("package.json", "package-lock.json", "index.html", "chat.jsx"):
            shutil.copy(EXAMPLE / name, folder)
        if not (folder / "node_modules" / ".package-lock.json").exists():
            run(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        run(folder, "npm", "run", "--silent", "build")
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def run(folder: Path, *command: str) -> None:
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def served(site: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with staged(tmp_path_factory.mktemp("page"), ORACLE_CORS_ORIGINS=site) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def page(site: str, served: Stage) -> AsyncIterator[Page]:
    if (path := find_chromium()) is None:
        pytest.skip("There is no Chromium on the PATH.")
    served.desk.play()
    async with async_playwright() as playwright:
        browser = await launch(playwright, path)
        tab = await browser.new_page(viewport={"width": 900, "height": 700})
        problems: list[str] = []
        tab.on("pageerror", lambda error: problems.append(str(error)))
        yield tab
        await browser.close()
        assert problems == []


async def ask(page: Page, text: str, label: str = "Question") -> None:
    field = page.get_by_role("textbox", name=label, exact=True)
    await field.fill(text)
    await field.press("Enter")


async def test_a_chat_with_thinking_tools_a_question_and_an_approval(page: Page, site: str, served: Stage) -> None:
    await lay_careful(served)
    served.desk.play(
        ScriptedTurn(
            thinking=("A note is asked for.",), text=("I write it.",), tool_calls=(calls("vault_write", **NOTE),)
        ),
        answers("It is written down."),
    )
    await page.goto(f"{site}/?api={served.url}&tree=careful#{token('alice')}")
    await ask(page, "Write the limit to a note.")
    await ask(page, "release", "Which branch is meant?")
    await expect(page.get_by_text("A note is asked for.")).to_be_visible()
    await expect(page.get_by_text(NOTE["body"])).to_be_visible()
    await page.get_by_role("button", name="Refuse").click()
    await expect(page.get_by_text("It is written down.")).to_be_visible()
    await expect(page.get_by_text("vault_write: output-denied")).to_be_visible()
    await expect(page.get_by_role("button", name="Send")).to_be_visible()


async def test_an_answer_outlives_its_page_and_its_connection(page: Page, site: str, served: Stage) -> None:
    gate = asyncio.Event()
    served.desk.play(held_answer(gate, "First half, ", "second half."))
    await page.goto(f"{site}/?api={served.url}#{token('alice')}")
    await ask(page, "Where is RetryPolicy?")
    await expect(page.get_by_text("First half,")).to_be_visible()
    await page.reload()
    await expect(page.get_by_text("First half,")).to_be_visible()
    served.proxy.cut()
    served.proxy.mend()
    await page.get_by_role("button", name="Read again").click()
    await expect(page.get_by_text("First half,")).to_be_visible()
    gate.set()
    await expect(page.get_by_text("First half, second half.")).to_have_count(1)


async def test_a_stop_and_a_refusal_are_shown(page: Page, site: str, served: Stage) -> None:
    served.desk.play(ScriptedTurn(text=("It begins ", "here "), hang=True), says("Yes."))
    await page.goto(f"{site}/?api={served.url}#{token('alice')}")
    await ask(page, "Where is RetryPolicy?")
    await expect(page.get_by_text("It begins here")).to_be_visible()
    await page.get_by_role("button", name="Stop").click()
    await expect(page.get_by_role("button", name="Ask again")).to_be_visible()
    await page.goto("about:blank")
    await page.goto(f"{site}/?api={served.url}&tree=nowhere#{token('alice')}")
    await ask(page, "Where is RetryPolicy?")
    await expect(page.get_by_role("alert")).to_contain_text("nowhere")
