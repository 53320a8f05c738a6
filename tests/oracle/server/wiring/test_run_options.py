"""What the settings of retention mean for runs."""

import pytest

from oracle.server.settings.fields import Settings
from oracle.server.wiring.service import run_options

DAY_S = 24 * 3600


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, (30 * DAY_S, None, None)),
        ({"retain_days": 0, "retain_mb": 2}, (None, 2_000_000, None)),
        ({"retain_texts_days": 7}, (30 * DAY_S, None, 7 * DAY_S)),
        ({"retain_texts_days": 0}, (30 * DAY_S, None, 0)),
    ],
    ids=["defaults", "by size", "texts go first", "no texts"],
)
def test_days_become_seconds(settings: dict[str, int], expected: tuple[float | None, int | None, float | None]) -> None:
    options = run_options(Settings(**settings))  # type: ignore[arg-type]
    assert (options.retain_s, options.retain_bytes, options.retain_texts_s) == expected
