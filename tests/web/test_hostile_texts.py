"""Texts from the model, tools, users and files are shown as text, wherever they appear: nothing in them runs or loads.

Each hostile text calls `canary()`; `tests/web/watch.py` fails the test for any call, and for any request to elsewhere,
dialog or violation of the policy: the pages are safe by themselves, not by the policy alone.
"""

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.acceptance.scripts import answers, calls, says, signal_xml
from tests.service.server import Client
from tests.web.gallery import save_tree
from tests.web.scenes import settled
from tests.web.watch import CANARY

pytestmark = pytest.mark.asyncio(loop_scope="session")

ELSEWHERE = "http://127.0.0.1:9"
QUESTION = "Where is RetryPolicy in the code?"


@pytest.fixture(scope="module")
def settings():
    return {}  # a service whose trees and files are hostile


def hostile(place: str) -> str:
    """A text with everything that a careless page would run, load or follow."""
    run = f"{CANARY}('{place}')"
    return "\n".join(
        (
            f"<script>{run}</script>",
            f'<img src=x onerror="{run}">',
            f'<svg onload={run}><a xlink:href="javascript:{run}"><text>svg</text></a></svg>',
            f'<a href="javascript:{run}" onmouseover="{run}">link</a>',
            f'<iframe srcdoc="<script>parent.{run}</script>"></iframe>',
            f"<style>* {{ background: url({ELSEWHERE}/style) }}</style>",
            f'<form action="{ELSEWHERE}/form"><button autofocus onfocus="{run}">Sign in again</button></form>',
            f'<div style="position:fixed;inset:0;background:url({ELSEWHERE}/div)">over everything</div>',
            f'<math><mtext><table><mglyph><style><img src=x onerror="{run}">',
            f"[a link](javascript:{run}) [another](JaVaScRiPt:{run}) [data](data:text/html,<script>{run}</script>)",
            f"![a picture]({ELSEWHERE}/picture.png) <{ELSEWHERE}/auto>",
            f"<meta http-equiv=refresh content='0;url={ELSEWHERE}/'><base href='{ELSEWHERE}/'>",
            "<!-- <p id=root> --> <p id=root name=body>clobbered</p>",
        )
    )


def line(place: str) -> str:
    """The same for places of one line."""
    return f"{place} <img src=x onerror={CANARY}(1)><script>{CANARY}(1)</script>"


ANSI = "\x1b[31mred\x1b[0m \x1b]8;;http://127.0.0.1:9/\x07link\x1b]8;;\x07"
BIDI = "\u202egnp.exe\u202c \u2066inside"
TREE = f"""\
# {line("tree comment")}
tree: hostile
description: >-
  {line("tree description")}
blackboard:
  found: {{ type: str, default: "", description: "{line("key description")}" }}
root:
  finally:
    child:
      sequence:
        - classify_query
        - compose_prompt
        - set: {{ found: "'{line("value")}'" }}
        - notify: {{ topic: fallback, message: "{line("notification")}" }}
        - loop:
            name: "node <img src=x onerror={CANARY}(1)>"
            until: termination_reason
            guards: [cancelled, turn_budget, token_budget, deadline, no_progress, error_limit]
            child:
              sequence:
                - llm_turn
                - selector: [{{ subtree: use_tools }}, {{ subtree: follow_signal }}]
        - condition: found == "{line("operand")}"
    then:
      sequence: [explain_stop, finish]
"""
FILE = f"src/<img src=x onerror={CANARY}(1)>.py"

MARKUP = f"""
() => [...document.querySelectorAll("body *")].filter((each) =>
  each.matches("script:not([src]), iframe, object, embed, base, style:not([nonce]), [onerror], [onload], [onfocus]")
    || /^(javascript|data|vbscript):/i.test((each.getAttribute("href") ?? "").trim())
    || (each.getAttribute("src") ?? "").startsWith("{ELSEWHERE}")
    || (each.getAttribute("action") ?? "").startsWith("{ELSEWHERE}")
    || (each.getAttribute("style") ?? "").includes("url(")
).map((each) => each.outerHTML.slice(0, 200))
"""
"""What of the hostile texts has become markup."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def run(service):
    """A run in which everything is hostile; its id and that of its conversation."""
    client = Client(service)
    file = service.project / FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"class RetryPolicy: # {line('file')}\n{hostile('file')}\n{ANSI}{BIDI}\n", encoding="utf-8")
    await save_tree(client, "hostile", TREE)
    service.desk.take_over()
    stuck = signal_xml("need_turn", reason=line("reason").replace("<", "&lt;"))
    service.desk.play(
        says(
            hostile("turn"),
            calls("search_code", query="RetryPolicy"),
            calls("read_file", path=FILE),
            calls("read_file", path=hostile("argument")),
            calls(line("tool"), **{line("parameter"): hostile("argument")}),
            thinking=f"{hostile('thinking')} {ANSI} {BIDI}",
        ),
        says(f"{hostile('second turn')}{stuck}"),
        answers(
            f"# {line('heading')}\n\n{hostile('answer')}\n\n{ANSI} {BIDI}\n\n```\n{hostile('code')}\n```\n\nThe end."
        ),
    )
    async with client.stream(f"{QUESTION} {hostile('question')} {ANSI} {BIDI}", tree="hostile") as stream:
        await stream.to_end()
    assert stream.reason == "completed"
    context_id = stream.done["context_id"]
    renamed = await client.http.patch(f"/api/oracle/conversations/{context_id}", json={"title": line("title") + BIDI})
    assert renamed.status_code == 200, renamed.text
    yield stream.run_id, context_id
    await client.aclose()


async def unfold(page: Page) -> None:
    """Open whatever can be opened in the page, and look at its markup."""
    await settled(page)
    for closed in await page.locator("main [aria-expanded=false]:visible:not([aria-haspopup])").all():
        if await closed.is_visible():
            await closed.click()
    await settled(page)
    assert await page.evaluate(MARKUP) == []


async def test_the_chat_shows_hostile_texts_as_texts(run, tab) -> None:
    _, context_id = run
    await tab.go(f"/chat/{context_id}")
    await expect(tab.page.get_by_text("The end.").first).to_be_visible()
    await unfold(tab.page)
    await expect(tab.page.get_by_text(line("title")).first).to_be_visible()
    await expect(tab.page.get_by_text(line("notification")).first).to_be_visible()


async def test_the_run_shows_hostile_texts_as_texts(run, tab) -> None:
    run_id, _ = run
    for tick in (1, 2, 4, 6):
        await tab.go(f"/runs/{run_id}?tick={tick}")
        await expect(tab.page.get_by_role("tab").first).to_be_visible()
        for pane in await tab.page.get_by_role("tab").all():
            await pane.click()
            await unfold(tab.page)


@pytest.mark.parametrize("path", ["/runs", "/trees", "/trees/hostile", "/settings", "/"])
async def test_the_other_pages_show_hostile_texts_as_texts(run, tab, path: str) -> None:
    await tab.go(path)
    await unfold(tab.page)


async def test_a_comparison_shows_hostile_texts_as_texts(run, tab) -> None:
    run_id, _ = run
    await tab.go(f"/compare/{run_id}/{run_id}")
    await unfold(tab.page)


async def test_a_hostile_answer_that_is_streamed_is_text_at_every_moment(run, tab, desk) -> None:
    text = f"{hostile('streamed')}\n\nStreamed to the end."
    desk.play(answers(text, piece_chars=3))
    await tab.go("/")
    await tab.ask("Where is it said in the code?")
    await expect(tab.page.get_by_text("Streamed to the end.").first).to_be_visible()
    await unfold(tab.page)


async def test_addresses_that_are_hostile_are_texts(tab) -> None:
    for path in (
        f"/runs/%3Cimg%20src=x%20onerror={CANARY}(1)%3E",
        f"/chat/javascript:{CANARY}(1)",
        "/trees/%3Cscript%3E",
    ):
        tab.watch.allow("404|422|400")
        await tab.go(path)
        await settled(tab.page)
        assert await tab.page.evaluate(MARKUP) == []
