"""The tool double: reading and writing tools, with a ledger on disk of what they did.

`note_keyed` writes once for each call of a run, however often it is made; `note_plain` cannot tell, and writes each
time; `deadly` kills its process. The file that `DURABLE_LEDGER` names gets a line of JSON for each begin and each
effect, appended in one write, so that a kill leaves whole lines.
"""

import asyncio
import fcntl
import json
import os
import signal
import time
from pathlib import Path
from typing import Annotated

from oracle.tools import call_key, tool
from tests.durable.answers import result_of

_LEDGER = Path(os.environ["DURABLE_LEDGER"])
_TAKES_S = float(os.environ.get("DURABLE_TAKES_S", "0.05"))
Key = Annotated[str, "Of the call."]


def _append(**entry: object) -> None:
    with _LEDGER.open("ab", buffering=0) as file:
        file.write(json.dumps({**entry, "pid": os.getpid(), "at": time.time()}).encode() + b"\n")


def _write_once(key: str) -> None:
    """Write, unless a call of the same run and id has written before."""
    of = call_key()
    assert of is not None
    named = f"{of.run_id}:{of.call_id}"
    with _LEDGER.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        has_it = f'"effect", "call": "{named}"'.encode() in _LEDGER.read_bytes()
        _append(did="repeat" if has_it else "effect", call=named, key=key, tool="note_keyed")


@tool(group="shelf", when_to_use="To read from the shelf.", query_types="always")
async def shelf_read(key: Key) -> str:
    """Read from the shelf. Returns what stands there."""
    _append(did="read", key=key, tool="shelf_read")
    await asyncio.sleep(_TAKES_S)
    return f"On the shelf stands {key}."


@tool(group="shelf", when_to_use="To read slowly.", query_types="always")
async def shelf_slow(key: Key) -> str:
    """Read from a slow shelf. Returns what stands there."""
    _append(did="read", key=key, tool="shelf_slow")
    await asyncio.sleep(40 * _TAKES_S)
    return f"On the slow shelf stands {key}."


@tool(group="shelf", when_to_use="To read from the empty shelf.", query_types="always")
async def shelf_empty(key: Key) -> str:
    """Read from the empty shelf. Returns nothing."""
    _append(did="read", key=key, tool="shelf_empty")
    await asyncio.sleep(_TAKES_S)
    return "Nothing was found."


@tool(group="shelf", when_to_use="To write a note once.", writes=True, takes_key=True)
async def note_keyed(key: Key, text: Annotated[str, "The note."]) -> str:
    """Write a note, once for each key. Returns that it is written."""
    _append(did="begin", key=key, tool="note_keyed")
    await asyncio.sleep(_TAKES_S)
    _write_once(key)
    await asyncio.sleep(_TAKES_S)
    return result_of(key)


@tool(group="shelf", when_to_use="To write a note.", writes=True)
async def note_plain(key: Key, text: Annotated[str, "The note."]) -> str:
    """Write a note. Returns that it is written."""
    _append(did="begin", key=key, tool="note_plain")
    await asyncio.sleep(_TAKES_S)
    _append(did="effect", key=key, tool="note_plain")
    await asyncio.sleep(_TAKES_S)
    return result_of(key)


@tool(group="shelf", when_to_use="To end it all.", query_types="always")
async def deadly(key: Key) -> str:
    """Kill the process that calls it."""
    _append(did="kill", key=key, tool="deadly")
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


tools = [shelf_read, shelf_slow, shelf_empty, note_keyed, note_plain, deadly]
