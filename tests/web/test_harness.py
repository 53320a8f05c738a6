"""The harness itself: it sees what must never happen, and cuts where it is asked to."""

import asyncio

import pytest
from playwright.async_api import expect

from oracle.testing import ScriptedTurn
from tests.acceptance.scripts import answers, calls, says
from tests.web.stage import held, held_answer

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="module")
def settings():
    return {}  # a service that is stopped


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("console.error('oh')", "console: oh"),
        ("setTimeout(() => { throw new Error('oh') })", "uncaught: oh"),
        ("alert('oh')", "dialog: alert oh"),
        ("canary('oh')", "hostile script: oh"),
        (
            "document.body.setAttribute('style', 'color: red')",
            "policy violation",
        ),
        ("fetch('http://127.0.0.1:9/').catch(() => 0)", "http://127.0.0.1:9/"),
    ],
)
async def test_a_tab_notices_what_must_never_happen(tab, script: str, problem: str) -> None:
    await tab.go("/healthz" if problem == "uncaught" else "/")
    await tab.page.evaluate(script)
    async with asyncio.timeout(20):
        while not any(problem in each for each in tab.watch.problems):
            await tab.page.evaluate("new Promise(requestAnimationFrame)")
    with pytest.raises(AssertionError):
        tab.watch.check()
    tab.watch.allow(".")


async def test_a_line_is_cut_after_the_words_and_mended(line, service, desk, browse) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "First half, ", "second half."))
    tab = await browse("/", at=line.url, bypass_csp=True)
    tab.watch.allow("net::ERR_|Failed to load")
    line.cut_after("First half,")
    read = """async () => {
      let text = "";
      const headers = { "content-type": "application/json" };
      try {
        const answer = await fetch("/api/oracle/stream", { method: "POST", headers, body: '{"question": "How?"}' });
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let piece; !(piece = await reader.read()).done; ) text += piece.value;
        return text + "[end]";
      } catch (error) { return text + "[lost]"; }
    }"""
    seen = await tab.page.evaluate(read)
    assert line.was_cut.is_set()
    assert seen.endswith("[lost]")  # a browser may drop what it has got and the page has not read yet
    assert "second" not in seen
    assert await tab.page.evaluate("fetch('/healthz').then(() => 'there', () => 'lost')") == "lost"
    line.mend()
    gate.set()
    assert await tab.page.evaluate("fetch('/healthz').then(() => 'there', () => 'lost')") == "there"


async def test_a_cut_line_ends_a_stream_that_is_open(line, browse, service, desk) -> None:
    gate = asyncio.Event()
    desk.play(held_answer(gate, "First half, ", "second half."))
    tab = await browse("/", at=line.url, bypass_csp=True)
    tab.watch.allow("net::ERR_|favicon")
    await tab.page.evaluate("""async () => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch("/api/oracle/stream", { method: "POST", headers, body: '{"question": "How?"}' });
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (!text.includes("First half")) text += (await reader.read()).value;
      window.rest = (async () => {
        try { while (!(await reader.read()).done); return "ended"; } catch (error) { return "lost"; }
      })();
    }""")
    line.cut()
    assert await tab.page.evaluate("window.rest") == "lost"


async def test_a_service_starts_again_on_its_port_with_its_data(service, desk, user, tab) -> None:
    desk.play(answers("It is so."))
    heard = await user.ask()
    url = service.url
    await service.stop()
    await service.start(port=service.port)
    assert service.url == url
    await tab.go(f"/api/oracle/runs/{heard.run_id}")
    await expect(tab.page.locator("body")).to_contain_text("completed")


async def test_a_stage_answers_questions_that_are_asked_at_the_same_time(service, stage, user) -> None:
    gate = asyncio.Event()
    search = calls("search_code", query="RetryPolicy")
    stage.lay("Where is A defined in the code?", says("Looking for A.", search), held(answers("A is there."), gate))
    stage.lay("Where is B defined in the code?", says("Looking for B.", search), answers("B is there."))
    asking = [asyncio.create_task(user.ask("Where is A defined in the code?")) for _ in range(2)]
    heard = await user.ask("Where is B defined in the code?")
    assert heard.answer == "Looking for B.\n\nB is there."
    gate.set()
    assert [each.answer for each in await asyncio.gather(*asking)] == ["Looking for A.\n\nA is there."] * 2
    stage.lay("And then?", answers("C."))
    following = await user.ask("And then?", context_id=heard.done["context_id"])
    assert following.answer == "C."


async def test_a_held_turn_waits_after_the_pieces_that_were_named(service, desk, user) -> None:
    gate = asyncio.Event()
    desk.play(held(ScriptedTurn(thinking="Hm.", text=("One, ", "two, ", "three.")), gate, pieces=2))
    async with user.stream() as stream:
        await stream.until_content("One, two, ")
        assert stream.answer == "One, two, "
        gate.set()
        await stream.rest()
    assert stream.answer == "One, two, three."
