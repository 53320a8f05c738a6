"""Parts of trees as clients get them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from bt_runtime import Mistake
from oracle.service.errors import bounded

_LONGEST_MESSAGE: Final = 1_000


def mistake_bodies(mistakes: Iterable[Mistake]) -> list[dict[str, Any]]:
    """The mistakes; of a file the name alone."""
    return [
        {
            "file": Path(mistake.place.file).name,
            **mistake.to_json(),
            "message": bounded(mistake.message, most=_LONGEST_MESSAGE),
        }
        for mistake in mistakes
    ]
