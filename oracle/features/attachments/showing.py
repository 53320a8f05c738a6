"""Puts the files into requests to the provider: content blocks replace the placeholders.

Rules:

- The newest files of a request are sent as far as a request may have them (`MOST_BYTES`, pages); older ones are named.
- A file whose bytes are not kept any more is named too, with a note for the model that they are gone.
- The embedded model gets none: it says that it cannot see them.
"""

import re
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from oracle.core.errors import OracleError
from oracle.features.attachments.kinds import MOST_BYTES, MOST_PAGES, PAGE_TOKENS
from oracle.llm.offline import OfflineModel
from oracle.llm.protocol import Message, ModelError, ModelFault, ModelRequest
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import Fittings

_MOST_FILES: Final = 20  # of a request; with more pictures the provider takes none above 2,000 pixels
_FENCES: Final = re.compile("`+")
_GONE: Final = "not kept any more"
_EARLIER: Final = "not sent again"


class Completion:
    """Completes requests.

    Args:
        read: the bytes of files, by their ids.
    """

    def __init__(self, read: Callable[[Collection[str]], Awaitable[Mapping[str, bytes]]]) -> None:
        self.read = read

    async def __call__(self, request: ModelRequest) -> ModelRequest:
        """The request with the files.

        Raises:
            ModelError: they cannot be read at present.
        """
        blocks = [
            block
            for message in request.messages
            if message["role"] == "user"
            for block in _attached(message["content"])
        ]
        if not blocks:
            return request
        sent = _newest(blocks)
        try:
            data = await self.read(sent)
        except OracleError as error:
            problem = "The attached files cannot be read at the moment. Please ask again."
            raise ModelError(ModelFault("internal", problem, str(error))) from None
        content = {
            block["id"]: _shown(block, data[block["id"]])
            if block["id"] in data
            else _named(block, _GONE if block["id"] in sent else _EARLIER)
            for block in blocks
        }
        return replace(request, messages=tuple(_with(each, content) for each in request.messages))


def _attached(content: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401  text or blocks
    return [] if isinstance(content, str) else [block for block in content if block["type"] == "attachment"]


def _newest(blocks: list[Mapping[str, Any]]) -> set[str]:
    """The ids of the newest files that a request may have together."""
    sent, size, pages = set[str](), 0, 0
    for block in reversed(blocks):
        size += block["size"]
        pages += block["tokens"] // PAGE_TOKENS if block["media_type"] == "application/pdf" else 0
        if len(sent) == _MOST_FILES or (sent and (size > MOST_BYTES or pages > MOST_PAGES)):
            break
        sent.add(block["id"])
    return sent


def _with(message: Message, content: Mapping[str, Mapping[str, Any]]) -> Message:
    if not _attached(message["content"]):
        return message
    blocks = [content[each["id"]] if each["type"] == "attachment" else each for each in message["content"]]
    return {**message, "content": blocks}


def _named(block: Mapping[str, Any], why: str) -> Mapping[str, Any]:
    return {"type": "text", "text": f"[Attached: {block['name']}, {block['media_type']}; {why}]"}


def _shown(block: Mapping[str, Any], data: bytes) -> Mapping[str, Any]:
    """The block of the provider for a file (platform.claude.com, "Images and vision", "PDF support")."""
    media_type, name = block["media_type"], block["name"]
    if media_type == "text/plain":
        text = data.decode("utf-8-sig")
        fence = "`" * max(3, 1 + max(map(len, _FENCES.findall(text)), default=0))
        return {"type": "text", "text": f"The attached file {name!r}:\n{fence}\n{text}\n{fence}"}
    source = {"type": "base64", "media_type": media_type, "data": b64encode(data).decode()}
    if media_type.startswith("image/"):
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, "title": name}


@asynccontextmanager
async def prepared(settings: Settings, fittings: Fittings) -> AsyncIterator[None]:  # noqa: ARG001  what features are called with
    """Complete the requests to a provider; a service reads the files in its store, a command keeps them itself."""
    if not isinstance(fittings.model, OfflineModel):

        async def nothing(_ids: Collection[str]) -> Mapping[str, bytes]:
            return {}

        fittings.hooks.complete = Completion(nothing)
    yield
