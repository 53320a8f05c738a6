"""The attachments of a question: uploaded files, or the bytes of files."""

import asyncio
import binascii
from base64 import b64decode
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from oracle.agent.answering import Oracle
from oracle.features.attachments.keeping import Attachments, Block, Taken, block_of
from oracle.features.attachments.kinds import LARGEST, MOST_BYTES, FileError, file_name, kind_of
from oracle.features.attachments.showing import Completion
from oracle.server.api.bodies import MOST_ATTACHMENTS, AttachmentBody
from oracle.server.api.parts import ServiceParts


def table_of(parts: ServiceParts) -> Attachments:
    """The files of a service."""
    return Attachments(parts.store.database, writer=parts.store.writer)


@asynccontextmanager
async def opened(parts: ServiceParts) -> AsyncIterator[None]:
    """Let requests use the files in the store."""
    if isinstance(complete := parts.oracle.equipment.hooks.complete, Completion):
        complete.read = table_of(parts).read
    yield


def checked_file(data: bytes, name: str) -> dict[str, Any]:
    """The block of a new file, with an id of its own.

    Raises:
        FileError: it cannot be attached.
    """
    shown = file_name(name)
    kind = kind_of(data, shown)
    return block_of(uuid4().hex, name=shown, media_type=kind.media_type, size=len(data), tokens=kind.tokens)


async def read(
    given: Sequence[AttachmentBody], user_id: str, parts: ServiceParts
) -> tuple[Mapping[str, Any], Sequence[Taken]]:
    """The files of a question as its `Ask` has them; those that come with it are kept first.

    Raises:
        FileError: one cannot be attached, or there are too many of them, or too many bytes.
        NotFoundError: the user has no such file.
        StoreUnavailableError: the database cannot be used at present.
    """
    if len(given) > MOST_ATTACHMENTS:
        raise FileError(f"there are {len(given):,} attachments; a question has at most {MOST_ATTACHMENTS}")
    table, new = table_of(parts), dict[int, tuple[dict[str, Any], bytes]]()
    for n, each in enumerate(given):
        if (each.id is None) == (each.data is None):
            raise FileError("an attachment has an `id`, or a `name` and `data`", loc=("body", "attachments", n))
        if each.data is not None:
            new[n] = await asyncio.to_thread(_read, each.data, each.name or f"attachment-{n + 1}", n)
    ids = [each.id for each in given if each.id is not None]
    found = iter(await table.find(user_id, ids) if ids else ())
    files: list[tuple[Block, bool]] = [(new[n][0], False) if n in new else next(found) for n in range(len(given))]
    if (size := sum(block["size"] for block, _ in files)) > MOST_BYTES:
        raise FileError(f"the attachments have {size:,} bytes; at most {MOST_BYTES:,} go with a question", status=413)
    for own, data in new.values():
        await table.keep(user_id, own, data)
    blocks, origins, seen = list[Block](), dict[str, str](), set[str]()
    for block, is_taken in files:
        if is_taken or block["id"] in seen:
            block_id = uuid4().hex
            origins[block_id] = block["id"]
            blocks.append({**block, "id": block_id})
        else:
            blocks.append(block)
        seen.add(block["id"])
    return {"attachments": tuple(blocks)}, (Taken(blocks, origins),)


def _read(data: str, name: str, n: int) -> tuple[dict[str, Any], bytes]:
    place = ("body", "attachments", n, "data")
    if len(data) > LARGEST * 4 // 3 + 4:
        raise FileError(f"an attachment has at most {LARGEST:,} bytes", loc=place, status=413)
    try:
        decoded = b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        raise FileError("the bytes of an attachment are in base64, as RFC 4648 has it", loc=place) from None
    return checked_file(decoded, name), decoded


def attached(oracle: Oracle, files: Sequence[Path]) -> tuple[Block, ...]:
    """The files of a question from the command line; requests get them from this process's memory.

    Raises:
        FileError: one cannot be read or attached, or there are too many of them, or too many bytes.
    """
    if len(files) > MOST_ATTACHMENTS:
        raise FileError(f"there are {len(files):,} files; a question may have at most {MOST_ATTACHMENTS}")
    data: dict[str, bytes] = {}
    blocks: list[Block] = []
    for file in files:
        try:
            with file.open("rb") as stream:
                content = stream.read(LARGEST + 1)
        except OSError as error:
            raise FileError(f"{file.name!r} cannot be read: {error.strerror}") from None
        blocks.append(block := checked_file(content, file.name))
        data[block["id"]] = content
    if (size := sum(map(len, data.values()))) > MOST_BYTES:
        raise FileError(f"the files have {size:,} bytes; at most {MOST_BYTES:,} go with a question")

    async def kept(ids: Collection[str]) -> Mapping[str, bytes]:
        return {each: data[each] for each in ids}

    if isinstance(complete := oracle.equipment.hooks.complete, Completion):
        complete.read = kept
    return tuple(blocks)
