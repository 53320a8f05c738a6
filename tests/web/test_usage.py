"""The page of what was used: by day, user and model, with what it has cost, and as a file."""

import re

import pytest
import pytest_asyncio
from playwright.async_api import expect

from oracle.llm.protocol import Usage
from oracle.testing import ScriptedTurn
from tests.acceptance.scripts import SUFFICIENT, answers, calls
from tests.service.server import Client
from tests.web.axe import findings
from tests.web.tab import PHONE, Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

OLGA, LENA, MIA = "olga-0123456789", "lena-0123456789", "mia-0123456789"
CACHED = (
    ScriptedTurn(tool_calls=(calls("list_files"),), usage=Usage(20, 900, 4_000, 30), text="I look."),
    ScriptedTurn(text=f"In login.py.{SUFFICIENT}", usage=Usage(120, 5_000, 0, 40, "tools_changed")),
)
"""Two turns; the provider has had the input of the first in its cache, and not that of the second."""
PRICES = """\
currency: USD
models:
  "*": { input: 1000, output: 5000, cache_creation: 2000, cache_read: 100 }
"""


@pytest.fixture(scope="module")
def settings(tmp_path_factory) -> dict[str, str]:
    prices = tmp_path_factory.mktemp("prices") / "prices.yaml"
    prices.write_text(PRICES, encoding="utf-8")
    return {
        "ORACLE_TOKENS": f"{OLGA}=olga,{LENA}=lena,{MIA}=mia",
        "ORACLE_OPERATORS": "olga",
        "ORACLE_PRICES": str(prices),
    }


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def used(service) -> None:
    """The operator has asked once, and a user twice."""
    for token, times in ((OLGA, 1), (LENA, 2)):
        client = Client(service, headers={"Authorization": f"Bearer {token}"})
        for _ in range(times):
            service.desk.play(answers("In login.py.", tokens=(1000, 20)))
            await client.ask("Where is the login?")
        await client.aclose()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def cached(service) -> str:
    """A third user has asked a model with a cache; the id of the run."""
    client = Client(service, headers={"Authorization": f"Bearer {MIA}"})
    service.desk.play(*CACHED)
    stream = await client.ask("Where is the login?")
    await client.aclose()
    return str(stream.run_id)


async def signed_in(tab: Tab, token: str, path: str) -> None:
    tab.watch.allow("401")
    await tab.go(path)
    await tab.page.get_by_label("Access token", exact=True).fill(token)
    await tab.page.keyboard.press("Enter")


def row(tab: Tab, name: str):
    return tab.page.get_by_role("table").get_by_role("row", name=re.compile(rf"^{name}\b"))


@pytest.mark.smoke
async def test_an_operator_sees_all_users_looks_at_one_and_saves_the_table(tab, used) -> None:
    await signed_in(tab, OLGA, "/runs")
    await tab.page.get_by_role("navigation", name="Sections").get_by_role("link", name="Usage").click()
    await expect(tab.page.get_by_role("heading", name="Usage")).to_be_visible()
    await expect(row(tab, "All")).to_contain_text("$3.30")
    await expect(tab.page.get_by_role("table").get_by_role("row")).to_have_count(3)  # the names, one day, all
    assert await findings(tab.page) == []
    await tab.page.get_by_role("button", name="User", exact=True).click()
    await expect(row(tab, "olga")).to_contain_text("$1.10")
    await expect(row(tab, "lena")).to_contain_text("2,040")
    await row(tab, "lena").get_by_role("button", name="lena").press("Enter")
    await expect(row(tab, "All")).to_contain_text("$2.20")
    async with tab.page.expect_download() as download:
        await tab.page.get_by_role("button", name="Save as CSV").click()
    file = await download.value
    assert re.fullmatch(r"usage-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv", file.suggested_filename)
    lines = (await file.path()).read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[1] for line in lines] == ["user_id", "lena"]
    await tab.page.reload()
    await expect(row(tab, "All")).to_contain_text("$2.20")
    await tab.page.get_by_role("button", name="User lena: show all users").click()
    await expect(row(tab, "All")).to_contain_text("$3.30")


async def test_other_days_are_chosen_and_the_service_says_what_is_wrong_with_them(tab, used) -> None:
    await signed_in(tab, LENA, "/usage")
    await expect(row(tab, "All")).to_contain_text("$2.20")
    await expect(tab.page.get_by_role("button", name="User", exact=True)).to_have_count(0)
    await expect(tab.page.get_by_role("button", name="30 d")).to_have_attribute("aria-pressed", "true")
    await tab.page.get_by_role("button", name="7 d").click()
    await expect(tab.page).to_have_url(re.compile(r"\?from=\d{4}-\d\d-\d\d$"))
    await expect(tab.page.get_by_role("button", name="7 d")).to_have_attribute("aria-pressed", "true")
    await tab.page.get_by_label("First day").fill("2020-01-01")
    tab.watch.allow("422")
    await expect(tab.page.get_by_role("alert")).to_contain_text("1 to 366 days, not before 1970; given 2020-01-01 to")
    await tab.page.get_by_label("Last day").fill("2020-02-01")
    await expect(tab.page.get_by_text("No usage in this period")).to_be_visible()
    await expect(tab.page.get_by_role("button", name="Save as CSV")).to_be_disabled()


async def test_what_is_not_known_is_said(tab, used) -> None:
    async def changed(route) -> None:
        response = await route.fetch()
        report = await response.json()
        if response.ok:  # not before the tab is signed in
            report["rows"][0]["cost"] = None
            report["totals"] |= {"cost": None, "auxiliary_requests": 3}
        await route.fulfill(response=response, json=report)

    await tab.page.route("**/api/usage*", changed)
    await signed_in(tab, LENA, "/usage")
    await expect(row(tab, "All")).to_contain_text("≥ $2.20")
    await expect(row(tab, r"20\d\d-")).to_contain_text("not known")
    for words in ("titles and the like: 3 requests", "≥: more was spent"):
        await expect(tab.page.get_by_text(words)).to_be_visible()


async def test_it_is_reached_by_its_name(tab, used) -> None:
    await signed_in(tab, LENA, "/settings")
    await expect(tab.page.get_by_role("heading", name="Limits for each question")).to_be_visible()
    await tab.page.keyboard.press("Control+k")
    await tab.page.get_by_role("combobox").fill("usag")
    await expect(tab.page.get_by_role("option", name="Usage page")).to_have_attribute("aria-selected", "true")
    await tab.page.keyboard.press("Enter")
    await expect(row(tab, "All")).to_be_visible()


@pytest.mark.parametrize("size", [PHONE])
async def test_on_a_phone_nothing_is_cut_off(tab, used) -> None:
    await signed_in(tab, LENA, "/usage")
    await expect(row(tab, "All")).to_contain_text("$2.20")
    assert await tab.page.evaluate("document.scrollingElement.scrollWidth") <= PHONE[0]


async def test_the_share_of_the_cache_is_shown_with_the_reason_of_a_miss(tab, used, cached) -> None:
    await signed_in(tab, MIA, "/usage")
    await expect(row(tab, "All")).to_contain_text("39 %")
    await expect(row(tab, "All")).to_contain_text("the tools changed")
    await expect(tab.page.get_by_text("missed most often because the tools changed.")).to_be_visible()
    assert await findings(tab.page) == []
    await tab.go(f"/runs/{cached}")
    await expect(tab.page.get_by_text("39 % cached")).to_be_visible()
    await tab.page.get_by_role("tab", name="Messages", exact=True).click()
    await expect(tab.page.get_by_text("missed: the tools changed")).to_be_visible()
    await expect(tab.page.get_by_text("0 cached · 5,000 written · 120 fresh")).to_be_visible()
    assert await findings(tab.page) == []
