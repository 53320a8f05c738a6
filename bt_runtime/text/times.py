"""Times as text."""

from datetime import UTC, datetime
from typing import Literal


def iso(at: float | datetime, *, precision: Literal["seconds", "milliseconds"] = "milliseconds") -> str:
    """A time as ISO 8601 in UTC: `2026-11-22T09:30:00.000Z`.

    Args:
        at: seconds since the epoch, or a datetime; one without a zone is taken as UTC.
        precision: the smallest unit shown; smaller ones are cut off.
    """
    if not isinstance(at, datetime):
        at = datetime.fromtimestamp(at, UTC)
    moment = at.astimezone(UTC) if at.tzinfo else at
    return moment.replace(tzinfo=None).isoformat(timespec=precision) + "Z"
