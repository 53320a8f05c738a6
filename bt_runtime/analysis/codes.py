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


ERRORS: tuple[Code, ...] = tuple(
    Code(name, summary, "error")
    for name, summary in (
        ("invalid", "The file is not a valid tree."),
        ("unknown-kind", "There is no node kind of that name."),
        ("unknown-setting", "A node has no setting of that name."),
        ("missing-setting", "A node lacks a setting or a child."),
        ("wrong-value", "A setting has a value that it cannot have."),
        ("duplicate-name", "Two siblings have one name."),
        ("unknown-key", "There is no blackboard key of that name."),
        ("read-only-key", "A tree writes a key that only the host writes."),
        ("wrong-expression", "An expression cannot be read, or names what does not exist."),
        ("unknown-action", "The host has no action of that name."),
        ("wrong-argument", "A call, or a subtree, lacks an argument or has one that it does not take."),
        ("unknown-tree", "There is no tree of that name."),
        ("unknown-parameter", "The tree has no parameter of that name."),
    )
)

SILENCES: tuple[Code, ...] = (
    Code("silence-without-reason", "A silence does not say why."),
    Code("unknown-code", "A silence names a code that does not exist."),
    Code("unused-silence", "A silence names a warning that is not there."),
)

NOT_JUDGED = Code("not-judged", "The tree is too large for its control to be judged.")

BASIC: tuple[Code, ...] = (*ERRORS, *SILENCES, NOT_JUDGED)
"""The codes of the reader and of silences; each check declares its own."""
