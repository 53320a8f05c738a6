"""The page of a run: what happened at each tick and why, in the words of the tree."""

import asyncio
import json
import re

import pytest
from playwright.async_api import Locator, expect

from tests.acceptance.scripts import NEED_TURN, answers, calls, says, signal_xml
from tests.web.stage import held_answer
from tests.web.tab import DESKTOP, PHONE, SIZES

pytestmark = pytest.mark.asyncio(loop_scope="session")

HOSTILE = "<img src=x onerror=canary('run')><script>canary('run')</script>"
STUCK = signal_xml("stuck", attempted="search", blocker="nothing is there", confidence=0.72)


@pytest.fixture
def story(user, desk):
    """Records a run of four turns, in which the model is stuck once; gives its id."""

    async def record(question: str = "Where is the class RetryPolicy in the code?") -> str:
        desk.play(
            says("I will look.", calls("search_code", query="RetryPolicy")),
            says("Half of it." + NEED_TURN),
            says("Nothing more." + STUCK),
            answers("**All** of it."),
        )
        return (await user.ask(question)).run_id

    return record


def where(tab) -> Locator:
    return tab.page.locator(".tick-bar-where")


def pane(tab) -> Locator:
    return tab.page.get_by_role("tabpanel")


async def press(tab, *keys: str) -> None:
    for key in keys:
        await tab.page.keyboard.press(key)


@pytest.mark.smoke
async def test_a_run_opens_at_the_tick_that_decided_its_end(tab, story) -> None:
    await tab.go(f"/runs/{await story()}")
    await expect(tab.page.get_by_role("heading", name="Where is the class RetryPolicy in the code?")).to_be_visible()
    await expect(tab.page.locator(".run-head").get_by_text("completed")).to_be_visible()
    await expect(tab.page.locator(".run-head").get_by_text("4 turns")).to_be_visible()
    await expect(where(tab)).to_contain_text("turn 4")
    last = pane(tab).locator("[aria-current=step]")
    await expect(last).to_contain_text("decided: the run stops as completed")
    await expect(last).to_contain_text(re.compile(r"follow_signal:\d+"))
    await expect(tab.page.locator(".tick-bar-headline")).to_contain_text("the run stops as completed")


async def test_why_says_what_was_asked_on_the_way(tab, story) -> None:
    await tab.go(f"/runs/{await story()}")
    await expect(where(tab)).to_contain_text("turn 4")
    await press(tab, "Shift+ArrowLeft", "Shift+ArrowLeft", "ArrowRight")
    await expect(where(tab)).to_contain_text("turn 3")
    steps = tab.page.get_by_role("tabpanel").get_by_role("listitem")
    for words in (
        "turns goes on: no guard trips",
        "llm_turn ended after",
        "use_tools and continue_answer say no: tool_calls 0 and cut_off false",
        'in_doubt: signal == "stuck" is true, so fallback is asked',
        "use_untried_tools decided: the fallback tries another strategy",
    ):
        await expect(steps.filter(has_text=words)).to_have_count(1)


async def test_lines_behind_the_sticky_lines_keep_their_indents(tab, story) -> None:
    await tab.go(f"/runs/{await story()}")
    await expect(where(tab)).to_contain_text("turn 4")
    await press(tab, "Shift+ArrowLeft", "Shift+ArrowLeft", "ArrowRight")
    sticky = tab.page.locator(".source-sticky .source-text").first
    await expect(sticky).to_have_text("- selector:")
    place = "each => each.getBoundingClientRect().x"
    scope = await sticky.evaluate(place)
    await tab.page.get_by_role("treegrid").evaluate("view => view.scrollTo(0, view.scrollHeight)")
    lines = tab.page.locator(".source-rows .source-text")
    behind = [await lines.get_by_text(key).last.evaluate(place) for key in ("then", "sequence")]
    assert behind[0] < behind[1] < scope


@pytest.mark.smoke
async def test_keys_move_and_a_link_opens_the_same_view(tab, story, browse) -> None:
    await tab.go(f"/runs/{await story()}")
    await expect(where(tab)).to_contain_text("turn 4")
    await press(tab, "Home")
    await expect(where(tab)).to_contain_text("Tick 1 of")
    await press(tab, "ArrowRight", "ArrowRight", "t", "3")
    await expect(where(tab)).to_contain_text("Tick 3 of")
    await expect(tab.page.get_by_role("button", name="Time", exact=True)).to_have_attribute("aria-pressed", "true")
    await tab.page.wait_for_url("**?tick=3&axis=time&tab=board")
    other = await browse(tab.page.url.removeprefix(tab.origin))
    await expect(where(other)).to_contain_text("Tick 3 of")
    await expect(other.page.get_by_role("tab", name="Blackboard")).to_have_attribute("aria-selected", "true")
    await press(other, "End")
    await expect(other.page.get_by_role("button", name="Next tick")).to_be_disabled()


async def test_a_run_is_played_to_its_last_tick(tab, story) -> None:
    await tab.go(f"/runs/{await story()}?tick=1")
    await expect(where(tab)).to_contain_text("Tick 1 of")
    await press(tab, " ")
    await expect(tab.page.get_by_role("button", name="Last tick")).to_be_disabled()
    await expect(tab.page.get_by_role("button", name="Play")).to_be_visible()


async def test_the_blackboard_shows_what_changed_and_each_key_its_history(tab, story) -> None:
    await tab.go(f"/runs/{await story()}?tab=board")
    changed = pane(tab).locator(".board-changed")
    await expect(changed.get_by_role("button", name=re.compile("^signal "))).to_contain_text('"context_sufficient"')
    await changed.get_by_role("button", name=re.compile("^turn ")).click()
    history = pane(tab).locator(".board-details")
    await expect(history).to_contain_text("int")
    await history.get_by_role("button", name=re.compile("tick 2")).click()
    await expect(where(tab)).to_contain_text("Tick 2 of")
    await expect(pane(tab)).to_contain_text("0 → 1")


async def test_the_answer_is_what_the_user_had_read_by_then(tab, story) -> None:
    await tab.go(f"/runs/{await story()}?tab=answer")
    await expect(pane(tab).locator(".markdown strong")).to_have_text("All")
    await expect(pane(tab)).to_contain_text("search_code")
    await press(tab, "Home", "ArrowRight")
    await expect(pane(tab)).to_contain_text("I will look.")
    await expect(pane(tab)).not_to_contain_text("Half of it.")
    await expect(pane(tab).locator("summary", has_text="search_code")).to_contain_text("running")


async def test_messages_show_the_request_and_the_raw_answer_with_its_signal(tab, story) -> None:
    await tab.go(f"/runs/{await story()}?tab=messages")
    await expect(pane(tab)).to_contain_text("Request of turn 4")
    await expect(pane(tab)).to_contain_text("9 offered")  # all that read, since the model was stuck
    answer = pane(tab).get_by_role("region", name="assistant, raw, with its signal")
    await expect(answer).to_contain_text("**All** of it.")
    await expect(answer).to_contain_text('<signal type="context_sufficient">')
    prompt = pane(tab).locator("summary", has_text="system")
    await prompt.click()
    await expect(pane(tab).locator("details[open] pre")).to_contain_text("You are Oracle")


async def test_a_node_is_gone_to_by_its_name(tab, story) -> None:
    await tab.go(f"/runs/{await story()}")
    await expect(tab.page.get_by_role("treegrid")).to_be_visible()
    await tab.page.keyboard.press("Control+k")
    await tab.page.get_by_role("combobox").fill("compose_prompt")
    await tab.page.get_by_role("option", name=re.compile("compose_prompt.*oracle.yaml:")).click()
    row = tab.page.get_by_role("row", selected=True)
    await expect(row).to_contain_text("compose_prompt")
    await tab.go("/trees/fallback")
    await expect(tab.page.get_by_role("textbox", name="fallback.yaml")).to_contain_text("other_strategy")
    await tab.page.keyboard.press("Control+k")
    await tab.page.get_by_role("combobox").fill("other_strategy")
    await expect(tab.page.get_by_role("option", selected=True)).to_contain_text("other_strategy")
    await tab.page.keyboard.press("Enter")
    place = tab.page.get_by_role("navigation", name="Node at the cursor")
    await expect(place.get_by_role("button", name="other_strategy")).to_have_attribute("aria-current", "location")


async def test_a_run_is_exported(tab, story) -> None:
    run_id = await story()
    await tab.go(f"/runs/{run_id}")
    for item, ending, start in (("Data (JSON)", "json", '{"run":'), ("Page (HTML)", "html", "<!doctype html>")):
        await tab.page.get_by_role("button", name="Export").click()
        async with tab.page.expect_download() as download:
            await tab.page.get_by_role("menuitem", name=item).click()
        file = await download.value
        assert file.suggested_filename == f"run-{run_id[:8]}.{ending}"
        text = (await file.path()).read_text(encoding="utf-8")
        assert text.lower().startswith(start)
        assert "RetryPolicy" in text


async def test_the_graph_shows_the_statuses_leads_to_the_source_and_is_saved(tab, story) -> None:
    await tab.go(f"/runs/{await story()}")
    await expect(where(tab)).to_contain_text("turn 4")
    await press(tab, "g")
    nodes = tab.page.get_by_role("treeitem")
    await expect(nodes.filter(has_text="stop").last).to_have_attribute(
        "aria-label", re.compile("success, follow_signal")
    )
    async with tab.page.expect_download() as download:
        await tab.page.get_by_role("button", name="SVG").click()
    svg = (await (await download.value).path()).read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert "after_turn" in svg
    async with tab.page.expect_download() as download:
        await tab.page.get_by_role("button", name="PNG").click()
    assert (await (await download.value).path()).read_bytes().startswith(b"\x89PNG")
    await nodes.filter(has_text="after_turn").dispatch_event("click")
    await tab.page.get_by_role("button", name="Show in the source").click()
    await expect(tab.page.get_by_role("treegrid")).to_be_visible()
    await expect(tab.page.get_by_role("row", selected=True)).to_contain_text("after_turn")


@pytest.mark.parametrize("size", [PHONE])
async def test_on_a_phone_a_run_has_its_question_and_its_graph_begins_at_the_root(tab, story) -> None:
    await tab.go(f"/runs/{await story()}")
    await expect(where(tab)).to_contain_text("turn 4")
    title = await tab.page.get_by_role("heading", level=1).bounding_box()
    assert title is not None
    assert title["width"] > 100
    await tab.page.get_by_role("treegrid").wait_for()
    await press(tab, "g")
    tools = await tab.page.get_by_role("group", name="Graph").bounding_box()
    frame = await tab.page.get_by_role("tree").bounding_box()
    root = await tab.page.locator(".graph-node").first.bounding_box()
    assert tools is not None
    assert frame is not None
    assert root is not None
    assert tools["y"] + tools["height"] <= frame["y"]
    assert frame["x"] <= root["x"]
    assert root["x"] + root["width"] <= frame["x"] + frame["width"]
    assert frame["y"] <= root["y"]
    assert root["y"] + root["height"] <= frame["y"] + frame["height"]


@pytest.mark.smoke
async def test_a_live_run_is_followed_until_the_person_looks_back(tab, user, desk) -> None:
    gate = asyncio.Event()
    desk.play(
        says("First. ", calls("search_code", query="RetryPolicy")),
        held_answer(gate, "Second, ", "third."),
    )
    async with user.stream() as stream:
        await tab.go(f"/runs/{stream.run_id}")
        await expect(tab.page.get_by_role("button", name="live", exact=True)).to_be_visible()
        await expect(where(tab)).to_contain_text("turn 2")
        await press(tab, "Home")
        await expect(tab.page.get_by_role("button", name=re.compile(r"live: \d+ ticks so far"))).to_be_visible()
        await expect(where(tab)).to_contain_text("Tick 1 of")
        await press(tab, "l")
        await expect(where(tab)).to_contain_text("turn 2")
        gate.set()
        await expect(tab.page.locator(".run-head").get_by_text("completed")).to_be_visible()
        await stream.rest()
    await expect(tab.page.locator(".tick-bar-headline")).to_contain_text("stops as completed")
    await press(tab, "2")
    await expect(pane(tab)).to_contain_text("Second, third.")


async def test_a_node_error_is_loud_and_found(tab, user, desk, service) -> None:
    tree = """
tree: risky
blackboard: { risk: { type: float, description: "How risky it is." } }
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn
    - selector:
        - sequence: { name: hand_over, children: [{ condition: risk > 0.7 }, { stop: stuck }] }
        - stop: completed
"""
    saved = await user.http.put("/api/trees/risky", json={"source": tree, "version": None})
    assert saved.status_code in (200, 201), saved.text
    desk.play(answers("Done."))
    run = await user.ask(tree="risky")
    await tab.go(f"/runs/{run.run_id}?tick=1")
    await tab.page.get_by_role("button", name="1 node error").click()
    await expect(where(tab)).to_contain_text("Tick 2 of")
    await expect(pane(tab)).to_contain_text("hand_over: risk > 0.7 failed. null > 0.7 compares neither")
    await expect(pane(tab)).to_contain_text("An error counts as “no”")


async def test_there_is_no_such_run(tab) -> None:
    tab.watch.allow("404")
    await tab.go("/runs/4f02c1aa")
    await expect(tab.page.get_by_role("heading", name="There is no run 4f02c1aa")).to_be_visible()
    await expect(tab.page.get_by_text("It does not exist")).to_be_visible()
    await tab.page.get_by_role("link", name="All runs").click()
    await tab.page.wait_for_url("**/runs")


async def test_of_a_deleted_conversation_the_figures_are_left(tab, story, user) -> None:
    tab.watch.allow("410")
    run_id = await story()
    context_id = (await user.run(run_id))["context_id"]
    assert (await user.http.delete(f"/api/oracle/conversations/{context_id}")).status_code == 204
    await tab.go(f"/runs/{run_id}")
    await expect(tab.page.get_by_text("Figures only.")).to_be_visible()
    await expect(tab.page.locator("dl")).to_contain_text("completed")


async def test_hostile_texts_are_shown_as_texts(tab, user, desk) -> None:
    desk.play(
        says(HOSTILE, calls("search_code", query=HOSTILE), thinking=HOSTILE),
        says(HOSTILE + signal_xml("stuck", attempted="x", blocker="&lt;b onclick=canary('x')&gt;", confidence=0.9)),
        answers(HOSTILE),
    )
    run = await user.ask(HOSTILE)
    await tab.go(f"/runs/{run.run_id}")
    await expect(tab.page.get_by_role("heading", name=HOSTILE)).to_be_visible()
    for key in ("2", "3", "4", "1"):
        await press(tab, key)
        await expect(pane(tab)).to_be_visible()
    await expect(tab.page.locator("main img, main script")).to_have_count(0)


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
async def test_nothing_is_wider_than_the_screen(tab, story, size) -> None:
    await tab.go(f"/runs/{await story()}")
    await expect(where(tab)).to_contain_text("turn 4")
    assert await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if size == DESKTOP:
        await expect(tab.page.get_by_role("heading", name="Why", exact=True)).to_be_visible()
        await expect(tab.page.get_by_role("tab", name="Messages to the model")).to_be_visible()
    if size == PHONE:
        sheet = tab.page.get_by_role("region", name="Details")
        heights = set()
        for _ in range(3):
            await sheet.get_by_role("button", name=re.compile("Change the height")).press("Enter")
            state = await sheet.get_attribute("class")
            heights.add(state)
        assert len(heights) == 3, json.dumps(sorted(map(str, heights)))
