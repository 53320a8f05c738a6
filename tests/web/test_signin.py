"""Sign-in by token, where the service asks for one: the token stays in its tab, and leaves with its user."""

import asyncio
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Route, expect

from tests.service.server import Server, serving
from tests.service.users import TOKENS
from tests.support.issuer import issuing
from tests.web.conftest import Browse
from tests.web.stage import held_answer
from tests.web.tab import Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def opened(browse: Browse, guarded: Server, path: str) -> Tab:
    tab = await browse(at=guarded.url)
    tab.watch.allow("401")  # what the browser logs for the call that finds out that a token is needed
    await tab.go(path)
    return tab


def field(tab: Tab) -> Locator:
    return tab.page.get_by_label("Access token", exact=True)


async def sign_in(tab: Tab, user: str) -> None:
    await field(tab).fill(TOKENS[user])
    await field(tab).press("Enter")


@pytest.mark.smoke
async def test_who_signs_in_gets_the_page_that_was_asked_for(browse, guarded) -> None:
    tab = await opened(browse, guarded, "/settings#account")
    await expect(field(tab)).to_be_focused()
    await sign_in(tab, "alice")
    await expect(tab.page.get_by_role("heading", name="Account")).to_be_visible()
    await expect(tab.page.locator(".settings-card")).to_contain_text("alice")
    assert tab.page.url == f"{guarded.url}/settings#account"


async def test_a_token_that_is_not_known_is_refused_in_words(browse, guarded) -> None:
    tab = await opened(browse, guarded, "/runs")
    await field(tab).fill("some-other-token")
    await tab.page.get_by_role("button", name="Sign in").click()
    await expect(tab.page.get_by_role("alert")).to_have_text(
        "The service does not know this token. It may have been replaced."
    )
    await expect(field(tab)).to_have_attribute("aria-invalid", "true")
    await expect(field(tab)).to_have_value("some-other-token")
    await sign_in(tab, "bob")
    await expect(tab.page.get_by_role("link", name="Account of bob")).to_be_visible()


@pytest.mark.parametrize("token", ["", "   ", "tökén", "two words"])
async def test_what_can_be_no_token_is_not_sent(browse, guarded, token: str) -> None:
    tab = await opened(browse, guarded, "/runs")
    await expect(field(tab)).to_be_visible()
    sent: list[str] = []
    tab.page.on("request", lambda request: sent.append(request.url))
    await field(tab).fill(token)
    await field(tab).press("Enter")
    await expect(tab.page.get_by_role("alert")).to_be_visible()
    assert not any("/api/" in url for url in sent)


async def test_a_token_is_shown_only_when_that_is_asked_for(browse, guarded) -> None:
    tab = await opened(browse, guarded, "/runs")
    await field(tab).fill("secret")
    await expect(field(tab)).to_have_attribute("type", "password")
    await expect(field(tab)).to_have_attribute("autocomplete", "off")
    await tab.page.get_by_role("button", name="Show the token").click()
    await expect(field(tab)).to_have_attribute("type", "text")


async def test_the_token_is_in_this_tab_alone_and_in_no_address(browse, guarded) -> None:
    tab = await opened(browse, guarded, "/runs")
    addresses: list[str] = []
    said: list[str] = []
    tab.page.on("request", lambda request: addresses.append(request.url))
    tab.page.on("console", lambda message: said.append(message.text))
    await sign_in(tab, "alice")
    await expect(tab.page.get_by_role("link", name="Account of alice")).to_be_visible()
    assert addresses
    assert not any(TOKENS["alice"] in each for each in [*addresses, *said, tab.page.url])
    assert TOKENS["alice"] not in await tab.page.evaluate("JSON.stringify(localStorage) + document.cookie")
    await tab.page.reload()  # it is the same tab
    await expect(tab.page.get_by_role("link", name="Account of alice")).to_be_visible()
    other = await tab.context.new_page()
    await other.goto(f"{guarded.url}/runs")
    await expect(other.get_by_label("Access token", exact=True)).to_be_visible()


async def test_who_signs_out_leaves_nothing_for_the_next(browse, guarded) -> None:
    tab = await opened(browse, guarded, "/settings#account")
    await sign_in(tab, "alice")
    await tab.page.get_by_role("button", name="Sign out").click()
    await expect(field(tab)).to_have_value("")
    await expect(tab.page.get_by_role("alert")).to_have_count(0)
    assert await tab.page.evaluate("sessionStorage.length") == 0
    await sign_in(tab, "bob")
    await expect(tab.page.locator(".settings-card")).to_contain_text("bob")
    await expect(tab.page.get_by_text("alice")).to_have_count(0)


async def test_the_next_user_finds_no_answer_and_no_draft_of_one_whose_token_was_refused(browse, guarded) -> None:
    gate = asyncio.Event()
    assert guarded.desk is not None
    guarded.desk.play(held_answer(gate, "Alice's first half, ", "Alice's second half."))
    tab = await opened(browse, guarded, "/")
    await sign_in(tab, "alice")
    await tab.ask("Where is Alice's secret?")
    await expect(tab.page.get_by_text("Alice's first half,")).to_be_visible()
    await tab.page.evaluate("sessionStorage.setItem('oracle.draft.review', JSON.stringify({text: 'a', base: null}))")
    await tab.page.route("**/api/trees", lambda route: route.fulfill(status=401, json={"detail": "expired"}))
    await tab.page.get_by_role("link", name="Trees").first.click()
    await expect(field(tab)).to_be_visible()
    await tab.page.unroute("**/api/trees")
    await sign_in(tab, "bob")
    await expect(tab.page.get_by_role("link", name="Account of bob")).to_be_visible()
    await tab.page.get_by_role("link", name="Chat").first.click()
    gate.set()
    await expect(tab.composer).to_be_visible()
    await expect(tab.page.get_by_text("Alice")).to_have_count(0)
    assert await tab.page.evaluate("sessionStorage.getItem('oracle.draft.review')") is None


@pytest.fixture(scope="module")
def issuer():
    with issuing() as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def corporate(tmp_path_factory, issuer):
    """A service whose users sign in at an issuer."""
    named = {"ISSUERS": f"corp={issuer.url}", "AUDIENCES": "corp=oracle", "CLIENTS": "corp=console"}
    settings = {f"ORACLE_OIDC_{name}": value for name, value in named.items()}
    async with serving(tmp_path_factory.mktemp("corporate"), **settings) as server:
        yield server


async def test_who_signs_in_at_an_issuer_gets_the_page_that_was_asked_for(browse, corporate) -> None:
    tab = await opened(browse, corporate, "/settings#account")
    tab.watch.allow("request to elsewhere")  # the issuer's own page
    await tab.page.get_by_role("button", name="Sign in with corp").click()
    await expect(tab.page.locator(".settings-card")).to_contain_text("corp:anna")
    assert tab.page.url == f"{corporate.url}/settings#account"
    assert await tab.page.evaluate("Object.keys(sessionStorage).includes('oracle.sign-in')") is False


async def test_an_issuer_that_refuses_or_does_not_answer_is_said_in_words(browse, corporate, issuer) -> None:
    tab = await opened(browse, corporate, "/runs")
    tab.watch.allow("request to elsewhere")
    await tab.page.route("**/authorize?*", refused)
    await tab.page.get_by_role("button", name="Sign in with corp").click()
    await expect(tab.page.get_by_role("alert")).to_have_text("corp has not signed you in (access_denied).")
    assert tab.page.url == f"{corporate.url}/runs"
    await expect(field(tab)).to_be_visible()  # a token is still possible


async def refused(route: Route) -> None:
    """What an issuer sends back whose user does not agree."""
    asked = parse_qs(urlsplit(route.request.url).query)
    back = f"{asked['redirect_uri'][0]}?error=access_denied&state={asked['state'][0]}"
    await route.fulfill(status=302, headers={"Location": back})


async def test_a_code_that_the_tab_has_not_asked_for_is_ignored(browse, corporate) -> None:
    tab = await opened(browse, corporate, "/?code=stolen&state=another")
    await expect(field(tab)).to_be_visible()
    await expect(tab.page.get_by_role("alert")).to_have_count(0)
