"""The chat: asking, reading, stopping, going on, and the list of conversations."""

import asyncio
import re

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from oracle.testing import ScriptedTurn
from tests.acceptance.scripts import SUFFICIENT, answers, calls, says
from tests.support.provider import Disturbed
from tests.web.stage import held, held_answer
from tests.web.tab import PHONE, Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "Where is RetryPolicy defined in the code?"
HOSTILE = (
    "<img src=x onerror=\"canary('img')\"><script>canary('script')</script> [x](javascript:canary('link'))\n\n"
    "```html\n<svg onload=\"canary('svg')\">\n```\n\n![p](https://example.org/p.png)"
)


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def own_settings(user) -> None:
    await user.http.post("/api/settings/agent-config/reset")


def said(page: Page, text: str) -> Locator:
    """A text of the conversation; screen readers hear it from elsewhere."""
    return page.get_by_role("article").get_by_text(text)


async def answered(tab: Tab) -> None:
    await expect(tab.page.get_by_text("Completed", exact=True).last).to_be_visible()


@pytest.mark.smoke
async def test_an_answer_is_shown_while_it_comes_and_its_address_opens_it_again(tab, desk) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "First half, ", "second half."))
    await tab.go("/")
    await tab.ask(QUESTION)
    await expect(said(tab.page, "First half,")).to_be_visible()
    await expect(tab.page).to_have_url(re.compile(r"/chat/\w+"))
    await tab.page.get_by_role("button", name="Hide the tree").click()
    await expect(tab.page.get_by_role("link", name=QUESTION).get_by_role("img", name="answering")).to_be_visible()
    await expect(tab.page.get_by_role("meter", name="Turns")).to_have_attribute("aria-valuetext", "0 of 15")
    gate.set()
    await answered(tab)
    await expect(said(tab.page, "First half, second half.")).to_be_visible()
    await expect(tab.page.get_by_role("meter")).to_have_count(0)
    await tab.page.reload()
    await expect(said(tab.page, "First half, second half.")).to_be_visible()


async def test_a_thought_is_one_line_that_opens(tab, desk) -> None:
    desk.play(ScriptedTurn(thinking="It may be in retry.\nOr in auth.", text="In retry." + SUFFICIENT))
    await tab.go("/")
    await tab.ask(QUESTION)
    await answered(tab)
    thought = tab.page.get_by_role("button", name=re.compile("^Thought"))
    await expect(thought).to_have_attribute("aria-expanded", "false")
    await expect(thought).to_contain_text("It may be in retry. Or in auth.")
    await thought.click()
    await expect(tab.page.get_by_text("It may be in retry.\nOr in auth.")).to_be_visible()


@pytest.mark.smoke
async def test_a_tool_call_shows_its_arguments_its_result_and_its_duration(tab, desk) -> None:
    search = calls("search_code", query="RetryPolicy", limit=3)
    desk.play(says("I look.", search, calls("read_file", path="no/such.py")), answers("In src/retry.py."))
    await tab.go("/")
    await tab.ask(QUESTION)
    await answered(tab)
    row = tab.page.get_by_role("button", name=re.compile("^done search_code RetryPolicy"))
    await expect(row).to_contain_text(re.compile(r"\d m?s$"))
    await row.press("Enter")
    detail = tab.page.get_by_role("listitem").filter(has=row)
    await expect(detail).to_contain_text('"limit": 3')
    await expect(detail).to_contain_text("class RetryPolicy")
    await expect(tab.page.get_by_role("button", name=re.compile("^error read_file"))).to_be_visible()


async def test_a_source_opens_the_cited_text_at_its_line(tab, desk) -> None:
    desk.play(
        says("", calls("search_code", query="RetryPolicy")), answers("It is in `src/retry.py:1`, not in `x.py:1`.")
    )
    await tab.go("/")
    await tab.ask(QUESTION)
    await answered(tab)
    for place in (
        tab.page.get_by_role("list", name="Sources").get_by_role("button", name="src/retry.py"),
        tab.page.get_by_role("link", name="src/retry.py:1", exact=True),
    ):
        await place.click()
        dialog = tab.page.get_by_role("dialog")
        await expect(dialog.locator("[aria-current=location]")).to_contain_text("class RetryPolicy:")
        await tab.page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
    await expect(tab.page.get_by_role("link", name="x.py:1")).to_have_count(0)


@pytest.mark.smoke
async def test_escape_stops_an_answer_and_keeps_what_was_said(tab, desk) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "First half, ", "second half."))
    await tab.go("/")
    await tab.ask(QUESTION)
    await expect(said(tab.page, "First half,")).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await expect(tab.page.get_by_text("Cancelled by you", exact=True)).to_be_visible()
    await expect(said(tab.page, "First half,")).to_be_visible()
    await expect(said(tab.page, "second half.")).to_have_count(0)


async def test_an_answer_that_was_cut_short_goes_on_with_a_raised_limit(tab, desk, user) -> None:
    await user.http.put("/api/settings/agent-config", json={"max_iterations": 1})
    desk.play(says("I look.", calls("search_code", query="RetryPolicy")))
    await tab.go("/")
    await tab.ask(QUESTION)
    await expect(tab.page.get_by_text("Stopped: iteration limit", exact=True)).to_be_visible()
    desk.play(says("More.", calls("search_code", query="attempts")), answers("Now it is complete."))
    await tab.page.get_by_role("button", name="Raise the limit").click()
    dialog = tab.page.get_by_role("dialog", name="Limits for your next questions")
    await expect(dialog.get_by_label("Turns")).to_have_value("2")
    await dialog.get_by_label("Turns").fill("99")
    await expect(dialog.get_by_text("A whole number from 1 to")).to_be_visible()
    await expect(dialog.get_by_role("button", name="Ask it to go on")).to_be_disabled()
    await dialog.get_by_label("Turns").fill("2")
    await dialog.get_by_role("button", name="Ask it to go on").click()
    await expect(said(tab.page, "Now it is complete.")).to_be_visible()
    await expect(tab.page.get_by_role("article")).to_have_count(2)


async def test_a_failure_of_the_provider_keeps_what_was_said_and_can_be_asked_again(tab, desk) -> None:
    desk.play(Disturbed(says("I will read the run loop first."), "error_event"))
    await tab.go("/")
    await tab.ask(QUESTION)
    await expect(tab.page.get_by_role("alert").get_by_text("What was already said is kept.")).to_be_visible()
    await expect(said(tab.page, "I will read the run loop first.")).to_be_visible()
    await expect(tab.page.get_by_text(re.compile("^error: provider_"))).to_be_visible()
    desk.play(answers("This time it works."))
    await tab.page.get_by_role("button", name="Ask again", exact=True).last.click()
    await expect(said(tab.page, "This time it works.")).to_be_visible()


async def test_an_edited_question_is_asked_anew_and_the_old_conversation_stays(tab, desk, user) -> None:
    desk.play(answers("In src."), answers("Three."), answers("Thrice."))
    first = await user.ask(QUESTION)
    old = first.done["context_id"]
    await user.ask("How many attempts?", context_id=old)
    await tab.go(f"/chat/{old}")
    await expect(said(tab.page, "Three.")).to_be_visible()
    await tab.page.get_by_role("article").last.hover()
    await tab.page.get_by_role("button", name="Edit and ask again").last.click()
    await expect(tab.composer).to_have_value("How many attempts?")
    await expect(tab.composer).to_be_focused()
    await expect(tab.page.get_by_text("this one stays as it is")).to_be_visible()
    await tab.ask("How often is it tried?")
    await expect(said(tab.page, "Thrice.")).to_be_visible()
    await answered(tab)
    await expect(said(tab.page, "In src.")).to_be_visible()
    await expect(tab.page.get_by_text("How many attempts?")).to_have_count(0)
    await expect(tab.page).not_to_have_url(re.compile(old))
    assert len((await user.conversation(old))["messages"]) == 4


@pytest.mark.smoke
async def test_hostile_texts_are_shown_and_do_nothing(tab, desk, service) -> None:
    (service.project / "hostile.md").write_text(f"RetryPolicy {HOSTILE}", encoding="utf-8")
    desk.play(says(HOSTILE, calls("read_file", path="hostile.md")), answers(HOSTILE))
    await tab.go("/")
    await tab.ask(f"{HOSTILE} RetryPolicy in the code")
    await answered(tab)
    await tab.page.get_by_role("button", name=re.compile("read_file")).click()
    await expect(tab.page.get_by_text("<script>canary('script')</script>").first).to_be_visible()
    await expect(tab.page.locator("article img, article script, article [onerror]")).to_have_count(0)
    await expect(tab.page.locator("article a[href^=javascript]")).to_have_count(0)


@pytest.mark.smoke
async def test_a_conversation_is_found_renamed_and_deleted(tab, desk, user) -> None:
    desk.play(answers("A."), answers("B."))
    first = await user.ask("What is a zebra finch in the code?")
    await user.ask("What is something else in the code?")
    await tab.go(f"/chat/{first.done['context_id']}")
    await tab.page.locator("main").press("/")
    search = tab.page.get_by_role("searchbox", name="Search conversations")
    await expect(search).to_be_focused()
    await search.fill("zebra")
    rows = tab.page.get_by_role("navigation", name="Conversations").get_by_role("listitem")
    await expect(rows).to_have_count(1)
    await rows.hover()
    await rows.get_by_role("button", name=re.compile("^Actions for")).click()
    await tab.page.get_by_role("menuitem", name="Rename").click()
    title = tab.page.get_by_role("textbox", name="Title")
    await title.fill("Birds zebra")
    await title.press("Enter")
    await expect(rows.get_by_role("link", name="Birds zebra")).to_be_visible()
    await rows.hover()
    await rows.get_by_role("button", name="Actions for Birds zebra").click()
    await tab.page.get_by_role("menuitem", name="Delete").click()
    await tab.page.get_by_role("button", name="Delete", exact=True).click()
    await expect(tab.page.get_by_text("No conversation matches.")).to_be_visible()
    await expect(tab.page).to_have_url(f"{tab.origin}/")
    assert (await user.http.get(f"/api/oracle/conversations/{first.done['context_id']}")).status_code == 404


async def test_a_conversation_that_is_gone_says_so(tab) -> None:
    tab.watch.allow("404")
    await tab.go(f"/chat/{'0' * 32}")
    await expect(tab.page.get_by_text("There is no such conversation")).to_be_visible()


async def test_the_keyboard_asks_writes_lines_and_begins_anew(tab, desk) -> None:
    desk.play(answers("Both."))
    await tab.go("/")
    await expect(tab.composer).to_be_focused()
    await tab.page.keyboard.type("One line")
    await tab.page.keyboard.press("Shift+Enter")
    await tab.page.keyboard.type("and another")
    await expect(tab.composer).to_have_value("One line\nand another")
    await tab.page.keyboard.press("Enter")
    await answered(tab)
    await tab.composer.blur()
    await tab.page.keyboard.press("n")
    await expect(tab.page.get_by_role("heading", name="What do you want to know about")).to_be_visible()
    await expect(tab.composer).to_be_focused()


async def test_screen_readers_hear_sentences_each_once(tab, desk) -> None:
    gate = asyncio.Event()
    text = ("It begins ", "in login.py. ", "Then it ", "waits. ", "So it ends." + SUFFICIENT)
    desk.play(held(says(text), gate, pieces=3))
    await tab.go("/")
    await tab.ask(QUESTION)
    region = tab.page.get_by_test_id("chat-announcer")
    await expect(region).to_have_text("It begins in login.py.")
    gate.set()
    await expect(region).to_have_text(
        re.compile(r"^It begins in login.py\.\s*Then it waits\..*The answer has ended\.$")
    )


async def test_two_tabs_show_the_same_run(tab, desk) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "First half, ", "second half."))
    await tab.go("/")
    await tab.ask(QUESTION)
    await expect(said(tab.page, "First half,")).to_be_visible()
    await expect(tab.page).to_have_url(re.compile(r"/chat/\w+"))
    second = await tab.context.new_page()
    await second.goto(tab.page.url)
    await expect(said(second, "First half,")).to_be_visible()
    await expect(second.get_by_role("button", name="Stop")).to_be_visible()
    gate.set()
    for page in (tab.page, second):
        await expect(said(page, "First half, second half.")).to_be_visible()
        await expect(page.get_by_text("Completed", exact=True)).to_be_visible()
    desk.play(answers("The third half."))
    await tab.ask("And then?")
    await expect(said(second, "The third half.")).to_be_visible()


async def test_an_answer_goes_on_while_another_page_is_looked_at(tab, desk) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "First half, ", "second half."))
    await tab.go("/")
    await tab.ask(QUESTION)
    await expect(said(tab.page, "First half,")).to_be_visible()
    await expect(tab.page).to_have_url(re.compile(r"/chat/\w+"))
    await tab.page.get_by_role("link", name="Settings").click()
    gate.set()
    await tab.page.go_back()
    await expect(said(tab.page, "First half, second half.")).to_be_visible()


@pytest.mark.parametrize("size", [PHONE])
async def test_on_a_phone_the_conversations_are_a_sheet(tab, desk, user) -> None:
    desk.play(answers("A."))
    heard = await user.ask("What is on the phone in the code?")
    await tab.go("/")
    await expect(tab.page.get_by_role("navigation", name="Conversations")).to_have_count(0)
    await tab.page.get_by_role("button", name="Conversations").click()
    sheet = tab.page.get_by_role("dialog", name="Conversations")
    await sheet.get_by_role("link", name="What is on the phone in the code?").click()
    await expect(sheet).to_have_count(0)
    await expect(tab.page).to_have_url(re.compile(heard.done["context_id"]))
    await expect(tab.page.get_by_role("article").get_by_text("A.", exact=True)).to_be_visible()


async def test_a_question_may_name_a_model_that_is_in_no_list(tab, desk) -> None:
    desk.play(answers("Here."))
    await tab.go("/")
    await tab.page.get_by_role("button", name=re.compile("^Model: ")).click()
    await tab.page.get_by_role("menuitem", name="Another model…").click()
    await tab.page.get_by_label("Name of the model").fill("claude-of-tomorrow")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("button", name="Model: claude-of-tomorrow")).to_be_visible()
    await tab.ask(QUESTION)
    await answered(tab)
    assert desk.bodies[-1]["model"] == "claude-of-tomorrow"


async def test_a_reference_is_a_link_once_its_definition_has_come(tab, desk) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "See [the guide][1].\n\nOne.\n\nTwo.\n\n", "[1]: https://example.org/guide\n\nEnd."))
    await tab.go("/")
    await tab.ask(QUESTION)
    await expect(said(tab.page, "See [the guide][1].")).to_be_visible()
    gate.set()
    await answered(tab)
    link = tab.page.get_by_role("article").get_by_role("link", name="the guide")
    await expect(link).to_have_attribute("href", "https://example.org/guide")


async def test_the_tree_of_the_run_ticks_beside_the_chat(tab, desk) -> None:
    gate = asyncio.Event()
    desk.play(
        says("I look.", calls("search_code", query="RetryPolicy")), held_answer(gate, "First half, ", "second half.")
    )
    await tab.go("/")
    await tab.ask(QUESTION)
    await expect(said(tab.page, "First half,")).to_be_visible()
    tree = tab.page.get_by_role("region", name="Tree of the run")
    await expect(tree.get_by_role("treegrid")).to_contain_text("llm_turn")
    await expect(tree.get_by_text("Live", exact=True)).to_be_visible()
    gate.set()
    await answered(tab)
    await expect(tree.get_by_text("Ended", exact=True)).to_be_visible()
    await expect(tree.locator(".tree-panel-headline")).to_contain_text("the run stops as completed")
    await expect(tree.locator(".is-decision")).to_contain_text("stop: completed")
    await expect(tree.get_by_role("link", name="Open the run")).to_have_attribute("href", re.compile(r"^/runs/\w+$"))
    await tree.get_by_role("button", name="Hide the tree").click()
    await expect(tree).to_have_count(0)
    await expect(tab.page.get_by_role("navigation", name="Conversations")).to_be_visible()


async def test_the_tree_comes_with_a_new_run_and_with_an_older_one_as_it_was_chosen(tab, desk) -> None:
    desk.play(answers("One."), answers("Two."))
    await tab.go("/")
    await tab.ask(QUESTION)
    tree = tab.page.get_by_role("region", name="Tree of the run")
    await expect(tree.get_by_text("Ended", exact=True)).to_be_visible()
    await tab.page.reload()
    await expect(tab.page.get_by_role("article").get_by_text("One.")).to_be_visible()
    await expect(tree).to_have_count(0)
    await tab.page.get_by_role("button", name="Watch the tree").click()
    await expect(tree.get_by_text("Ended", exact=True)).to_be_visible()
    await tab.page.reload()
    await tree.get_by_role("button", name="Hide the tree").click()
    await tab.ask("And then?")
    await expect(said(tab.page, "Two.")).to_be_visible()
    await expect(tree).to_have_count(0)


async def test_code_that_is_wider_than_the_answer_has_a_shade_at_its_edge(tab, desk) -> None:
    desk.play(answers("```\n" + "x = 1; " * 40 + "\n```\n"))
    await tab.go("/")
    await tab.ask(QUESTION)
    await answered(tab)
    code = tab.page.get_by_role("article").locator("pre")
    assert await code.evaluate("it => it.scrollWidth > it.clientWidth")
    attachments = await code.evaluate("it => getComputedStyle(it).backgroundAttachment")
    assert attachments.startswith("local, local, scroll, scroll")


@pytest.mark.parametrize("size", [PHONE, (320, 640)])
async def test_on_a_phone_the_choices_of_a_question_are_not_cut(tab) -> None:
    await tab.go("/")
    await expect(tab.page.get_by_role("button", name="Attach files")).to_be_visible()
    chips = tab.page.locator(".composer-row .chip")
    await expect(chips).to_have_count(3)
    await expect(chips.last).to_have_text("Limits", use_inner_text=True)
    boxes = tab.page.locator(".composer-row .chip, .composer-row .chip .truncate")  # what is cut inside a chip fits it
    cut = "all => all.filter((it) => it.scrollWidth > it.clientWidth).map((it) => it.innerText)"
    assert await boxes.evaluate_all(cut) == []
