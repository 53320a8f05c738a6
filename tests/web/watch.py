"""What must never happen in a page: errors, violations of its policy, foreign requests, dialogs, hostile scripts."""

import re
from dataclasses import dataclass, field

from playwright.async_api import BrowserContext, ConsoleMessage, Dialog, Error, Page, Request

CANARY = "canary"
"""The name of a function of every page. Hostile texts call it: nothing else ever does."""

_SCRIPT = f"""
document.addEventListener("securitypolicyviolation", (event) =>
  window.__problem(`policy violation: ${{event.violatedDirective}} ${{event.blockedURI}} ${{event.sourceFile}}`));
globalThis.{CANARY} = (what) => window.__problem(`hostile script: ${{what}}`);
"""


@dataclass  # no slots: playwright keeps its own notes on the object whose methods it calls
class Watch:
    """The problems of the pages of one browser context.

    Args:
        origin: the only address that pages may ask.
        problems: what has happened, a line each.
    """

    origin: str
    problems: list[str] = field(default_factory=list)
    _allowed: list[re.Pattern[str]] = field(default_factory=list)
    _accepted: list[str] = field(default_factory=list)

    async def begin(self, context: BrowserContext) -> None:
        """Watch all pages that are opened in the context from now on."""
        await context.expose_function("__problem", self._on_problem)
        await context.add_init_script(_SCRIPT)
        context.on("page", self._on_page)
        context.on("request", self._on_request)

    def allow(self, pattern: str) -> None:
        """Expect problems in which this regular expression is found, such as a lost connection that the test causes."""
        self._allowed.append(re.compile(pattern))

    def accept(self, kind: str) -> None:
        """Say yes to the dialogs of a kind: of `beforeunload` that the page may go. All others are dismissed."""
        self._accepted.append(kind)
        self.allow(f"^dialog: {kind} ")

    @property
    def unexpected(self) -> list[str]:
        return [each for each in self.problems if not any(pattern.search(each) for pattern in self._allowed)]

    def check(self) -> None:
        assert not self.unexpected, "\n".join(self.unexpected)

    def _on_problem(self, what: str) -> None:
        self.problems.append(what)

    def _on_page(self, page: Page) -> None:
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)
        page.on("dialog", self._on_dialog)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _on_error(self, error: Error) -> None:
        self.problems.append(f"uncaught: {error.message}\n{error.stack or ''}")

    async def _on_dialog(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog: {dialog.type} {dialog.message}")
        await (dialog.accept() if dialog.type in self._accepted else dialog.dismiss())

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.origin}/", "data:", "blob:", "about:")):
            self.problems.append(f"request to elsewhere: {request.url}")
