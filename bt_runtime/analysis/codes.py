"""The codes of all mistakes and warnings, which `docs/checks.md` explains, and comments that take a warning back.

    - llm_turn   # silence no-deadline: the provider's adapter has its own timeout
    # silence dead-code, stop-ignored: kept for the next experiment
    - stop: stuck

A silence stands on the warning's line, or alone on a line above it; several such lines may follow each other. It needs
a reason. Only warnings can be silenced. What is inside of a scalar is text and no comment, so comments are found
between the tokens of the file. Of a file with more than a thousand silences the others have no effect.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping

import yaml

from bt_runtime.text import Edit, Fix, Mistake, Place, Severity, brief, closest
from bt_runtime.text.data import dataclass
from bt_runtime.text.mistakes import LINE_BREAK
from bt_runtime.text.yaml_reader import LOADER


@dataclass(frozen=True, slots=True)
class Code:
    """A code of mistakes.

    Args:
        name: lower case with hyphens; stable.
        summary: what it means, in one line.
        fix: why it matters, and what to change.
        severity: an error keeps a tree from running; only warnings can be silenced.
    """

    name: str
    summary: str
    fix: str
    severity: Severity = "warning"


def by_name(codes: Iterable[Code]) -> Mapping[str, Code]:
    """The codes by their names."""
    return {code.name: code for code in codes}


ERRORS: tuple[Code, ...] = (
    Code(
        "invalid",
        "The file is not a valid tree.",
        "The message names the place, the problem and what is valid there.",
        "error",
    ),
    Code(
        "unknown-kind",
        "No node kind has this name.",
        "Use the name that the hint suggests, or look it up in the node reference.",
        "error",
    ),
    Code(
        "unknown-setting",
        "The node kind has no setting of this name.",
        "Use the name that the hint suggests, or look up the kind in the node reference.",
        "error",
    ),
    Code(
        "missing-setting",
        "The node lacks a required setting or child.",
        "Add it. The node reference marks the required settings of each kind.",
        "error",
    ),
    Code(
        "wrong-value",
        "The value is not valid for this setting.",
        "Use one of the values that the message lists.",
        "error",
    ),
    Code(
        "duplicate-name",
        "Two siblings have the same name.",
        "Rename one of them. A node's path is made of names, so names must be unique among siblings.",
        "error",
    ),
    Code(
        "unknown-key",
        "No blackboard key has this name.",
        "Correct the name, or declare the key under `blackboard:`.",
        "error",
    ),
    Code(
        "read-only-key",
        "The tree writes a key that only the program may write.",
        "Declare a key of your own under `blackboard:` and write that.",
        "error",
    ),
    Code(
        "wrong-expression",
        "The expression has a syntax error or uses an unknown name.",
        "Correct the expression at the column that the message gives.",
        "error",
    ),
    Code(
        "unknown-action",
        "The program has no action, or tool, of this name.",
        "Correct the name, or configure the tool in the service.",
        "error",
    ),
    Code(
        "wrong-argument",
        "A call or a subtree has an argument missing or one that it does not accept.",
        "Pass the arguments that the message lists.",
        "error",
    ),
    Code(
        "unknown-tree",
        "No tree has this name.",
        "Correct the name. The tree `NAME` is read from the file `NAME.yaml`.",
        "error",
    ),
    Code(
        "unknown-parameter",
        "The tree uses `${…}` with a parameter that it does not declare.",
        "Declare the parameter under `parameters:`, or correct the name.",
        "error",
    ),
)

SILENCES: tuple[Code, ...] = (
    Code(
        "silence-without-reason",
        "A `# silence` comment gives no reason, so it has no effect.",
        "Add the reason after a colon: `# silence CODE: why this is right here`.",
    ),
    Code(
        "unknown-code",
        "A `# silence` comment names a code that does not exist.",
        "Correct the code, or remove the comment.",
    ),
    Code(
        "unused-silence",
        "A `# silence` comment names a warning that does not occur on its line.",
        "Remove the comment. It could hide a later mistake.",
    ),
)

NOT_JUDGED = Code(
    "not-judged",
    "The tree has too many states to be analyzed, so it gets no other warnings.",
    "Move parts of it to files of their own (`internal: true`). Each file is analyzed separately.",
)

BASIC: tuple[Code, ...] = (*ERRORS, *SILENCES, NOT_JUDGED)
"""The codes of the reader and of silences; each check declares its own."""


_WORD = "silence"
_COMMENT = re.compile(r"(?:^|(?<=[ \t\n\r\x85\u2028\u2029]))#[ \t]*silence[ \t]+(?P<rest>[^\n\r\x85\u2028\u2029]*)")
_CODES = re.compile(r"[a-z][a-z0-9-]*(?:[ \t]*,[ \t]*[a-z][a-z0-9-]*)*")
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_ONLY_COMMENT = re.compile(r"[ \t]*#")
_MOST = 1_000


@dataclass(frozen=True, slots=True)
class SilenceComment:
    """One code in one comment.

    Args:
        place: of the code in the comment.
        line: the line whose warnings it silences.
        reason: as written; empty if there is none.
        edit: removes the comment.
    """

    code: str
    place: Place
    line: int
    reason: str
    edit: Edit


def silences_in(text: str, *, file: str, known: Collection[str]) -> tuple[SilenceComment, ...]:
    """The silences of a file that is valid YAML, in its order.

    A comment that continues as prose ("silence is golden") does not count, unless it names a known code.
    """
    if _WORD not in text:
        return ()
    scalars = _scalar_spans(text)
    begins = [start for start, _ in scalars]
    lines = _Lines(text)
    found: list[SilenceComment] = []
    for match in _COMMENT.finditer(text):
        before = bisect_right(begins, match.start())
        if not before or match.start() >= scalars[before - 1][1]:
            found += _read(match, lines, file=file, known=known)
        if len(found) >= _MOST:
            break
    return tuple(found[:_MOST])


class _Lines:
    """The lines of a text, and for each one the line whose warnings a comment in it silences."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in LINE_BREAK.finditer(text))]
        self.texts = LINE_BREAK.split(text)
        self.silenced = [number + 1 for number in range(len(self.texts) + 1)]
        for number in range(len(self.texts) - 1, -1, -1):
            if _ONLY_COMMENT.match(self.texts[number]):
                self.silenced[number] = self.silenced[number + 1]


def _scalar_spans(text: str) -> list[tuple[int, int]]:
    """Where scalars begin and end, in characters; without the header of a block scalar, which can have a comment."""
    spans: list[tuple[int, int]] = []
    for token in yaml.scan(text, Loader=LOADER):
        if isinstance(token, yaml.ScalarToken):
            start, end = token.start_mark.index, token.end_mark.index
            if token.style in {"|", ">"}:
                start = text.find("\n", start, end)
                start = end if start < 0 else start
            spans.append((start, end))
    return spans


def _read(match: "re.Match[str]", lines: _Lines, *, file: str, known: Collection[str]) -> Iterator[SilenceComment]:
    rest = match["rest"]
    codes = _CODES.match(rest)
    if codes is None:
        return
    behind = rest[codes.end() :].lstrip()
    names = list(_NAME.finditer(codes[0]))
    if behind and not behind.startswith(":") and names[0][0] not in known:
        return  # prose
    line = bisect_right(lines.starts, match.start())
    column = match.start() - lines.starts[line - 1] + 1
    reason = behind[1:].strip() if behind.startswith(":") else ""
    edit = _removal(lines.texts, line, column, file)
    for name in names:
        at = Place(file, line, column + match.start("rest") - match.start() + name.start())
        yield SilenceComment(name[0], at, lines.silenced[line - 1], reason, edit)


def _removal(lines: list[str], line: int, column: int, file: str) -> Edit:
    written = lines[line - 1]
    if _ONLY_COMMENT.match(written):
        return Edit(Place(file, line), Place(file, line + 1), "")
    before = len(written[: column - 1].rstrip())
    return Edit(Place(file, line, before + 1), Place(file, line, len(written) + 1), "")


@dataclass(frozen=True, slots=True)
class Judged:
    """Warnings after the silences.

    Args:
        warnings: those that remain, and what is wrong with silences.
        used: the places of the silences that have silenced something.
    """

    warnings: tuple[Mistake, ...]
    used: frozenset[Place] = frozenset()


def silenced(
    warnings: Iterable[Mistake], silences: Iterable[SilenceComment], *, known: Mapping[str, Code], own_file: str
) -> Judged:
    """Take back the warnings that a silence with a reason names.

    Args:
        warnings: of one tree with its subtrees.
        silences: of the files of that tree.
        known: all codes.
        own_file: the tree's own file; whether the silences of other files are used is judged where those are checked.
    """
    by_line: dict[tuple[str, int, str], list[SilenceComment]] = {}
    silences = tuple(silences)
    for silence in silences:
        by_line.setdefault((silence.place.file, silence.line, silence.code), []).append(silence)
    left: list[Mistake] = []
    used: set[Place] = set()
    for warning in warnings:
        fitting = by_line.get((warning.place.file, warning.place.line, warning.code), ())
        used.update(silence.place for silence in fitting)
        if not any(silence.reason for silence in fitting):
            left.append(warning)
    for silence in silences:
        left += _complaints(silence, known, is_used=silence.place in used or silence.place.file != own_file)
    return Judged(tuple(left), frozenset(used))


def _complaints(silence: SilenceComment, known: Mapping[str, Code], *, is_used: bool) -> Iterator[Mistake]:
    code = known.get(silence.code)
    end = Place(silence.place.file, silence.place.line, silence.place.column + len(silence.code))
    removal = Fix("Remove the silence", (silence.edit,))
    if code is None:
        nearest = closest(silence.code, known)
        hint = f"did you mean {nearest!r}?" if nearest else "docs/checks.md lists all codes"
        fixes: tuple[Fix, ...] = (removal,)
        if nearest:
            fixes = (Fix(f"Replace {silence.code!r} by {nearest!r}", (Edit(silence.place, end, nearest),)), removal)
        yield _complaint(silence, "unknown-code", f"there is no warning {brief(silence.code)}", hint, end, fixes)
    elif code.severity == "error":
        message = f"{silence.code!r} is an error, and only warnings can be silenced"
        yield _complaint(silence, "unused-silence", message, "remove the comment", end, (removal,))
    elif not silence.reason:
        message = f"the silence of {silence.code!r} has no reason, and has no effect"
        hint = f"write '# silence {silence.code}: why it is right here'"
        yield _complaint(silence, "silence-without-reason", message, hint, end, ())
    elif not is_used:
        message = f"there is no warning {silence.code!r} on line {silence.line}"
        yield _complaint(silence, "unused-silence", message, "remove the comment", end, (removal,))


def _complaint(
    silence: SilenceComment, code: str, message: str, hint: str | None, end: Place, fixes: tuple[Fix, ...]
) -> Mistake:
    return Mistake(silence.place, message, hint, None, code, "warning", end, fixes)
