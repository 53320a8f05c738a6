"""The adapters of clients' protocols: where their calls are, and how they say that a request is refused.

Rules:

- An adapter is a line of its feature (`oracle.core.features`) and its package. Its module has `router`, with all its
  calls, and `refused(refusal: Refusal) -> Response`, which is the refusal as its clients read one.
- It is imported when the first request comes below its path.
- The guards stand in front of its calls as they do in front of the service's own, so that it checks no token.
- Whatever refuses a request below its path (a guard, the router, an error that its call raises), the answer is made by
  `refused`. An answer whose body has another form than `{"detail": ...}` is the adapter's own and goes out as it is.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bt_runtime.text.data import dataclass
from oracle.core.encoding import from_json
from oracle.core.features import Feature
from oracle.core.loading import imported

MOST_BODY_BYTES: Final = 8_000_000
"""The size of a request to an adapter; clients send their whole history."""
_MOST_MISTAKES = 5  # in one message
_OWN_HEADERS = frozenset({"content-length", "content-type"})


class Adapter(NamedTuple):
    """One line of the list.

    Args:
        path: its calls are here and below.
        module: has its `router` and its `refused`.
    """

    path: str
    module: str

    def has(self, path: str) -> bool:
        """Whether a request to this path is the adapter's."""
        return path.startswith(self.path) and path[len(self.path) : len(self.path) + 1] in ("", "/")


def adapters_of(used: Iterable[Feature]) -> tuple[Adapter, ...]:
    """The adapters of features; of several that have a path the first one counts."""
    return tuple(Adapter(*line) for feature in used for line in feature.adapters.items())


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused.

    Args:
        status: of HTTP, as the service's own calls have it.
        message: for the client's user: what is wrong, and what would be right.
        where: what is wrong of the request, such as `("body", "model")`; empty: nothing in particular.
        retry_after_s: when it is worth another try; `None`: that is not known.
    """

    status: int
    message: str
    where: tuple[str | int, ...] = ()
    retry_after_s: int | None = None


Refused = Callable[[Refusal], Response]


def adapter_of(path: str, adapters: Sequence[Adapter]) -> Adapter | None:
    """The adapter that a request is for; `None`: the service itself."""
    return next((each for each in adapters if each.has(path)), None)


class OwnRefusals:
    """Middleware in front of everything: refusals below an adapter's path, in the words of its protocol.

    The status and the body are the adapter's; the other headers stay (`Retry-After`, `WWW-Authenticate`).
    """

    def __init__(self, app: ASGIApp, *, adapters: Sequence[Adapter]) -> None:
        self._app = app
        self._adapters = adapters
        self._forms: dict[str, Refused] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        adapter = adapter_of(scope["path"], self._adapters) if scope["type"] == "http" else None
        if adapter is None:
            await self._app(scope, receive, send)
            return
        start: Message | None = None
        body = b""

        async def translated(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start" and message["status"] >= 400 and _is_json(message):
                start = message
            elif start is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    for each in await self._in_form(adapter, start, body):
                        await send(each)

        await self._app(scope, receive, translated)

    async def _in_form(self, adapter: Adapter, start: Message, body: bytes) -> tuple[Message, Message]:
        found = from_json(body)
        if isinstance(found, dict) and found.keys() == {"detail"}:
            response = (await self._form(adapter))(_refusal(start, found["detail"]))
            headers = MutableHeaders(raw=list(response.raw_headers))
            for name, value in Headers(scope=start).items():
                if name not in _OWN_HEADERS:
                    headers.setdefault(name, value)
            start = {**start, "status": response.status_code, "headers": headers.raw}
            body = bytes(response.body)
        return start, {"type": "http.response.body", "body": body}

    async def _form(self, adapter: Adapter) -> Refused:
        if adapter.module not in self._forms:
            self._forms[adapter.module] = await asyncio.to_thread(imported, f"{adapter.module}:refused")
        return self._forms[adapter.module]


def _is_json(start: Message) -> bool:
    return Headers(scope=start).get("content-type", "").startswith("application/json")


def _refusal(start: Message, detail: object) -> Refusal:
    after = Headers(scope=start).get("retry-after", "")
    retry_after_s = int(after) if after.isdigit() else None
    if not isinstance(detail, list):
        return Refusal(start["status"], str(detail), retry_after_s=retry_after_s)
    mistakes: list[Mapping[str, Any]] = detail[:_MOST_MISTAKES]
    where = tuple(mistakes[0]["loc"]) if mistakes else ()
    return Refusal(start["status"], "; ".join(_said(each) for each in mistakes), where, retry_after_s)


def _said(mistake: Mapping[str, Any]) -> str:
    place = ".".join(map(str, mistake["loc"][1:]))
    return f"{place}: {mistake['msg']}" if place else str(mistake["msg"])
