"""A vault for each user: folders below one, and the tools over them."""

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from oracle.tools import ToolRegistry

MOST_KEPT: Final = 200
"""Users whose search index stays in memory when they have no query under way."""

_PLAIN = re.compile(rb"[a-z0-9_-]")
_LONGEST_NAME = 120


def folder_name(user_id: str) -> str:
    """The name of a user's folder: never another user's, also where a file system ignores case.

    `anna` is `anna`, `Anna@x` is `%41nna%40x`, and a long one is `=` and a digest.
    """
    data = user_id.encode("utf-8", errors="surrogatepass")
    name = "".join(chr(byte) if _PLAIN.match(bytes([byte])) else f"%{byte:02x}" for byte in data)
    return name if 0 < len(name) <= _LONGEST_NAME else f"={hashlib.sha256(data).hexdigest()}"


class UserTools:
    """The tools of each user.

    Args:
        vaults: the folder of the users' folders.
        make: makes the tools over a vault's folder.
        most_kept: users whose tools are kept ready.
    """

    def __init__(self, vaults: Path, *, make: Callable[[Path], ToolRegistry], most_kept: int = MOST_KEPT) -> None:
        self._vaults = vaults
        self._make = make
        self._most_kept = most_kept
        self._recent: OrderedDict[str, ToolRegistry] = OrderedDict()
        # Who still has a query under way is found here, kept or not: one vault has one index.
        self._alive: WeakValueDictionary[str, ToolRegistry] = WeakValueDictionary()

    def of(self, user_id: str) -> ToolRegistry:
        """The tools of a user.

        Raises:
            ToolSetupError: the user's folder cannot be used.
        """
        found = self._alive.get(user_id)
        if found is None:
            found = self._alive[user_id] = self._make(self._vaults / folder_name(user_id))
        self._recent[user_id] = found
        self._recent.move_to_end(user_id)
        if len(self._recent) > self._most_kept:
            self._recent.popitem(last=False)
        return found
