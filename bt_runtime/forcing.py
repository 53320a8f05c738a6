"""The name under which a forced result is delivered: that of no blackboard key, because those have no colon.

A forced result is an input of its tick, like a blackboard value from outside, so a replay repeats it.
"""

from typing import Literal

from bt_runtime.status import FAILURE, SUCCESS, Status

ForcedResult = Literal["success", "failure"]

_PREFIX = "force:"
_STATUSES = {"success": SUCCESS, "failure": FAILURE}


def forced_key(path: str) -> str:
    """The name under which the forced result of a node is delivered."""
    return _PREFIX + path


def forced_path(key: str) -> str | None:
    """The path of the node whose forced result has this name; `None` if it is the name of a blackboard key."""
    return key.removeprefix(_PREFIX) if key.startswith(_PREFIX) else None


def forced_status(result: object) -> Status | None:
    """The status behind a forced result; `None` if it is none."""
    return _STATUSES.get(result) if isinstance(result, str) else None
