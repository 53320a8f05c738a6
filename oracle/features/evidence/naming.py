"""What the object of a claim names: files, threads and tickets by their names, and how many."""

import re
from collections.abc import Iterable
from typing import Final

from oracle.features.evidence.deeds import Claim
from oracle.features.evidence.paths import Mention, mentions, normal
from oracle.features.evidence.record import Call
from oracle.features.evidence.words import ENGLISH, says

_NUMBERS: Final = {word: at for at, word in enumerate(ENGLISH["numbers"].split(), start=2)} | {"both": 2}
_COUNTED: Final = re.compile(
    rf"\b(?P<number>{'|'.join(_NUMBERS)}|\d{{1,3}})\s+(?:[\w-]+\s+){{0,2}}?"
    r"(?:files|notes|modules|threads|documents|pages|entries|tickets|e?mails|messages)\b"
    rf"|\ball\s+(?:of\s+(?:the\s+)?)?(?P<all>{'|'.join(_NUMBERS)}|\d{{1,3}})\b"
)
_NAMED: Final = re.compile(
    r"\b(?:thread|note|channel|branch|page|ticket|issue|list)s?\s+(?:called\s+|named\s+)?"
    r"(?:[`*\"]{1,3}(?P<name>[^`*\"\n]{1,80})[`*\"]|#?(?P<number>[A-Z]{0,6}-?\d{1,7})\b)"
    r"|[`*\"]{1,3}(?P<before>[\w #.+-]{2,60})[`*\"]{1,3}\s+(?:thread|note|channel|branch|list)\b"
    r"|(?<![\w/.])(?P<id>#\d{1,7}|[A-Z]{2,8}-\d{1,6})\b",
    re.IGNORECASE,
)


def targets(claim: Claim) -> list[Mention]:
    """The paths of a claim that its verb is about; of a write, not those that are named as sources."""
    found = [each for each in mentions(claim.text) if not each.is_outside]
    is_write = claim.deed in ("write", "remove", "send", "close")
    return [each for each in found if not (is_write and says("source", claim.text[: each.start]))]


_INTO: Final = re.compile(r"\b(?:to|into|in|under|as|at)\s+(?:the\s+)?(?:`([^`\n]{2,80})`|\*\*([^*\n]{2,80})\*\*)")
_CODE: Final = re.compile(r"`([^`\n]{2,80})`")


def codes(text: str) -> list[str]:
    """The names that stand as code in a text, but for paths."""
    return [name for name in _CODE.findall(text) if not mentions(f"`{name}`")]


def places(claim: Claim) -> list[str]:
    """The names of things into which something is said to be written, but for paths."""
    found = [a or b for a, b in _INTO.findall(claim.text)]
    return [name for name in found if not mentions(f"`{name}`")]


def names_path(call: Call, path: str) -> bool:
    """Whether a call that changes something names a path in other ways than by an argument `path`."""
    name = normal(path)
    is_run = call.can("running_tools") and name.rpartition("/")[2] in call.given
    return is_run or name in call.given or name in call.result[:5_000].casefold()


def other_name(claim: Claim, calls: Iterable[Call]) -> str:
    """A thread, note or ticket that the claim names and no such call has; empty if there is none."""
    for found in _NAMED.finditer(claim.text):
        name = str(next(filter(None, found.groups())))
        wanted = re.sub(r"[^a-z0-9]+", "", name.casefold())
        texts = [call.given + call.result[:5_000].casefold() for call in calls]
        is_there = (
            any(re.search(rf"(?<!\d){wanted}(?!\d)", text) for text in texts)
            if wanted.isdigit()
            else any(wanted in re.sub(r"[^a-z0-9]+", "", text) for text in texts)
        )
        if wanted and not mentions(name) and not is_there:
            return name
    return ""


def number_in(text: str, *, alone: bool = False) -> int:
    """How many files, notes or entries a text counts; 0 if it counts none.

    Args:
        text: the object of a verb.
        alone: `all five` counts as well, without a noun.
    """
    found = _COUNTED.search(text)
    number = found and (found["number"] or (found["all"] if alone else None))
    return _NUMBERS.get(number) or int(number) if number else 0
