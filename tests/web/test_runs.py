"""The list of runs: what it shows, how it is narrowed, and how two runs are chosen."""

import asyncio
import re

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.acceptance.scripts import answers, calls, says
from tests.service.server import Client
from tests.web.stage import held_answer
from tests.web.tab import PHONE, Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

HOSTILE = "<img src=x onerror=canary('title')> what is it?"


@pytest.fixture(scope="module")
def settings():
    return {}  # a service without other runs


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def recorded(service) -> dict[str, str]:
    """Four runs, by a word of their questions."""
    desk, user = service.desk, Client(service)
    desk.take_over()
    runs = {}
    desk.play(answers("By a token."))
    runs["login"] = (await user.ask("How does the login work?")).run_id
    desk.play(says("Looking. ", calls("list_files", path="")), says("More. ", calls("list_files", path="docs")))
    runs["files"] = (await user.ask("Which files are there?", limits={"max_iterations": 2})).run_id
    desk.play(answers("It is a picture."))
    runs["hostile"] = (await user.ask(HOSTILE)).run_id
    desk.play(answers("By a token, still."))
    runs["again"] = (await user.ask("How does the login work now?")).run_id
    await user.aclose()
    return runs


def row(tab: Tab, run_id: str) -> Locator:
    return tab.page.locator(f'[data-run="{run_id}"]')


def rows(tab: Tab) -> Locator:
    return tab.page.locator("[data-run]")


@pytest.mark.smoke
async def test_a_run_is_listed_with_its_end_its_figures_and_its_tree(tab, recorded) -> None:
    await tab.go("/runs")
    files = row(tab, recorded["files"])
    await expect(files).to_contain_text("turn limit")
    await expect(files).to_contain_text("Which files are there?")
    await expect(files).to_contain_text("2/2")
    await expect(files).to_contain_text(re.compile(r"oracle@[0-9a-f]{7}"))
    await expect(rows(tab).first).to_have_attribute("data-run", recorded["again"])
    await expect(tab.page.get_by_role("button", name=re.compile("^Completed"))).to_contain_text("3")
    await expect(tab.page.get_by_role("button", name=re.compile("^Stopped"))).to_contain_text("1")


async def test_a_question_is_text_whatever_it_holds(tab, recorded) -> None:
    await tab.go("/runs")
    await expect(row(tab, recorded["hostile"])).to_contain_text(HOSTILE)
    await expect(tab.page.locator(".runs-table img")).to_have_count(0)


async def test_filters_narrow_the_list_and_stay_in_the_address(tab, recorded) -> None:
    await tab.go("/runs")
    await tab.page.get_by_role("button", name=re.compile("^Stopped")).click()
    await expect(rows(tab)).to_have_count(1)
    await expect(tab.page).to_have_url(re.compile(r"outcome=stopped"))
    await tab.page.reload()
    await expect(rows(tab)).to_have_count(1)
    await tab.page.get_by_role("button", name="Reason").click()
    await tab.page.get_by_role("menuitemradio", name="stuck").click()
    await expect(tab.page.get_by_role("heading", name="No run matches")).to_be_visible()
    await tab.page.get_by_role("button", name="Clear the filters").click()
    await expect(rows(tab)).to_have_count(4)
    assert tab.page.url.endswith("/runs")


async def test_runs_are_found_by_words_and_by_the_beginning_of_an_id(tab, recorded) -> None:
    await tab.go("/runs")
    await expect(rows(tab)).to_have_count(4)
    await tab.page.keyboard.press("/")
    await tab.page.keyboard.type("LOGIN now")
    await expect(rows(tab)).to_have_count(1)
    await expect(row(tab, recorded["again"])).to_be_visible()
    await tab.page.get_by_role("searchbox").fill(recorded["files"][:8])
    await expect(row(tab, recorded["files"])).to_be_visible()
    await expect(rows(tab)).to_have_count(1)


async def test_by_keyboard_alone_two_runs_are_chosen_and_compared(tab, recorded) -> None:
    await tab.go("/runs")
    await expect(rows(tab)).to_have_count(4)
    for key in "jxjjjxc":
        await tab.page.keyboard.press(key)
    await expect(tab.page).to_have_url(re.compile(f"/compare/{recorded['again']}/{recorded['login']}$"))


async def test_a_run_is_opened_with_enter(tab, recorded) -> None:
    await tab.go("/runs")
    await expect(rows(tab)).to_have_count(4)
    for key in ("j", "j", "k", "Enter"):
        await tab.page.keyboard.press(key)
    await expect(tab.page).to_have_url(re.compile(f"/runs/{recorded['again']}"))


async def test_a_run_under_way_is_seen_to_end(tab, recorded, desk, user) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "First half, ", "second half."))
    asking = asyncio.create_task(user.ask("What is under way?"))
    await tab.go("/runs?outcome=running")
    await expect(rows(tab)).to_have_count(1)
    await expect(rows(tab)).to_contain_text("turn 1")
    await tab.page.get_by_role("button", name=re.compile("^All")).click()
    await expect(rows(tab)).to_have_count(5)
    gate.set()
    heard = await asking
    await expect(row(tab, heard.run_id)).to_contain_text("completed")


@pytest.mark.parametrize("size", [PHONE], ids=["390"])
async def test_on_a_phone_runs_are_cards(tab, recorded) -> None:
    await tab.go("/runs")
    files = row(tab, recorded["files"])
    await expect(files).to_contain_text("2/2 turns")
    assert await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await files.get_by_role("link").click()
    await expect(tab.page).to_have_url(re.compile(recorded["files"]))


async def test_without_the_service_what_was_loaded_stays(browse, line, recorded) -> None:
    tab = await browse("/runs", at=line.url)
    tab.watch.allow("net::ERR_|Failed to load")
    await expect(row(tab, recorded["login"])).to_be_visible()
    line.cut()
    await tab.page.get_by_role("button", name=re.compile("^Failed")).click()
    await expect(tab.page.get_by_text("The service is not responding.").first).to_be_visible()
    await expect(row(tab, recorded["login"])).to_be_visible()
    line.mend()
    await tab.page.get_by_role("button", name="Try now").click()
    await expect(tab.page.get_by_role("heading", name="No run matches")).to_be_visible()
