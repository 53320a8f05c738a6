from datetime import UTC, datetime, timedelta, timezone

import pytest

from bt_runtime.text import iso

MOMENT = datetime(2026, 11, 22, 9, 30, 0, 999_999, UTC)


@pytest.mark.parametrize(
    "at",
    [
        pytest.param(MOMENT, id="UTC"),
        pytest.param(MOMENT.replace(tzinfo=None), id="no zone"),
        pytest.param(MOMENT.astimezone(timezone(timedelta(hours=2))), id="another zone"),
        pytest.param(MOMENT.timestamp(), id="seconds since the epoch"),
    ],
)
def test_a_time_is_written_in_utc(at):
    assert iso(at) == "2026-11-22T09:30:00.999Z"
    assert iso(at, precision="seconds") == "2026-11-22T09:30:00Z"
