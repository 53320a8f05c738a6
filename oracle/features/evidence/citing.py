"""Finds what an answer cites that is not in what was read: paths, lines and quotations.

A path is no citation in a sentence that proposes it, denies it, or names it as an example.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from oracle.features.evidence.paths import Mention, mentions, normal
from oracle.features.evidence.prose import Sentence, block_quotes, quotations
from oracle.features.evidence.record import Done, plain_words
from oracle.features.evidence.words import says

_IDENTIFIER: Final = re.compile(r"`([A-Za-z_][\w.]{3,80})(?:\([^`\n]{0,80}\))?`")
_ADDRESS: Final = re.compile(r"\]\((https?://[^\s()<>#]{4,300})")
_NEAR: Final = 25
"""Characters between a path and a quotation of its file."""
_SHORTEST: Final = 10
"""Characters of a quotation."""
_ITEMS: Final = ("- ", "* ", "+ ", "|", *"0123456789")
_NO_WORDS: Final = "these words are not in what was read"


def cited(
    text: str, listed: Sequence[Sentence], done: Done
) -> Iterator[tuple[Literal["citation", "quotation"], Sentence, str]]:
    """The citations without a match: kind, sentence, and what is missing.

    Args:
        text: the answer, tidied.
        listed: its sentences.
        done: the run.
    """
    starts = [each.start for each in listed]
    intro = ""
    for at, sentence in enumerate(listed):
        is_item = sentence.text.startswith(_ITEMS)
        intro = intro if is_item else sentence.plain
        found, is_modal = mentions(sentence.text), says("modal", sentence.plain)
        is_admitted = says("unread", "".join(each.plain for each in listed[at : at + 2]))
        reasons = (_not_there(each, sentence, done, is_modal=is_modal, is_admitted=is_admitted) for each in found)
        if reason := next(filter(None, reasons), "") or _no_address(sentence, done):
            yield "citation", sentence, reason
        elif not (is_item and says("modal", intro)) and _lacks_quotation(sentence, found, done):
            yield "quotation", sentence, _NO_WORDS
    for start, quoted, above in block_quotes(text):
        if (
            listed
            and len(quoted) >= 2 * _SHORTEST
            and above.rstrip(" *_").endswith(":")
            and _is_attributed(above)
            and not says("letter", quoted)
            and not _holds(quoted, done)
        ):
            yield "quotation", listed[min(bisect_left(starts, start), len(listed) - 1)], _NO_WORDS


def _not_there(each: Mention, sentence: Sentence, done: Done, *, is_modal: bool, is_admitted: bool) -> str:
    """What of a mentioned path is missing; empty if nothing is."""
    path, plain = each.path, sentence.plain
    before, behind = plain[: each.start], plain[each.end :]
    if each.is_outside or plain[each.start : each.end].startswith("~"):
        return ""
    if (says("denied", before[-70:]) and not each.lines) or says("denied_behind", behind):
        return ""
    shown, is_link = done.lines_of(path), before.endswith("](")
    if path not in done.paths:
        is_asked = says("imperative", plain) or plain.rstrip().endswith("?") or path.endswith("/")
        is_new = ((is_modal or is_admitted) and not says("found_there", before[-70:])) or says("proposed", before[-40:])
        is_used = (
            each.lines or is_link or says("asserts", before[-30:]) or says("says_it", behind) or says("is_told", behind)
        )
        is_claim = is_used and (each.lines or not (is_asked or is_new))
        is_claim = is_claim and (each.lines or not done.paths.has_name(path))
        return f"{path!r} occurs in nothing that was read" if is_claim and (done.calls or each.lines) else ""
    is_said = plain_words(normal(path)) in done.told
    if each.lines and (done.calls or shown):
        if shown is None:
            return "" if is_said else f"no line of {path!r} was shown"
        return "" if _are_shown(each.lines, shown) else f"line {each.lines[0]} of {path!r} was not shown"
    is_read = path in done.opened or shown is not None or is_said
    is_told = says("says_it", behind) or (says("tells", behind[:40]) and _IDENTIFIER.search(plain))
    is_open = is_admitted or (is_modal and says("modal", before))
    return f"{path!r} was not read" if not is_read and not is_open and is_told else ""


def _are_shown(lines: tuple[int, int], shown: set[int]) -> bool:
    """Whether the first and the last of the cited lines were shown, or the line beside one."""
    return all(not shown.isdisjoint((line - 1, line, line + 1)) for line in lines)


def _no_address(sentence: Sentence, done: Done) -> str:
    """A linked address of the web that neither a search nor the user has named; empty if the web was not asked."""
    links = _ADDRESS.findall(sentence.text) if any(call.can("web_tools") for call in done.calls) else []
    lost = next((link for link in links if link.casefold().rstrip("/.,") not in done.raw), "")
    return f"{lost!r} occurs in nothing that was read" if lost else ""


def _lacks_quotation(sentence: Sentence, found: list[Mention], done: Done) -> bool:
    """Whether a quotation that is attributed to a source was not read."""
    plain = sentence.plain
    if not (done.calls or any(done.attached.values())) or says("imperative", plain) or says("own_words", plain):
        return False
    held = []
    for start, quoted in quotations(sentence.text):
        before, behind = plain[max(0, start - 120) : start], plain[start + len(quoted) + 2 :][:60]
        above = sentence.above[-80:] if not before.strip(" -*") else ""
        if len(quoted) < _SHORTEST or " " not in quoted.strip() or says("no_quote", before):
            continue
        if found or any(map(_is_attributed, (before, behind, above))):
            held.append(_holds(quoted, done, _of(found, start)))
    is_row = plain.startswith("|")  # it may compare what a file says with what it should say
    return bool(held) and not (any(held) if is_row else all(held))


def _of(found: list[Mention], start: int) -> list[Mention]:
    """The file that a quotation at a place is said to be of: the only one of its sentence, right before it."""
    return [each for each in found if 0 <= start - each.end < _NEAR] if len(found) == 1 else []


def _is_attributed(text: str) -> bool:
    return bool(mentions(text)) or (not text.startswith("#") and says("attributed", text))


def _holds(quoted: str, done: Done, found: Sequence[Mention] = ()) -> bool:
    """Whether each part of a quotation was read: of the files that are named with it, if their texts are known.

    Parts are separated by dots or by insertions in brackets.
    """
    texts = [done.text_of(each.path) for each in found]
    text = " ".join(texts) if texts and all(texts) else done.haystack
    parts = [plain_words(each).strip(" .,;:!?-") for each in re.split(r"\.{3}|…|\[[^\]]{0,80}\]", quoted)]
    return all(len(part) < 4 or part in text for part in parts)
