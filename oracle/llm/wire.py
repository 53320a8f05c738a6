"""The wire format shared by the adapters of providers: server-sent events of bounded size, and the JSON in them.

Rules:

- Responses must not be compressed: compression is not requested, and refused, because 300 KB can unpack to 300 MB in
  the event loop's thread.
- Reading takes linear time (the SDKs' decoders join lines one by one, which is quadratic for many comments) and yields
  to other runs between pieces, also when all data has already arrived.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, Any, Final

from oracle.core.errors import UpstreamError
from oracle.core.server_sent_events import EventReader

if TYPE_CHECKING:  # the scripted model reads the same JSON, and loads no HTTP client
    import httpx2

IDENTITY: Final = {"accept-encoding": "identity"}
"""Sent with every request."""
MOST_BYTES: Final = 64_000_000
"""The limit for one message, including everything around it; the longest answers of current models have about 10 MB."""

MOST_CALLS: Final = 256
"""The calls that are read of one message; what follows them is left out. A model that repeats itself writes more."""
MOST_TOKENS: Final = 1_000_000_000
"""The largest number of tokens that a report may name; a larger one is no report."""

_PIECE_BYTES: Final = 16_384
_LONGEST_S: Final = 0.005  # without yielding to the event loop


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


_JSON = json.JSONDecoder(parse_constant=_no_constant)


async def refuse_encoded(response: "httpx2.Response") -> None:
    """Refuse a compressed response; a hook of the HTTP client, called before the body is read.

    Raises:
        UpstreamError: the body is compressed.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise UpstreamError(f"an answer in the encoding {encoding[:40]!r}, which was not asked for")


async def events_of(body: AsyncIterator[bytes], *, most_bytes: int = MOST_BYTES) -> AsyncGenerator[str, None]:
    """The data of each event of a response body, as it arrives.

    Raises:
        ValueError: the body is larger than `most_bytes`, or not UTF-8.
    """
    reader, read = EventReader(), 0
    clock = asyncio.get_running_loop().time
    began_s = clock()
    async for data in body:
        read += len(data)
        if read > most_bytes:
            raise ValueError(f"more than {most_bytes:,} bytes for one message")
        for at in range(0, len(data), _PIECE_BYTES):
            for event in reader.feed(data[at : at + _PIECE_BYTES]):
                yield event
            if clock() - began_s > _LONGEST_S:
                await asyncio.sleep(0)
                began_s = clock()


def decode_event(data: str) -> dict[str, Any]:
    """The JSON object of one `data:` field; lone surrogates in it are replaced.

    Raises:
        ValueError: it is not a JSON object.
    """
    event = _loads(data)
    if not isinstance(event, dict):
        raise ValueError(f"a JSON {type(event).__name__} instead of an event")  # noqa: TRY004  # see the module's rules
    return event


def token_count(value: object) -> int | None:
    """A number of tokens as a server reports it; `None`: it is no number, or none that there can be."""
    return value if isinstance(value, int) and 0 <= value <= MOST_TOKENS else None


def _loads(text: str) -> Any:  # noqa: ANN401  # what JSON is
    try:
        value = _JSON.decode(text)
        # JSON can escape a lone surrogate, which UTF-8 cannot encode. The test is cheap, the repair is rare.
        if "\\ud" in text or "\\uD" in text:
            plain = json.dumps(value, ensure_ascii=False)
            value = json.loads(plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return value


def arguments_of(text: str) -> tuple[dict[str, Any], str | None]:
    """The arguments of a tool call, and why they are not a JSON object; `None` if they are."""
    try:
        value = _loads(text)
    except ValueError as error:
        return {}, f"the arguments are not valid JSON ({error}): {text[:200]!r}"
    if not isinstance(value, dict):
        return {}, f"the arguments must be a JSON object, not {text[:200]!r}"
    return value, None
