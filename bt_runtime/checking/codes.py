"""The codes of all mistakes and warnings, in one place; `docs/checks.md` explains each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bt_runtime.text import Severity


@dataclass(frozen=True, slots=True)
class Code:
    """A code of mistakes.

    Args:
        name: lower case with hyphens; stable.
        summary: what it means, in one line.
        severity: an error keeps a tree from running; only warnings can be silenced.
    """

    name: str
    summary: str
    severity: Severity = "warning"


def by_name(codes: Iterable[Code]) -> Mapping[str, Code]:
    """The codes by their names."""
    return {code.name: code for code in codes}


ERRORS: tuple[Code, ...] = (Code("invalid", "The file is not a valid tree.", "error"),)

SILENCES: tuple[Code, ...] = (
    Code("silence-without-reason", "A silence does not say why."),
    Code("unknown-code", "A silence names a code that does not exist."),
    Code("unused-silence", "A silence names a warning that is not there."),
)

BASIC: tuple[Code, ...] = (*ERRORS, *SILENCES)
"""The codes of the reader and of silences; each check declares its own."""
