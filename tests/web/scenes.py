"""Every page of the console in every state, as an address and what is done there; for pictures and for checks."""

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from playwright.async_api import Page, Route, expect

from oracle.testing import ScriptedTurn
from tests.acceptance.scripts import answers, calls, says
from tests.service.server import HELD_FILE, Client, Server, serving
from tests.support.provider import Reply
from tests.web import gallery_scripts as scripts
from tests.web.built import REPOSITORY
from tests.web.gallery import Gallery, paced, save_tree
from tests.web.gallery_trees import CAREFUL, GUARDED, GUARDED_ASKING, STRATEGY, THRIFTY_STRATEGY
from tests.web.line import Line
from tests.web.stage import Stage, held
from tests.web.tab import PATIENCE_MS, Tab

Act = Callable[[Tab], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Scene:
    """What is to be seen while the state lasts.

    Args:
        path: the address.
        act: what is done there, and what is waited for.
        line: over which the page is opened, if it is to be cut.
        at: the address of another service.
        allows: a regular expression of what may go wrong there, such as a call that is refused.
        is_loading: the state is that something loads.
    """

    path: str
    act: Act
    line: Line | None = None
    at: str = ""
    allows: str = ""
    is_loading: bool = False


Maker = Callable[[Gallery], AbstractAsyncContextManager[Scene]]
SCENES: Final[dict[str, Maker]] = {}
"""By name, in the order of the pages."""


def scene(name: str) -> Callable[[Callable[[Gallery], AsyncIterator[Scene]]], Maker]:
    """Make a generator that yields one scene known by this name."""

    def known(make: Callable[[Gallery], AsyncIterator[Scene]]) -> Maker:
        SCENES[name] = asynccontextmanager(make)
        return SCENES[name]

    return known


SHOWN: Final = re.compile(r"^Tick \d+ of \d+")
"""What each run shows when its ticks are there."""


def sees(what: str | re.Pattern[str], *, patience_ms: float = PATIENCE_MS) -> Act:
    """Wait until the page shows this text."""

    async def act(tab: Tab) -> None:
        await expect(tab.page.get_by_text(what).locator("visible=true").first).to_be_visible(timeout=patience_ms)

    return act


def then(*acts: Act) -> Act:
    """One after the other."""

    async def act(tab: Tab) -> None:
        for each in acts:
            await each(tab)

    return act


def presses(*keys: str) -> Act:
    async def act(tab: Tab) -> None:
        for key in keys:
            await tab.page.keyboard.press(key)

    return act


_DRAWN = """
async () => {
  const frame = () => new Promise(requestAnimationFrame);
  await document.fonts.ready;
  await frame();
  await frame();
  const isFinite = (each) => Number.isFinite(each.effect.getComputedTiming().endTime);
  await Promise.allSettled(document.getAnimations().filter(isFinite).map((each) => each.finished));
  await frame();
}
"""


async def settled(page: Page, *, is_loading: bool = False) -> None:
    """Wait until nothing is loading, unless that is to be seen, and what was done is drawn."""
    await expect(page.locator("#root")).not_to_be_empty()
    if not is_loading:
        await expect(page.locator(".skeleton:visible")).to_have_count(0)
    await page.evaluate(_DRAWN)


async def explained(tab: Tab) -> None:
    """Wait until a run shows its ticks, and why the one that is shown went as it did."""
    await sees(SHOWN)(tab)
    await settled(tab.page)


@asynccontextmanager
async def live(it: Gallery, question: str, replies: Sequence[Reply], **ask: object) -> AsyncIterator[tuple[str, str]]:
    """A question that is being answered: the ids of its run and its conversation. It is cancelled at the end."""
    it.stage.lay(question, *replies)
    async with it.client.stream(question, **ask) as stream:
        run = await it.client.run(stream.run_id)
        reading = asyncio.create_task(stream.to_end())
        try:
            yield stream.run_id, run["context_id"]
        finally:
            await it.client.cancel(stream.run_id)
            await reading


@asynccontextmanager
async def another(**settings: str) -> AsyncIterator[tuple[Server, Client, Stage]]:
    """Another service, without runs, for a state that would spoil the gallery."""
    with tempfile.TemporaryDirectory() as name:
        async with serving(Path(name), **settings) as server:
            assert server.desk is not None
            (server.project / HELD_FILE).unlink()  # a search for words that no file has would wait for it
            client = Client(server)
            yield server, client, Stage(server.desk.provider)
            await client.aclose()


def is_phone(tab: Tab) -> bool:
    return tab.page.viewport_size is not None and tab.page.viewport_size["width"] < 700


ANSWERING: Final = sees("So the loop waits", patience_ms=3 * PATIENCE_MS)
"""The last turn of `streaming` comes after as long as with a model."""


def streaming(pace: float) -> Sequence[Reply]:
    """The run of `poll`, whose last turn has said most of its answer."""
    *turns, last = (paced(reply, pace) for reply in scripts.poll())
    assert isinstance(last, ScriptedTurn)
    return [*turns, held(last, asyncio.Event(), pieces=23)]


@scene("chat-empty")
async def chat_empty(it: Gallery) -> AsyncIterator[Scene]:
    async def act(tab: Tab) -> None:
        await expect(tab.composer).to_be_visible()

    yield Scene("/", act)


@scene("chat-streaming")
async def chat_streaming(it: Gallery) -> AsyncIterator[Scene]:
    async with live(it, scripts.POLL, streaming(it.pace), limits={"max_iterations": 10}) as (_, context_id):
        yield Scene(f"/chat/{context_id}", ANSWERING)


@scene("chat-tree")
async def chat_tree(it: Gallery) -> AsyncIterator[Scene]:
    async with live(it, scripts.POLL, streaming(it.pace), limits={"max_iterations": 10}) as (_, context_id):

        async def watch(tab: Tab) -> None:
            if is_phone(tab):
                return
            if await tab.page.locator(".tree-panel").count() == 0:  # else it was chosen
                await tab.page.get_by_role("button", name="Watch the tree").click()
            await expect(tab.page.locator(".tree-panel").get_by_text("llm_turn").first).to_be_visible()

        yield Scene(f"/chat/{context_id}", then(ANSWERING, watch))


@scene("chat-thinking")
async def chat_thinking(it: Gallery) -> AsyncIterator[Scene]:
    first = scripts.poll()[0]
    assert isinstance(first, ScriptedTurn)
    turn = replace(first, text="", tool_calls=(), delay_s=0)
    async with live(it, scripts.POLL, [held(turn, asyncio.Event())]) as (_, context_id):
        yield Scene(f"/chat/{context_id}", sees(re.compile("Thinking")))


@scene("chat-reconnecting")
async def chat_reconnecting(it: Gallery) -> AsyncIterator[Scene]:
    async with (
        live(it, scripts.POLL, streaming(it.pace), limits={"max_iterations": 10}) as (_, context_id),
        Line(lambda: it.server.url) as line,
    ):

        async def cut(tab: Tab) -> None:
            line.cut()

        lost = sees(re.compile("Connection lost"))
        yield Scene(f"/chat/{context_id}", then(ANSWERING, cut, lost), line=line)


@scene("chat-limit")
async def chat_limit(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/chat/{it.conversations['limit']}", sees("Stopped: iteration limit reached (5/5)."))


@scene("chat-cancelled")
async def chat_cancelled(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/chat/{it.conversations['cancelled']}", sees(re.compile("Cancelled by you")))


@asynccontextmanager
async def rated(it: Gallery, name: str) -> AsyncIterator[None]:
    """Its user has said what is wrong with an answer."""
    path = f"/api/oracle/runs/{it.runs[name]}/feedback"
    await it.client.http.post(path, json={"rating": "down", "text": "It repeats itself, and names no file."})
    try:
        yield
    finally:
        await it.client.http.post(path, json={"rating": None})


@scene("chat-rated")
async def chat_rated(it: Gallery) -> AsyncIterator[Scene]:
    async with rated(it, "no-progress"):
        yield Scene(f"/chat/{it.conversations['no-progress']}", sees("It repeats itself"))


@scene("chat-rating")
async def chat_rating(it: Gallery) -> AsyncIterator[Scene]:
    async def write(tab: Tab) -> None:
        await tab.page.get_by_role("button", name="Edit comment…").click()

    async with rated(it, "no-progress"):
        yield Scene(f"/chat/{it.conversations['no-progress']}", write)


@scene("chat-source")
async def chat_source(it: Gallery) -> AsyncIterator[Scene]:
    async def act(tab: Tab) -> None:
        await tab.page.get_by_role("button", name=re.compile(r"run_loop\.py")).last.click()
        await expect(tab.page.get_by_role("dialog")).to_be_visible()

    yield Scene(f"/chat/{it.conversations['poll']}", then(sees("So the loop waits"), act))


def chosen(action: str) -> Act:
    """Choose an action of the first conversation in the list, which is a sheet on a phone."""

    async def act(tab: Tab) -> None:
        row = tab.page.locator(".conversation-row:visible").first
        if is_phone(tab):
            await tab.page.get_by_role("button", name="Conversations").click()
        await row.hover()
        await row.get_by_role("button", name=re.compile("^Actions for")).click()
        await tab.page.get_by_role("menuitem", name=re.compile(action)).click()

    return act


@scene("chat-rename")
async def chat_rename(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/chat/{it.conversations['limit']}", then(sees("Stopped: iteration limit"), chosen("Rename")))


@scene("chat-delete")
async def chat_delete(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/chat/{it.conversations['limit']}", then(sees("Stopped: iteration limit"), chosen("Delete")))


@scene("chat-too-many")
async def chat_too_many(it: Gallery) -> AsyncIterator[Scene]:
    async with another(ORACLE_RUNS_PER_USER="1") as (server, client, stage):
        stage.lay(scripts.POLL, held(says(("I will read the run loop first.", "")), asyncio.Event(), pieces=1))
        async with client.stream(scripts.POLL) as stream:
            await stream.until_content("I will read")

            async def act(tab: Tab) -> None:
                tab.watch.allow("429")
                await tab.ask("Where is the deadline kept?")
                await sees("Your text is still in the box.")(tab)

            yield Scene("/", act, at=server.url)
            await client.cancel(stream.run_id)


@scene("chat-stopping")
async def chat_stopping(it: Gallery) -> AsyncIterator[Scene]:
    async with another() as (server, client, stage):
        begun = held(says(("The policy is kept in the adapter.", "")), asyncio.Event(), pieces=1)
        stage.lay(scripts.OVERLOADED, begun, answers(" It waits longer each time."))
        async with client.stream(scripts.OVERLOADED) as stream:
            await stream.until_content("The policy")
            context_id = (await client.run(stream.run_id))["context_id"]
            port = server.port
            await server.stop()
        await server.start(port=port)
        yield Scene(f"/chat/{context_id}", sees("It waits longer each time."), at=server.url)


@scene("chat-answered")
async def chat_answered(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/chat/{it.conversations['poll']}", sees("So the loop waits"))


@scene("chat-failed")
async def chat_failed(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/chat/{it.conversations['overloaded']}", sees(re.compile("^Stopped: ")))


@asynccontextmanager
async def asking() -> AsyncIterator[tuple[Server, str]]:
    """Another service, in which a run asks whether it may write two notes; the id of its conversation."""
    async with another() as (server, client, stage):
        await save_tree(client, "careful", CAREFUL)
        notes = (calls("vault_write", path=f"{name}.md", body="Five times.") for name in ("limits", "retry"))
        stage.lay(scripts.RETRY, says("I write it down.", *notes))
        body = {"question": scripts.RETRY, "tree": "careful"}
        run = (await client.http.post("/api/oracle/runs", json=body)).json()
        yield server, run["context_id"]
        await client.cancel(run["run_id"])


@scene("chat-waiting")
async def chat_waiting(it: Gallery) -> AsyncIterator[Scene]:
    async with asking() as (server, context_id):

        async def act(tab: Tab) -> None:
            await tab.page.get_by_role("button", name="Edit arguments…").last.click()

        yield Scene(f"/chat/{context_id}", then(sees("Approve all 2"), act), at=server.url)


@scene("waiting")
async def waiting(it: Gallery) -> AsyncIterator[Scene]:
    async with asking() as (server, _context_id):
        yield Scene("/waiting", sees("Approve all 2"), at=server.url)


@asynccontextmanager
async def guarded(tree: str) -> AsyncIterator[tuple[Server, dict[str, str]]]:
    """Another service, in which a ticket is to be closed after others were read; the run."""
    with tempfile.TemporaryDirectory() as folder:
        async with another(ORACLE_MCP_SERVERS=labelled_tickets(Path(folder))) as (server, client, stage):
            run = await closing_tickets(client, stage, tree)
            yield server, run
            await client.cancel(run["run_id"])


async def closing_tickets(client: Client, stage: Stage, tree: str) -> dict[str, str]:
    """Ask under a tree for tickets to be read and one to be closed; the run."""
    await tried(client)
    await save_tree(client, "guarded", tree)
    stage.lay(
        scripts.TICKETS,
        says("I look for them first.", calls("tickets__search", query="late parcels")),
        says("T-1 is answered: I close it.", calls("tickets__close_ticket", number=1)),
        says("I have found T-1 and T-2, and may not close them myself."),
    )
    begun = await client.http.post("/api/oracle/runs", json={"question": scripts.TICKETS, "tree": "guarded"})
    assert begun.status_code == 202, begun.text
    found: dict[str, str] = begun.json()
    return found


def labelled_tickets(folder: Path) -> str:
    """The path of a file of MCP servers, whose tools have labels."""
    labels = {"search": {"reads": ["private", "untrusted"]}, "close_ticket": {"writes": "outward"}}
    program = {"command": sys.executable, "env": {"PYTHONPATH": str(REPOSITORY)}, "labels": labels}
    servers = {"servers": {"tickets": program | {"args": ["-m", "tests.support.mcp_server", "tickets"]}}}
    (folder / "servers.yaml").write_text(json.dumps(servers), encoding="utf-8")  # which is YAML
    return str(folder / "servers.yaml")


@scene("waiting-flow")
async def waiting_flow(it: Gallery) -> AsyncIterator[Scene]:
    async with guarded(GUARDED_ASKING) as (server, _run):
        yield Scene("/waiting", sees("Show what was read"), at=server.url)


@scene("chat-flow")
async def chat_flow(it: Gallery) -> AsyncIterator[Scene]:
    async with guarded(GUARDED_ASKING) as (server, run):
        yield Scene(f"/chat/{run['context_id']}", sees("It may be made of what was read"), at=server.url)


async def looks_up(tab: Tab) -> None:
    """Go from a call to the result that was read before it."""
    await tab.page.get_by_role("button", name="tickets.search, turn 1").click()
    await sees("Two tickets about late parcels")(tab)


@scene("run-asked")
async def run_asked(it: Gallery) -> AsyncIterator[Scene]:
    async with guarded(GUARDED_ASKING) as (server, run):
        yield Scene(f"/runs/{run['run_id']}?tab=answer", then(sees(SHOWN), looks_up), at=server.url)


@scene("run-refused")
async def run_refused(it: Gallery) -> AsyncIterator[Scene]:
    async def act(tab: Tab) -> None:
        await tab.page.get_by_role("button", name="1 refused by a rule").click()
        await looks_up(tab)

    async with guarded(GUARDED) as (server, run):
        yield Scene(f"/runs/{run['run_id']}", act, at=server.url)


@scene("waiting-none")
async def waiting_none(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene("/waiting", sees("Nothing waits for an answer"))


@scene("runs")
async def runs(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene("/runs", then(sees(scripts.RETRY), presses("j", "x", "j", "x")))


@scene("runs-no-match")
async def runs_no_match(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene("/runs?q=zzzz", sees(re.compile("No run matches")))


@scene("runs-none")
async def runs_none(it: Gallery) -> AsyncIterator[Scene]:
    async with another() as (server, _client, _stage):
        yield Scene("/runs", sees("No runs yet"), at=server.url)


@scene("runs-offline")
async def runs_offline(it: Gallery) -> AsyncIterator[Scene]:
    async with Line(lambda: it.server.url) as line:

        async def cut(tab: Tab) -> None:
            line.cut()
            await tab.page.get_by_role("button", name=re.compile("^Failed")).click()

        lost = sees("The service is not responding.")
        yield Scene("/runs", then(sees(scripts.RETRY), cut, lost), line=line)


@scene("run-normal")
async def run_normal(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/runs/{it.runs['poll']}?tick=8", then(explained, presses("4")))


@scene("run-fallback")
async def run_fallback(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/runs/{it.runs['poll']}?tick=13", then(explained, presses("d")))


@scene("run-time")
async def run_time(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/runs/{it.runs['poll']}?tick=13", then(explained, presses("t", "d")))


@scene("run-error")
async def run_error(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/runs/{it.runs['error']}?tick=8", sees(SHOWN))


@scene("run-400")
async def run_400(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/runs/{it.runs['desk']}?tick=36", then(explained, presses("d")))


@scene("run-all-lines")
async def run_all_lines(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/runs/{it.runs['poll']}?tick=13", then(explained, presses("a", "d")))


@scene("run-graph")
async def run_graph(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/runs/{it.runs['poll']}?tick=13", then(explained, presses("g")))


@scene("run-live")
async def run_live(it: Gallery) -> AsyncIterator[Scene]:
    async with live(it, scripts.POLL, streaming(it.pace), limits={"max_iterations": 10}) as (run_id, _):
        speaks = sees("Because nothing can happen between two wakes")
        yield Scene(f"/runs/{run_id}", then(sees(SHOWN), sees("live"), presses("2"), speaks))


@scene("run-paused")
async def run_paused(it: Gallery) -> AsyncIterator[Scene]:
    async with another(ORACLE_DEBUG="1") as (server, client, stage):
        there = Gallery(server, client, stage, {}, {}, it.pace)
        path = "finally/sequence/turns/sequence/after_turn"
        asked = {"kind": "node", "tree": "oracle", "path": path, "user_id": "local"}
        made = await client.http.post("/api/debug/breakpoints", json=asked)
        assert made.status_code == 201, made.text
        turns = [paced(reply, it.pace) for reply in scripts.poll()]
        async with live(there, scripts.POLL, turns, limits={"max_iterations": 10}) as (run_id, _):
            yield Scene(f"/runs/{run_id}", sees(re.compile("^Paused")), at=server.url)


@scene("run-long")
async def run_long(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/runs/{it.runs['long']}?tick=900", sees(SHOWN))


@scene("run-rated")
async def run_rated(it: Gallery) -> AsyncIterator[Scene]:
    async def act(tab: Tab) -> None:
        await tab.page.get_by_text("It repeats itself").scroll_into_view_if_needed()

    async with rated(it, "no-progress"):
        yield Scene(f"/runs/{it.runs['no-progress']}?tab=answer", then(sees(SHOWN), act))


@scene("run-figures")
async def run_figures(it: Gallery) -> AsyncIterator[Scene]:
    async with another() as (server, client, stage):
        stage.lay(scripts.CUT_OFF, *(paced(reply, 0) for reply in scripts.cut_off()))
        heard = await client.ask(scripts.CUT_OFF)
        context_id = (await client.run(heard.run_id))["context_id"]
        deleted = await client.http.delete(f"/api/oracle/conversations/{context_id}")
        assert deleted.is_success, deleted.text
        yield Scene(f"/runs/{heard.run_id}", sees("Figures only."), at=server.url, allows="410")


@scene("run-loading")
async def run_loading(it: Gallery) -> AsyncIterator[Scene]:
    async def act(tab: Tab) -> None:
        await tab.page.route("**/api/runs/**", lambda _route: asyncio.Event().wait())
        await tab.go(f"/runs/{it.runs['poll']}")
        await expect(tab.page.locator(".skeleton").first).to_be_visible()

    yield Scene("/settings", act, is_loading=True)


@scene("run-missing")
async def run_missing(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene("/runs/4f02c1aa", sees(re.compile("There is no run")), allows="404")


@scene("compare")
async def compare(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene(f"/compare/{it.runs['poll']}/{it.runs['thrifty']}", sees(re.compile("They differ")))


@scene("trees")
async def all_trees(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene("/trees", sees("follow_signal"))


@scene("editor")
async def editor(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene("/trees/fallback", sees("classify_response"))


MISTAKES = (
    (STRATEGY, STRATEGY.replace("turn_left", "turns_left")),
    ("force_success: offer_all_reading_tools", "force_success: offer_all_reding_tools"),
)


async def written(tab: Tab, *changes: tuple[str, str]) -> None:
    """Put these words in the place of those, in the editor."""
    for old, new in changes:
        line = tab.page.locator(".cm-line", has_text=old).first
        text = await line.inner_text()
        await line.click(position={"x": 100, "y": 8})
        await tab.page.keyboard.press("Home")
        await tab.page.keyboard.press("Shift+End")
        await tab.page.keyboard.insert_text(text.strip().replace(old, new))


def edited(*changes: tuple[str, str]) -> Act:
    """Change a tree in the editor; on a phone it is only read."""

    async def act(tab: Tab) -> None:
        await sees("classify_response")(tab)
        if not is_phone(tab):
            await written(tab, *changes)

    return act


def on_a_wide_screen(act: Act) -> Act:
    async def only(tab: Tab) -> None:
        if not is_phone(tab):
            await act(tab)

    return only


@scene("editor-problems")
async def editor_problems(it: Gallery) -> AsyncIterator[Scene]:
    async def complete(tab: Tab) -> None:
        await tab.page.locator(".cm-scroller").evaluate("(scroller) => { scroller.scrollTop = 240; }")
        await tab.page.locator(".cm-line", has_text="offer_all_reding_tools").first.click(position={"x": 100, "y": 8})
        await tab.page.keyboard.press("End")
        await tab.page.keyboard.press("Enter")
        await tab.page.keyboard.insert_text("- ")
        await tab.page.keyboard.type("re")
        await expect(tab.page.get_by_role("option").first).to_be_visible()
        await expect(tab.page.get_by_role("listitem").filter(has_text="offer_all_reding_tools")).to_be_visible()

    yield Scene("/trees/fallback", then(edited(*MISTAKES), on_a_wide_screen(complete)))


@scene("editor-replay")
async def editor_replay(it: Gallery) -> AsyncIterator[Scene]:
    async def replay(tab: Tab) -> None:
        await tab.page.get_by_role("tab", name="Replay").click()
        await expect(tab.page.get_by_text("The same until tick 13").first).to_be_visible(timeout=60_000)
        await expect(tab.page.get_by_text(re.compile("do the same|end otherwise")).first).to_be_visible(timeout=60_000)

    change = (STRATEGY, THRIFTY_STRATEGY)
    yield Scene("/trees/fallback", then(edited(change), on_a_wide_screen(replay)))


@scene("editor-difference")
async def editor_difference(it: Gallery) -> AsyncIterator[Scene]:
    async def difference(tab: Tab) -> None:
        await tab.page.get_by_role("button", name=re.compile("^Difference")).click()
        await expect(tab.page.locator(".cm-changedText").first).to_be_visible()

    change = (STRATEGY, THRIFTY_STRATEGY)
    yield Scene("/trees/fallback", then(edited(change), on_a_wide_screen(difference)))


@scene("editor-versions")
async def editor_versions(it: Gallery) -> AsyncIterator[Scene]:
    async def versions(tab: Tab) -> None:
        listed = tab.page.get_by_role("list", name="Versions").get_by_role("button")
        await listed.nth(1).click()

    yield Scene("/trees/fallback?view=versions", then(sees("What this version changed"), on_a_wide_screen(versions)))


@scene("editor-save")
async def editor_save(it: Gallery) -> AsyncIterator[Scene]:
    async def save(tab: Tab) -> None:
        button = tab.page.get_by_role("button", name=re.compile("^Save"))
        await expect(button).to_be_enabled()
        await button.click()
        await expect(tab.page.get_by_role("dialog")).to_be_visible()

    change = (STRATEGY, THRIFTY_STRATEGY)
    yield Scene("/trees/fallback", then(edited(change), on_a_wide_screen(save)))


@scene("editor-conflict")
async def editor_conflict(it: Gallery) -> AsyncIterator[Scene]:
    async def conflict(tab: Tab) -> None:
        async def meanwhile(route: Route) -> None:
            found = (await it.client.http.get("/api/trees/fallback")).json()
            other = found["source"].replace("if the limits leave", "if its limits leave")
            back = {"source": found["source"]}
            saved = await it.client.http.put(
                "/api/trees/fallback", json={"source": other, "version": found["version"], "note": "wording"}
            )
            response = await route.fetch()
            await route.fulfill(response=response)
            await it.client.http.put("/api/trees/fallback", json=back | {"version": saved.json()["version"]})

        await tab.page.get_by_role("button", name=re.compile("^Save")).click()
        await tab.page.route("**/api/trees/fallback", meanwhile)
        tab.watch.allow("409")
        dialog = tab.page.get_by_role("dialog")
        await dialog.get_by_role("textbox", name="Note").press("Enter")
        await expect(dialog.get_by_text(re.compile("saved", re.IGNORECASE)).first).to_be_visible()

    change = (STRATEGY, THRIFTY_STRATEGY)
    yield Scene("/trees/fallback", then(edited(change), on_a_wide_screen(conflict)))


@scene("usage")
async def usage(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene("/usage", sees("Save as CSV"))


@scene("usage-empty")
async def usage_empty(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene("/usage?from=2020-01-01&to=2020-01-31", sees("No usage in this period"))


@scene("usage-refused")
async def usage_refused(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene("/usage?from=2020-01-01", sees(re.compile("1 to 366 days")), allows="422")


@scene("settings")
async def settings(it: Gallery) -> AsyncIterator[Scene]:
    yield Scene("/settings", sees(re.compile("Max", re.IGNORECASE)))


def mcp_servers(folder: Path) -> str:
    """The path of a file of MCP servers: a tidy one, a hostile one, and one that is not there."""
    program = {"command": sys.executable, "env": {"PYTHONPATH": str(REPOSITORY)}}
    served = {name: program | {"args": ["-m", "tests.support.mcp_server", name]} for name in ("tickets", "hostile")}
    tickets = served["tickets"] | {"writes": ["close*"], "approve": ["close_ticket"]}
    servers = {"servers": served | {"tickets": tickets, "gone": {"command": "/nowhere/at/all"}}}
    (folder / "servers.yaml").write_text(json.dumps(servers), encoding="utf-8")  # which is YAML
    return str(folder / "servers.yaml")


@scene("settings-tools")
async def settings_tools(it: Gallery) -> AsyncIterator[Scene]:
    with tempfile.TemporaryDirectory() as folder:
        async with another(ORACLE_MCP_SERVERS=mcp_servers(Path(folder))) as (server, client, _stage):
            await tried(client)
            yield Scene("/settings#tools", sees("close_ticket"), at=server.url)


async def tried(client: Client) -> None:
    """Wait until each MCP server of a service is connected, or cannot be."""
    async with asyncio.timeout(PATIENCE_MS / 1000):
        while True:
            servers = (await client.http.get("/api/tool-servers")).json()["servers"]
            if all(each["is_connected"] or each["problem"] for each in servers):
                return


@scene("settings-wrong")
async def settings_wrong(it: Gallery) -> AsyncIterator[Scene]:
    async with another() as (server, _client, _stage):

        async def act(tab: Tab) -> None:
            for label, value in (("Turns", "40"), ("Tokens", "900"), ("Time", "180")):
                field = tab.page.get_by_role("spinbutton", name=label).or_(tab.page.get_by_role("textbox", name=label))
                await field.first.fill(value)
                await field.first.blur()

        yield Scene("/settings", then(sees("Turns"), act), at=server.url)


@scene("signin")
async def signin(it: Gallery) -> AsyncIterator[Scene]:
    async with another(ORACLE_TOKENS="a-token-of-the-scenes=lena") as (server, _client, _stage):

        async def act(tab: Tab) -> None:
            await tab.page.get_by_label("Access token", exact=True).fill("a-token-of-the-scenes")

        yield Scene("/runs", act, at=server.url, allows="401")


@scene("signin-refused")
async def signin_refused(it: Gallery) -> AsyncIterator[Scene]:
    async with another(ORACLE_TOKENS="a-token-of-the-scenes=lena") as (server, _client, _stage):

        async def act(tab: Tab) -> None:
            await tab.page.get_by_label("Access token", exact=True).fill("a-token-that-was-replaced")
            await tab.page.keyboard.press("Enter")
            await sees("The service does not know this token.")(tab)

        yield Scene("/runs", act, at=server.url, allows="401")
