"""The settings: limits that are saved as they are changed, how the console looks, keys, and the account."""

import asyncio
import re

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Route, expect

from tests.acceptance.scripts import answers, calls, says
from tests.service.server import Client
from tests.web.tab import PHONE, Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATH = "/api/settings/agent-config"


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def defaults(user: Client) -> None:
    """Each test begins with the defaults."""
    (await user.http.post(f"{PATH}/reset")).raise_for_status()


def slider(tab: Tab, name: str) -> Locator:
    return tab.page.get_by_role("slider", name=name)


def box(tab: Tab, name: str) -> Locator:
    """The number of a field."""
    return tab.page.get_by_label(f"({name}), as a number")


def bar(tab: Tab) -> Locator:
    """What the page says about saving."""
    return tab.page.locator(".save-bar").get_by_role("status")


async def saved(user: Client) -> dict[str, int]:
    return (await user.http.get(PATH)).json()


# 012, user story 1: configure agent behavior


@pytest.mark.smoke
async def test_us1_1_a_slider_that_is_modified_is_saved_and_shown_on_reload(tab, user) -> None:
    """Given a user is on the Settings page, when they modify the "Max Iterations" slider from 15 to 10, then the value
    is saved and displayed correctly on page reload."""
    await tab.go("/settings")
    turns = slider(tab, "max_iterations")
    await expect(turns).to_have_value("15")
    await turns.focus()
    for _ in range(5):
        await tab.page.keyboard.press("ArrowLeft")
    await expect(bar(tab)).to_contain_text("→ 10.")  # from 15, unless the keys have come so slowly that each is saved
    await tab.page.reload()
    await expect(slider(tab, "max_iterations")).to_have_value("10")
    await expect(box(tab, "max_iterations")).to_have_value("10")
    assert (await saved(user))["max_iterations"] == 10


async def test_us1_2_a_new_conversation_respects_the_limits(tab, user, desk) -> None:
    """Given a user has set custom AgentConfig values, when they start a new Oracle conversation, then the agent
    respects those configured limits."""
    await tab.go("/settings")
    await box(tab, "max_iterations").fill("2")
    await tab.page.keyboard.press("Enter")
    await expect(bar(tab)).to_contain_text("Saved.")
    desk.play(*(says("Looking. ", calls("list_files", path=name)) for name in ("", "docs")), answers("Never."))
    heard = await user.ask("Which files are there?")
    assert heard.done["termination_reason"] == "max_iterations"
    assert heard.done["turns"] == 2


async def test_us1_3_an_invalid_value_is_not_saved_and_says_what_would_be_right(tab, user) -> None:
    """Given a user has invalid input (e.g., max iterations = 0), when they try to save, then validation prevents saving
    with a helpful error message."""
    await tab.go("/settings")
    turns = box(tab, "max_iterations")
    await turns.fill("0")
    await turns.press("Enter")
    await expect(tab.page.get_by_role("alert")).to_have_text("0 is too low. Between 1 and 50.")
    await expect(turns).to_have_attribute("aria-invalid", "true")
    await expect(bar(tab)).to_contain_text("1 field needs a change.")
    assert (await saved(user))["max_iterations"] == 15
    await turns.fill("7")
    await turns.press("Enter")
    await expect(bar(tab)).to_contain_text("Saved. Turns 15 → 7.")
    await expect(tab.page.get_by_role("alert")).to_have_count(0)


async def test_by_keyboard_alone_a_limit_is_found_changed_and_saved(tab, user) -> None:
    await tab.go("/settings")
    await expect(slider(tab, "max_iterations")).to_be_visible()
    for _ in range(40):
        await tab.page.keyboard.press("Tab")
        focused = await tab.page.evaluate("document.activeElement.getAttribute('aria-label') ?? ''")
        if "timeout_seconds" in focused:
            break
    await tab.page.keyboard.type("60")
    await tab.page.keyboard.press("Tab")
    await expect(bar(tab)).to_contain_text("Saved. Time 120 → 60.")
    assert (await saved(user))["timeout_seconds"] == 60


# More of the limits


async def test_all_seven_fields_are_there_with_bounds_from_the_service(tab, user) -> None:
    told = await saved(user)
    await tab.go("/settings")
    await expect(tab.page.get_by_role("slider")).to_have_count(7)
    for name, field in told["fields"].items():
        await expect(slider(tab, name)).to_have_attribute("min", str(field["minimum"]))
        await expect(slider(tab, name)).to_have_attribute("max", str(field["maximum"]))
        await expect(slider(tab, name)).to_have_value(str(told[name]))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ArrowUp", 51_000),
        ("ArrowLeft", 49_000),
        ("PageUp", 60_000),
        ("PageDown", 40_000),
        ("Home", 1_000),
        ("End", 200_000),
    ],
)
async def test_a_slider_has_its_keys(tab, key: str, value: int) -> None:
    await tab.go("/settings")
    await slider(tab, "token_budget").press(key)
    await expect(box(tab, "token_budget")).to_have_value(str(value))
    await expect(bar(tab)).to_contain_text(f"Saved. Tokens 50,000 → {value:,}.")


async def test_a_slider_that_is_dragged_is_saved_when_it_is_let_go(tab, user) -> None:
    await tab.go("/settings")
    turns = slider(tab, "max_iterations")
    place = await turns.bounding_box()
    assert place is not None
    middle = place["y"] + place["height"] / 2
    await tab.page.mouse.move(place["x"] + 8 + (place["width"] - 16) * 14 / 49, middle)
    await tab.page.mouse.down()
    await tab.page.mouse.move(place["x"] + place["width"], middle, steps=5)
    await expect(box(tab, "max_iterations")).to_have_value("50")
    assert (await saved(user))["max_iterations"] == 15
    await tab.page.mouse.up()
    await expect(bar(tab)).to_contain_text("Saved. Turns 15 → 50.")


async def test_what_the_tree_caps_is_said_before_a_question_is_asked(tab) -> None:
    await tab.go("/settings")
    await box(tab, "max_iterations").fill("40")
    allowed = "The tree oracle allows 30 turns (max_turns), so the limit is 30."
    await expect(tab.page.get_by_text(allowed)).to_be_visible()
    counts = tab.page.get_by_role("complementary", name="Limits in effect")
    await expect(counts.get_by_role("row", name=re.compile("^turns"))).to_have_text(re.compile("30 *tree"))


async def test_a_change_can_be_taken_back(tab, user) -> None:
    await tab.go("/settings")
    await box(tab, "max_parallel_tools").fill("9")
    await box(tab, "max_parallel_tools").press("Enter")
    await tab.page.get_by_role("button", name="Undo").click()
    await expect(bar(tab)).to_contain_text("Saved. Parallel tool calls 9 → 3.")
    await expect(box(tab, "max_parallel_tools")).to_have_value("3")
    assert (await saved(user))["max_parallel_tools"] == 3


async def test_defaults_are_a_press_away_for_one_field_and_for_all(tab, user) -> None:
    await user.http.put(PATH, json={"max_iterations": 3, "timeout_seconds": 60})
    await tab.go("/settings")
    await tab.page.get_by_role("button", name="Turns: default 15").click()
    await expect(bar(tab)).to_contain_text("Saved. Turns 3 → 15.")
    await tab.page.get_by_role("button", name="Reset all…").click()
    await tab.page.get_by_role("button", name="Keep them").click()
    assert (await saved(user))["timeout_seconds"] == 60
    await tab.page.get_by_role("button", name="Reset all…").click()
    await tab.page.get_by_role("button", name="Reset all", exact=True).click()
    await expect(box(tab, "timeout_seconds")).to_have_value("120")
    await expect(bar(tab)).to_contain_text("All limits are at their defaults.")


async def test_another_tab_follows(tab, user) -> None:
    await tab.go("/settings")
    second = await tab.context.new_page()
    await second.goto(tab.origin + "/settings")
    await expect(slider(tab, "max_iterations")).to_have_value("15")
    await second.get_by_label("(max_iterations), as a number").fill("12")
    await second.keyboard.press("Enter")
    await expect(slider(tab, "max_iterations")).to_have_value("12")


async def test_with_a_lost_network_the_value_stays_and_is_saved_afterwards(browse, line, user) -> None:
    tab = await browse("/settings", at=line.url)
    tab.watch.allow("net::ERR_|Failed to load")
    await expect(slider(tab, "max_iterations")).to_have_value("15")
    line.cut()
    await box(tab, "max_iterations").fill("8")
    await tab.page.keyboard.press("Enter")
    await expect(bar(tab)).to_contain_text("Not saved.")
    await expect(box(tab, "max_iterations")).to_have_value("8")
    assert (await saved(user))["max_iterations"] == 15
    line.mend()
    await tab.page.get_by_role("button", name="Try now").click()
    await expect(bar(tab)).to_contain_text("Saved. Turns 15 → 8.")
    assert (await saved(user))["max_iterations"] == 8
    await tab.page.get_by_role("button", name="Undo").click()
    await expect(bar(tab)).to_contain_text("Saved. Turns 8 → 15.")


class Gateway:
    """Stands before the service, and refuses changes while it is `busy`."""

    def __init__(self) -> None:
        self.busy = True
        self.taken = 0

    async def __call__(self, route: Route) -> None:
        if route.request.method != "PUT":
            await route.continue_()
        elif self.busy:
            await route.fulfill(status=503, headers={"Retry-After": "1"}, json={"detail": "The gateway is busy."})
        else:
            self.taken += 1
            await route.continue_()


async def test_a_change_that_was_refused_for_now_is_sent_again_by_itself(tab, user) -> None:
    tab.watch.allow("503")
    gateway = Gateway()
    await tab.page.route(f"**{PATH}", gateway)
    await tab.go("/settings")
    await box(tab, "max_iterations").fill("8")
    await tab.page.keyboard.press("Enter")
    await expect(bar(tab)).to_have_text("Not saved. The gateway is busy. It is saved when the service is back.")
    await expect(box(tab, "max_iterations")).to_have_value("8")
    gateway.busy = False
    await expect(bar(tab)).to_contain_text("Saved. Turns 15 → 8.")
    assert (await saved(user))["max_iterations"] == 8
    assert gateway.taken == 1


async def test_a_change_that_was_refused_for_now_does_not_replace_a_newer_one(tab, user) -> None:
    tab.watch.allow("503")
    await tab.page.route(f"**{PATH}", Gateway())
    await tab.go("/settings")
    await box(tab, "max_iterations").fill("8")
    await tab.page.keyboard.press("Enter")
    await expect(bar(tab)).to_contain_text("Not saved.")
    (await user.http.put(PATH, json={"max_iterations": 12})).raise_for_status()
    await expect(bar(tab)).to_have_text("Not saved. Turns: set to 12 elsewhere in the meantime.")
    await expect(box(tab, "max_iterations")).to_have_value("12")
    await expect(slider(tab, "max_iterations")).to_have_value("12")
    assert (await saved(user))["max_iterations"] == 12


async def test_an_older_reading_does_not_replace_what_was_saved(tab) -> None:
    await tab.go("/settings")
    await expect(slider(tab, "max_iterations")).to_have_value("15")
    held: asyncio.Queue[Route] = asyncio.Queue()

    async def hold(route: Route) -> None:
        if route.request.method == "GET":
            await held.put(route)
        else:
            await route.continue_()

    await tab.page.route(f"**{PATH}", hold)
    await tab.page.evaluate("new BroadcastChannel('oracle.settings').postMessage('saved')")  # as another tab does
    reading = await held.get()
    async with tab.page.expect_event("requestfailed", lambda request: request == reading.request):  # it is given up
        await box(tab, "max_iterations").fill("8")
        await tab.page.keyboard.press("Enter")
    await expect(bar(tab)).to_contain_text("Saved. Turns 15 → 8.")
    await expect(slider(tab, "max_iterations")).to_have_value("8")


async def test_what_was_typed_last_is_saved_when_the_page_is_left(tab, user) -> None:
    await tab.go("/settings")
    await box(tab, "max_iterations").fill("9")
    await tab.page.get_by_role("link", name="Runs").click()
    await tab.page.get_by_role("link", name="Settings").click()
    await expect(box(tab, "max_iterations")).to_have_value("9")


@pytest.mark.parametrize("size", [PHONE], ids=["390"])
async def test_on_a_phone_nothing_is_cut_off(tab) -> None:
    await tab.go("/settings")
    await expect(slider(tab, "max_parallel_tools")).to_be_attached()
    assert await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


# The other sections


async def test_the_theme_is_chosen_and_kept(tab) -> None:
    await tab.go("/settings#appearance")
    await expect(tab.page.locator("html")).to_have_attribute("data-theme", "light")
    await tab.page.get_by_role("button", name="Dark").click()
    await expect(tab.page.locator("html")).to_have_attribute("data-theme", "dark")
    await tab.page.reload()
    await expect(tab.page.locator("html")).to_have_attribute("data-theme", "dark")
    await tab.page.get_by_role("button", name="System").click()
    await tab.page.emulate_media(color_scheme="dark")
    await expect(tab.page.locator("html")).to_have_attribute("data-theme", "dark")
    await tab.page.emulate_media(color_scheme="light")
    await expect(tab.page.locator("html")).to_have_attribute("data-theme", "light")


async def test_single_keys_can_be_switched_off(tab) -> None:
    await tab.go("/settings#keys")
    await expect(tab.page.get_by_role("switch", name="Single keys")).to_be_checked()
    await tab.page.keyboard.press("?")
    await expect(tab.page.get_by_role("dialog")).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await tab.page.get_by_role("switch", name="Single keys").press(" ")
    await expect(tab.page.get_by_role("switch", name="Single keys")).not_to_be_checked()
    await tab.page.keyboard.press("?")
    await expect(tab.page.get_by_role("dialog")).to_have_count(0)


async def test_the_account_says_who_asks(tab) -> None:
    await tab.go("/settings")
    await tab.page.get_by_role("link", name="Account of local").click()
    await expect(tab.page.get_by_role("heading", name="Account")).to_be_visible()
    await expect(tab.page.get_by_text("Operator: you see all runs and can save trees.")).to_be_visible()
