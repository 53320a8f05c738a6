"""The names of tools on the provider's wire: letters, digits, `_` and `-` alone, 64 at most.

Rules:

- A name that the wire takes is itself there; `server.tool` is `server__tool`, if that fits and can be read back.
- Any other name is what can be kept of it, and a digest; so is one that looks like one of the forms above.
- So no two names are one on the wire, and a name is the same there whatever other tools there are.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Final

LONGEST: Final = 64

_TAKEN: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PART: Final = r"([A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*)"
_OF_SERVER: Final = re.compile(rf"{_PART}\.(?!x[0-9a-f]{{16}}$){_PART}")
_JOINED: Final = re.compile(rf"{_PART}__(?!x[0-9a-f]{{16}}$){_PART}")
_SHORTENED: Final = re.compile(r".*__x[0-9a-f]{16}")
_NOT_KEPT: Final = re.compile(r"[^A-Za-z0-9-]+")
_KEPT: Final = 40


@lru_cache(maxsize=4096)
def wire_name(name: str) -> str:
    """The name of a tool on the wire."""
    parts = _OF_SERVER.fullmatch(name)
    if parts is not None and len(name) < LONGEST:
        return f"{parts[1]}__{parts[2]}"
    if _TAKEN.fullmatch(name) and not _JOINED.fullmatch(name) and not _SHORTENED.fullmatch(name):
        return name
    digest = blake2b(name.encode(errors="replace"), digest_size=8).hexdigest()
    return f"{_NOT_KEPT.sub('_', name)[:_KEPT]}__x{digest}"


def own_names(offered: Iterable[str]) -> Mapping[str, str]:
    """The names of offered tools by those on the wire, where they differ."""
    return {written: name for name in offered if (written := wire_name(name)) != name}


def own_name(written: str, offered: Mapping[str, str]) -> str:
    """The name of the tool that the model has called; of one that is not offered as far as it can be read back."""
    found = offered.get(written)
    if found is not None:
        return found
    parts = _JOINED.fullmatch(written)
    return f"{parts[1]}.{parts[2]}" if parts is not None else written
