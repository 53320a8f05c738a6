"""A tab of the browser that shows the console, and what a person does in it."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from playwright.async_api import Browser, BrowserContext, Locator, Page, Playwright, expect

from tests.web.watch import Watch

Theme = Literal["light", "dark"]
Size = tuple[int, int]

THEMES: tuple[Theme, ...] = ("light", "dark")
LAPTOP: Size = (1280, 800)
DESKTOP: Size = (1680, 1000)
PHONE: Size = (390, 844)
SIZES: Mapping[str, Size] = {"1280": LAPTOP, "1680": DESKTOP, "390": PHONE}

PATIENCE_MS = 20_000
"""A guard against a hang: what is waited for comes as an event of the page, and two cores may be busy."""

expect.set_options(timeout=PATIENCE_MS)


def find_chromium() -> str | None:
    """The browser of this machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), None)


async def launch(playwright: Playwright, path: str) -> Browser:
    # The browser's own sandbox needs rights that containers do not have; it shows pages of this machine alone.
    options = ["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"]
    return await playwright.chromium.launch(executable_path=path, args=options)


@dataclass(slots=True)
class Tab:
    """One tab, in a context of its own.

    Args:
        page: playwright's page, for everything that is not here.
        context: its context; a second page in it is a second tab of the same user.
        watch: fails the test for errors, policy violations, requests to elsewhere, dialogs and foreign scripts.
        origin: the address of the console, without a slash at the end.
    """

    page: Page
    context: BrowserContext
    watch: Watch
    origin: str

    async def go(self, path: str = "/") -> None:
        """Open a page of the console, and wait until its code is there: before that, keys belong to the shell."""
        await self.page.goto(self.origin + path)
        loading = self.page.get_by_role("status", name="Loading the page")
        await expect(self.page.locator("#root:empty").or_(loading)).to_have_count(0)

    @property
    def composer(self) -> Locator:
        """The field in which questions are written."""
        return self.page.get_by_role("textbox", name="Question", exact=True)

    async def ask(self, question: str) -> None:
        """Write a question, and send it by the keyboard."""
        await self.composer.fill(question)
        await self.composer.press("Enter")


async def open_tab(
    browser: Browser,
    origin: str,
    *,
    size: Size = LAPTOP,
    theme: Theme = "light",
    reduced_motion: bool = False,
    **options: Any,
) -> Tab:
    """Open an empty tab; a narrow one is a phone, with touch.

    Args:
        browser: where.
        origin: the address of the console.
        size: of the viewport, in CSS pixels.
        theme: what the system prefers.
        reduced_motion: whether the system asks for it.
        options: more options of playwright's `new_context`, such as `device_scale_factor`.
    """
    is_phone = size[0] < 700
    context = await browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=theme,
        reduced_motion="reduce" if reduced_motion else "no-preference",
        has_touch=is_phone,
        is_mobile=is_phone,
        locale="en-GB",
        timezone_id="UTC",
        **options,
    )
    context.set_default_timeout(PATIENCE_MS)
    watch = Watch(origin)
    await watch.begin(context)
    return Tab(await context.new_page(), context, watch, origin)
