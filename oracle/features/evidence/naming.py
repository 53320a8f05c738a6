"""What a statement names: files, names in code, numbers, people and places, and how many."""

import re
from collections.abc import Iterator
from typing import Final

from oracle.features.evidence.deeds import Claim
from oracle.features.evidence.paths import Mention, mentions, normal
from oracle.features.evidence.record import Call, Known, numbers, plain_words
from oracle.features.evidence.words import ENGLISH, says, words

_NUMBERS: Final = {word: at for at, word in enumerate(ENGLISH["numbers"].split(), start=2)} | {"both": 2}
_COUNT: Final = re.compile(
    rf"\b(?P<each>(?:all|each|every one|both)\s+(?:of\s+)?(?:the\s+|my\s+|your\s+)?)?"
    rf"\b(?P<number>{'|'.join(_NUMBERS)}|\d{{1,3}})\b(?=(?P<noun>(?:\s+[a-z-]+){{0,3}}))"
)
_CODE: Final = re.compile(r"`([^`\n]{2,80})`")
_CAPITALS: Final = re.compile(r"(?<=[a-z,)`] )[A-Z][\w-]+(?: [A-Z][\w-]+)*|[\w.+-]{1,60}@[\w.-]{1,60}\w")
_NUMBER: Final = re.compile(r"(?<![\w.,`~])#?\d[\d.,:/-]*|(?<![\w/.])[A-Z]{2,8}-\d+\b")
_PATHS: Final = re.compile(r"(?<![\w./-])[\w-]*[./][\w./-]*\w")
_SMALLEST: Final = 13
"""Smaller numbers count things; larger ones are dates, amounts and identifiers."""


def targets(claim: Claim) -> list[Mention]:
    """The paths of a claim that its verb is about; of a write, not those that are named as sources."""
    found = [each for each in mentions(claim.text) if not each.is_outside]
    is_write = claim.deed in ("write", "remove", "send", "close")
    return [each for each in found if not (is_write and says("source", claim.text[: each.start]))]


def codes(text: str) -> Iterator[str]:
    """The names that stand as code in a text, but for paths and for those that are named beside the point."""
    for found in _CODE.finditer(text):
        if not mentions(found[0]) and not says("aside", text[: found.start()]):
            yield found[1]


def foreign(text: str, known: Known, *, has_numbers: bool = True) -> str:
    """A name in code, a number, or the name of a person or place that a text has and a known one has not; or nothing.

    Args:
        text: the object of a verb, as it stands in the sentence.
        known: what it should have been taken from, in lower case.
        has_numbers: numbers count.
    """
    for name in codes(text):
        if name.casefold() not in known and plain_words(name) not in known.plain:
            return name
    for found in _NUMBER.finditer(text) if has_numbers else ():
        wanted = [each for each in numbers(found[0]) if len(each) > 2 or int(each) >= _SMALLEST or found[0][0] == "#"]
        if not says("aside", text[: found.start()]) and not known.numbers.issuperset(wanted):
            return found[0]
    for found in _CAPITALS.finditer(text):
        parts = [part for part in re.split(r"[\s-]+", found[0].casefold()) if part not in words("capitals")]
        is_known = any(part.removesuffix("'s") in known for part in parts)
        if parts and not is_known and not says("aside", text[: found.start()]):
            return found[0]
    return ""


def content(text: str) -> list[str]:
    """The stems of the words of a text that say what it is about."""
    found = re.findall(r"[^\W\d_]{4,}", _PATHS.sub(" ", text.casefold()))
    return [word[:5] for word in found if word not in words("weak") and not word.endswith("ly")]


def names_path(call: Call, path: str) -> bool:
    """Whether a call names a path in other ways than by an argument `path`."""
    name = normal(path)
    is_run = call.can("running_tools") and name.rpartition("/")[2] in call.given
    return is_run or name in call.given or name in call.result[:5_000].casefold()


def number_in(text: str) -> int:
    """How many things a text says were read, written or sent; 0 if it counts none.

    `all five` counts anything; `five notes` only what is read, written or sent as a whole.
    """
    for found in _COUNT.finditer(text):
        behind = found["noun"].split()
        is_whole = any(word in words("countable") for word in behind)
        if is_whole or (
            (found["each"] or found["number"] == "both") and not any(word in words("uncounted") for word in behind)
        ):
            return _NUMBERS.get(found["number"]) or int(found["number"])
    return 0
