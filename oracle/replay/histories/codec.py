"""Histories as JSON: the form of exports, and of what the HTTP API returns."""

from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from oracle.core.encoding import from_json, to_json
from oracle.replay.histories.foreign import DamagedHistoryError, check_depth, check_history, check_size
from oracle.replay.histories.model import FORMAT, VERSION, History
from oracle.replay.histories.view import add_view

_ANY: Final[TypeAdapter[Any]] = TypeAdapter(Any)
_LONGEST_PLACE: Final = 200


def history_to_json(history: History) -> bytes:
    """The history as a JSON object."""
    return to_json(plain(history))


def plain(data: Any) -> Any:  # noqa: ANN401  any part of a history
    """Any part of a history as JSON data."""
    return _ANY.dump_python(data, mode="json", warnings=False)


@cache
def _reader() -> TypeAdapter[History]:
    return TypeAdapter(History)  # slow to make, and of no use where nothing is imported


def history_from_json(data: bytes | str) -> History:
    """The history behind `history_to_json`'s JSON; `data` may be hostile.

    Raises:
        DamagedHistoryError: it is something else, or of another version of the format.
    """
    data = data.encode(errors="replace") if isinstance(data, str) else data
    check_size(data)
    try:
        found = from_json(data)
    except (ValueError, RecursionError):
        raise DamagedHistoryError("this is not JSON; a file that `oracle runs export RUN` has written is") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DamagedHistoryError("this is not an exported run; `oracle runs export RUN` makes one")
    if found.get("version") != VERSION or found["version"] is True:
        version = repr(found.get("version"))[:50]
        raise DamagedHistoryError(f"this export has version {version} of the format, and only {VERSION} is known")
    check_depth(found)
    del found  # a large part of the memory
    try:
        history = _reader().validate_json(data, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])[:_LONGEST_PLACE]
        raise DamagedHistoryError(f"the export is damaged at {where or 'its beginning'}: {first['msg']}") from None
    check_history(history)
    add_view(history)  # what the file says of that is not taken over
    return history
