"""Tests of the console in a real browser, against the real service with a stand-in for the model's provider.

They need Chromium on the PATH and the built console, which is built here if its sources are newer. Where one of them is
missing, the tests are skipped with a sentence that says what. A test:

    pytestmark = pytest.mark.asyncio(loop_scope="session")  # servers and browser live in the loop of the session

    async def test_an_answer_is_shown_while_it_comes(tab, desk) -> None:
        gate = asyncio.Event()
        desk.play(held_answer(gate, "First half, ", "second half."))
        await tab.go("/")
        await tab.ask("Where is RetryPolicy?")
        await expect(tab.page.get_by_text("First half,")).to_be_visible()
        gate.set()
        await expect(tab.page.get_by_text("First half, second half.")).to_be_visible()

Fixtures:

- `tab`: a tab of 1280x800 in light colours, see `tests/web/tab.py`. Parametrise `theme` (`THEMES`) and `size`
  (`SIZES`) to change that: `@pytest.mark.parametrize("theme", THEMES)`.
- `browse`: opens more tabs: `await browse("/runs", theme="dark", size=PHONE, reduced_motion=True, at=line.url)`.
- `service`: `oracle serve`, one process for all modules, without conversations when a module begins: `url`, `project`,
  `data`. Override the fixture `settings` in a module that needs a process of its own: one with `ORACLE_…` variables,
  one that has no other runs, or one to `stop()`, to `kill()` and to `start(port=service.port)`.
- `user`: the same service as a program uses it: `heard = await user.ask("…")` records a run in some milliseconds
  (`heard.run_id`, `heard.done["context_id"]`), `user.http` is the HTTP client.
- `desk`: what the provider says next: `desk.play(says("…", calls("search_code", query="auth")), answers("…"))`; the
  words are in `tests/acceptance/scripts.py`.
- `stage`: what the provider says by question: `stage.lay("Where is auth?", answers("…"))`, for questions that are
  asked at the same time.
- `line`: a network line to the service for tabs that were opened `at=line.url`: `line.cut()` ends open streams as
  well (which playwright's `set_offline` does not), `line.cut_after("First half")`, `line.mend()`.
- `shown`: a service with all runs of `tests/web/gallery.py`, one for all modules; `shown.runs["poll"]` is a run's id.
- `guarded`: a service with auth, whose users and tokens are those of `tests/service/users.py`.

`tests/web/stage.py` has `held` and `held_answer`: turns that wait for a gate. Nothing sleeps: playwright's `expect`
waits for what a user sees.

A test in a browser is long; `make test` runs those that are marked `@pytest.mark.smoke`, one or two for each page.

Every tab fails its test for a console error, an uncaught error, a violation of the Content-Security-Policy, a request
to another origin, a dialog, or a call of the page's `canary()`, which hostile texts try to make. `tab.watch.allow("…")`
expects what the test itself causes, such as a status of 404 or a lost connection, which the browser logs as errors.
"""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from tests.acceptance.harness import PROJECT_FILES
from tests.service.conftest import guarded_server
from tests.service.provider import Desk
from tests.service.server import HELD_FILE, Client, Server, serving
from tests.web.built import missing_for_the_console
from tests.web.gallery import Gallery, gallery
from tests.web.line import Line
from tests.web.stage import Stage
from tests.web.tab import LAPTOP, Size, Tab, Theme, find_chromium, launch, open_tab

__all__ = ["guarded_server"]  # a fixture, of the tests of the service

SETTINGS = {"ORACLE_REQUESTS_PER_MINUTE": "10000"}


class Browse(Protocol):
    """Opens tabs."""

    async def __call__(
        self, path: str | None = None, *, at: str = "", size: Size = LAPTOP, theme: Theme = "light", **options: Any
    ) -> Tab: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test in a browser is long unless it is one of the few for `make test`."""
    for item in items:
        names = getattr(item, "fixturenames", ()) if item.path.is_relative_to(Path(__file__).parent) else ()
        if "chromium" in names and not (item.get_closest_marker("smoke") or item.get_closest_marker("long")):
            item.add_marker(pytest.mark.long("a browser, and a service of the module"))


@pytest.fixture(scope="session")
def console() -> None:
    """The console is built."""
    if missing := missing_for_the_console():
        pytest.skip(missing)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """The browser."""
    if (path := find_chromium()) is None:
        pytest.skip("There is no Chromium on the PATH: install the package `chromium` to run the tests of the console.")
    async with async_playwright() as playwright:
        browser = await launch(playwright, path)
        yield browser
        await browser.close()


@pytest.fixture(scope="module")
def settings() -> Mapping[str, str] | None:
    """The environment of this module's own service; `None` is the common one."""
    return None


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def common(tmp_path_factory, console, chromium) -> AsyncIterator[Callable[[], Awaitable[Server]]]:
    """Gives the service of all modules that ask for no other; it is started when the first does."""
    started: list[Server] = []
    async with contextlib.AsyncExitStack() as stack:

        async def served() -> Server:
            if not started:
                serving_it = serving(tmp_path_factory.mktemp("common"), **SETTINGS)
                started.append(await stack.enter_async_context(serving_it))
            await clear(started[0])
            return started[0]

        yield served


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def service(tmp_path_factory, console, chromium, settings, common) -> AsyncIterator[Server]:
    if settings is None:
        yield await common()
        return
    async with serving(tmp_path_factory.mktemp("service"), **SETTINGS | settings) as it:
        yield it


async def clear(server: Server) -> None:
    """No conversations, no limits that were changed, no files in the project but the first; the runs stay."""
    for path in server.project.rglob("*"):
        if path.is_file() and str(path.relative_to(server.project)) not in {*PROJECT_FILES, HELD_FILE}:
            path.unlink()
    user = Client(server)
    assert (await user.http.post("/api/settings/agent-config/reset")).is_success
    while there := (await user.http.get("/api/oracle/conversations")).json()["conversations"]:
        for each in there:
            await user.http.delete(f"/api/oracle/conversations/{each['context_id']}")
    await user.aclose()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shown(tmp_path_factory, console, chromium) -> AsyncIterator[Gallery]:
    """The gallery; whoever asks more questions there leaves the rest as it is."""
    async with gallery(tmp_path_factory.mktemp("gallery")) as it:
        yield it


@pytest.fixture
def desk(service: Server) -> Desk:
    assert service.desk is not None
    service.desk.take_over()
    return service.desk


@pytest.fixture
def stage(service: Server) -> Stage:
    assert service.desk is not None
    return Stage(service.desk.provider)


@pytest_asyncio.fixture(loop_scope="session")
async def user(service: Server) -> AsyncIterator[Client]:
    client = Client(service)
    yield client
    await client.aclose()


@pytest_asyncio.fixture(loop_scope="session")
async def line(service: Server) -> AsyncIterator[Line]:
    async with Line(lambda: service.url) as it:
        yield it


@pytest.fixture
def guarded(console, chromium, guarded_server: Server) -> Server:
    assert guarded_server.desk is not None
    guarded_server.desk.play()
    return guarded_server


@pytest.fixture
def theme() -> Theme:
    return "light"


@pytest.fixture
def size() -> Size:
    return LAPTOP


@pytest_asyncio.fixture(loop_scope="session")
async def browse(chromium: Browser, request: pytest.FixtureRequest) -> AsyncIterator[Browse]:
    """Opens tabs, which are closed at the end of the test; what they must never do fails it."""
    tabs: list[Tab] = []

    async def opened(
        path: str | None = None, *, at: str = "", size: Size = LAPTOP, theme: Theme = "light", **options: Any
    ) -> Tab:
        origin = at or request.getfixturevalue("service").url
        tab = await open_tab(chromium, origin, size=size, theme=theme, **options)
        tabs.append(tab)
        if path is not None:
            await tab.go(path)
        return tab

    async with contextlib.AsyncExitStack() as closing:
        yield opened
        for tab in tabs:
            closing.callback(tab.watch.check)
            closing.push_async_callback(tab.context.close)


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browse: Browse, service: Server, size: Size, theme: Theme) -> Tab:
    return await browse(at=service.url, size=size, theme=theme)
