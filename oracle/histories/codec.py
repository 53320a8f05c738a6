"""Histories as JSON: the form of exports, and of what the HTTP API returns."""

from typing import Any

from pydantic import TypeAdapter, ValidationError

from oracle.encoding import from_json, to_json
from oracle.errors import UserError
from oracle.histories.model import FORMAT, VERSION, History

_HISTORY: TypeAdapter[History] = TypeAdapter(History)


class DamagedHistoryError(UserError):
    """A text is no history of a run; the message says why."""


def history_to_json(history: History) -> bytes:
    """The history as a JSON object."""
    return to_json(plain(history))


def plain(data: Any) -> Any:  # noqa: ANN401  any part of a history
    """Any part of a history as JSON data."""
    return _ANY.dump_python(data, mode="json", warnings=False)


_ANY: TypeAdapter[Any] = TypeAdapter(Any)


def history_from_json(data: bytes | str) -> History:
    """The history behind `history_to_json`'s JSON.

    Raises:
        DamagedHistoryError: it is something else, or of another version of the format.
    """
    try:
        found = from_json(data)
    except ValueError:
        raise DamagedHistoryError("this is not JSON; a file that `oracle runs export RUN` has written is") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DamagedHistoryError("this is not an exported run; `oracle runs export RUN` makes one")
    if found.get("version") != VERSION:
        message = f"this export has version {found.get('version')!r} of the format, and only version {VERSION} is known"
        raise DamagedHistoryError(message)
    try:
        return _HISTORY.validate_python(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DamagedHistoryError(f"the export is damaged at {where or 'its beginning'}: {first['msg']}") from None
