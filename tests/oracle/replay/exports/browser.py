"""Chromium without a window, driven through its debugging pipe: no other program, and no port."""

import json
import os
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


class Page:
    """One tab.

    Attributes:
        events: what the browser has reported: messages of the console, violations, requests.
    """

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self.events: list[dict[str, Any]] = []
        self._out, self._in = to_browser, from_browser
        self._rest = b""
        self._ids = count(1)
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A command of the DevTools protocol, and its result."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        while True:
            found = self._next()
            if found.get("id") == number:
                assert "error" not in found, found["error"]
                return found["result"]
            self.events.append(found)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = os.read(self._in, 1 << 20)
            assert data, "the browser has ended"
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def size(self, width: int, height: int, *, scheme: str = "light") -> None:
        """The size of the window in pixels, and the colours that the user prefers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path: Path) -> None:
        """Load a file, until its scripts have run and what they draw is drawn."""
        self.events.clear()
        self.call("Page.navigate", url=path.absolute().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())
        self.settle()

    def settle(self) -> None:
        """Wait for two frames: what was asked for is drawn."""
        frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
        self.run(f"{frames}.then({frames})")

    def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is awaited."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key."""
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 if shift else 0, **text)
        self.settle()

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)
        self.settle()

    def drag(self, *points: tuple[float, float]) -> None:
        """Press the mouse at the first point, move over the others, release."""
        for index, (x, y) in enumerate(points):
            kind = "mousePressed" if index == 0 else "mouseMoved"
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
        x, y = points[-1]
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", buttons=0, clickCount=1)
        self.settle()

    def picture(self) -> bytes:
        """A picture of the window as PNG."""
        return b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def problems(self) -> list[str]:
        """Errors, and what the security policy has refused."""
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"].get("exception", {}).get("description")))
            elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"]["text"])
        return found

    def requests(self) -> list[str]:
        """The addresses that the page has asked for."""
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """A tab of a new browser.

    Args:
        folder: for its profile.
    """
    assert CHROMIUM
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()

    def connect() -> None:  # the browser reads from descriptor 3 and writes to 4
        ends = os.dup(to_read), os.dup(from_write)
        os.dup2(ends[0], 3)
        os.dup2(ends[1], 4)

    process = subprocess.Popen(
        [CHROMIUM, *_FLAGS, f"--user-data-dir={folder}", "about:blank"],
        close_fds=False,
        preexec_fn=connect,  # noqa: PLW1509  it only duplicates descriptors
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    os.close(to_read)
    os.close(from_write)
    try:
        yield Page(to_write, from_read)
    finally:
        os.close(to_write)
        process.kill()
        process.wait()
        os.close(from_read)
