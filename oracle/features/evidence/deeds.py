"""Finds what an answer says that its author did: `I saved …`, `has been saved to …`, `All tests pass`.

No claims are: what was not done, will, could or should be done; conditions; questions; what `you` or others did; and
what stands in code blocks and quotations.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from oracle.features.evidence.prose import Sentence
from oracle.features.evidence.words import ENGLISH, VERBS, deed_of, says, words
from oracle.features.evidence.words import pattern as named

_BETWEEN: Final = r"(?P<between>(?:,?\s+[\w-]+,?){0,4}?)"
_SUBJECT: Final = re.compile(
    rf"\bI(?P<aux>'ve|\s+have|\s+had|\s+did)?{_BETWEEN}\s+(?P<verb>{VERBS}|{'|'.join(ENGLISH['bases'])})\b(?!['-])"
)
_NEXT: Final = re.compile(rf"(?:,|;|,?\s+(?:and|then|but)){_BETWEEN}\s+(?P<verb>{VERBS})\b(?!['-])")
_PASSIVE: Final = re.compile(rf"\b(?P<aux>has|have|is|are|was|were){_BETWEEN}\s+(?P<verb>{VERBS})\b(?!['-])")
_BARE: Final = re.compile(
    r"[\W_]*(?:(?:done|ok|okay|yes|also|then|finally|next|first|now|successfully|great|sure|and)\b[\s,:;.!-]+){0,3}"
    rf"(?P<verb>{VERBS})\b(?=\s+(?:(?:it|this|that|both|all|everything)\b|"
    r"(?:the|a|an|your|each|every|these|those|to|two|three|four|five|as|in|into|under)\s|[`*\[\d]))",
    re.IGNORECASE,
)
_HEADLESS: Final = re.compile(
    r"[\W_]*(?:(?:the|your|a)\s+)?(?:[\w-]+\s+){0,3}(?:notes?|thread|entry|file|summary|ticket|e?mail|message|changes?|"
    rf"tests?|decision|minutes|report)\s+(?P<verb>{VERBS})\b(?=\s*(?:[.:!]|$|(?:to|in|as|at|under|into)\b))",
    re.IGNORECASE,
)
_GERUND: Final = re.compile(
    rf"\b(?:(?P<had>[Hh]aving)\s+(?P<past>{VERBS})|(?:[Aa]fter|[Bb]y|[Uu]pon|[Oo]n|[Ff]rom|[Ww]hen)\s+"
    rf"(?P<verb>{'|'.join(ENGLISH['gerunds'])}))\b"
)
_NOUN: Final = re.compile(
    r"\b(?:I(?:'ve|\s+have|\s+had)?\s+(?:[\w-]+\s+){0,2}?(?:took|taken|had|made|did|done|ran|run|performed|completed|"
    r"carried out)\s+(?:an?|the|some|another|two|both)|(?P<own>[Mm]y|[Aa]|[Tt]he))\s+(?:[\w-]+\s+){0,3}?"
    rf"(?P<noun>{'|'.join(ENGLISH['nouns'])})\b(?(own)(?=\s+(?:of|for|in|through|across|over|at)\s[^.]{{1,120}}?\b"
    r"(?:show|found|find|return|gave|br(?:ings|ought)|turned|confirm|reveal|yield)))"
)
_PASSES: Final = re.compile(
    r"\b(?P<what>(?:unit|integration|regression|smoke|all|the|existing|new|\d+|end-to-end|whole|full|entire|e2e|\s){0,8}"
    r"\b(?:tests?(?:\s+(?:suite|run|cases?))?|builds?|CI|pipeline|lint(?:er|ing)?|type check(?:s|er)|checks|suite|mypy|"
    r"ruff|pytest|specs))\s+(?:(?:still|now|also|all|both|currently|again)\s+){0,2}(?:pass(?:es|ed)?|succeed(?:s|ed)?|"
    r"(?:go(?:es)?|went|came) through|(?:is|are|was|were|c[ao]mes? back|runs|ran|stays?|remains?)\s+"
    r"(?:(?:all|now|still|also)\s+)?(?:green|passing|clean|successful|fine|through|without))\b"
)
_DONE: Final = re.compile(
    r"[\W_]*(?:(?:all )?done|all set|completed?|task complete|finished|"
    r"everything (?:is|has been) (?:done|in place|saved|set up))\s*(?:[.!:,-]|$)",
    re.IGNORECASE,
)
_INTO: Final = re.compile(r"\b(?:to|into|in|as|under|at)\s+[`*\[(]?[\w./-]*[./]\w")
_TO: Final = re.compile(r"\b(?:to|into|as|under)\s+[`*\[(]?[\w./-]*[./]\w")
_ENDS_IN_NAME: Final = re.compile(r"(?:[`*)\]]|\.\w{1,5}|\d|\b(?:tickets?|notes?|e?mails?|threads?|both|all|it))\s*$")
_LOOKED: Final = re.compile(r"\s+(?:looking|at|in|into|through|over|up|for|across|inside|again|it)\b")


class Claim(NamedTuple):
    """A deed that an answer claims.

    Args:
        deed: what kind of deed (`english.json`), or `passes` of tests, or `done`.
        verb: the word for it.
        sentence: it is of.
        start: where its object begins in the sentence, and where that ends; of a passive verb, the whole clause.
        is_sure: it has the form of a report of its author; else others may have done it.
    """

    deed: str
    verb: str
    sentence: Sentence
    start: int
    end: int
    is_sure: bool = True

    @property
    def object(self) -> str:
        """The words of the object, without quotations."""
        return self.sentence.plain[self.start : self.end]

    @property
    def text(self) -> str:
        """The same with quotations."""
        return self.sentence.text[self.start : self.end]


def claims(sentence: Sentence) -> Iterator[Claim]:
    """The deeds that a sentence claims for its author."""
    plain = sentence.plain
    if plain.rstrip("*_ )").endswith("?"):
        return
    if _DONE.match(plain):
        yield Claim("done", "done", sentence, 0, len(plain))
    found = [each for each in [*_of_subject(sentence), *_of_nouns(sentence)] if _is_deed(each)]
    yield from [*found, *filter(_is_deed, _passive(sentence))] or filter(_is_deed, _bare(sentence))
    for each in _PASSES.finditer(plain) if not re.search(r"\bfail(?:s|ed|ing)?\b|\d+ of \d+", plain) else ():
        before, behind = plain[max(0, each.start() - 80) : each.start()], plain[each.end() : each.end() + 40]
        if not (says("advice", before) or says("advice", behind) or says("reported", before)):
            yield Claim("passes", each["what"], sentence, each.start(), len(plain))


def _of_subject(sentence: Sentence) -> Iterator[Claim]:
    plain = sentence.plain
    for each in _SUBJECT.finditer(plain):
        verb, aux, before = each["verb"], (each["aux"] or "").strip(), plain[max(0, each.start() - 60) : each.start()]
        is_base = verb in ENGLISH["bases"] and (verb not in ("read", "run", "put") or aux == "did")
        verb = ENGLISH["bases"].get(verb, "") if is_base else verb
        if is_base != (aux == "did") or not verb or not _are_adverbs(each["between"]) or says("hypothetical", before):
            continue
        if aux in ("'ve", "have") and re.search(r"\b(?:when|after)\s+$", before, re.IGNORECASE):
            continue
        at = each.end()
        yield Claim(deed_of(verb), verb, sentence, at, _end_of(plain, at))
        while (more := _NEXT.search(plain, at, at + 400)) is not None and not says("others", plain[at : more.start()]):
            at = more.end()
            if _are_adverbs(more["between"]):
                yield Claim(deed_of(more["verb"]), more["verb"], sentence, at, _end_of(plain, at))


def _of_nouns(sentence: Sentence) -> Iterator[Claim]:
    plain = sentence.plain
    for each in _NOUN.finditer(plain):
        if not says("hypothetical", plain[max(0, each.start() - 60) : each.start()]):
            yield Claim(ENGLISH["nouns"][each["noun"]], each["noun"], sentence, each.end(), _end_of(plain, each.end()))
    for each in _GERUND.finditer(plain):
        verb = each["past"] or ENGLISH["gerunds"][each["verb"]]
        if (each["had"] or re.search(r"\bI\b", plain)) and not (says("advice", plain) or re.search(r"\byou\b", plain)):
            yield Claim(deed_of(verb), verb, sentence, each.end(), _end_of(plain, each.end()))


def _bare(sentence: Sentence) -> Iterator[Claim]:
    """Participles that begin a sentence or a cell of a table: `Saved the note to …`, `Note saved.`."""
    plain = sentence.plain
    cells = [0, *(found.end() for found in re.finditer(r"\|", plain))] if plain.startswith("|") else [0]
    for bare, cell in ((form.match(plain, cell), cell) for cell in cells for form in (_BARE, _HEADLESS)):
        if bare is not None:
            verb, end = bare["verb"].casefold(), _end_of(plain, bare.end())
            start = bare.end() if bare.re is _BARE else cell
            if verb not in ("read", "put", "found", "run", "called") and not says("dated", plain[bare.end() : end]):
                yield Claim(deed_of(verb), verb, sentence, start, end, is_sure=False)
            return


def _passive(sentence: Sentence) -> Iterator[Claim]:
    """The passive voice, where others may have done it: `has been saved to …`, `is now in …`."""
    plain = sentence.plain
    for each in _PASSIVE.finditer(plain):
        start, end = max(0, each.start() - 100), _end_of(plain, each.end())
        subject, rest, between = plain[start : each.start()], plain[each.end() :][:80], each["between"].split()
        is_perfect, is_now = each["aux"] in ("has", "have"), each["aux"] in ("is", "are")
        is_state = is_now and each["verb"] in words("states") and _ENDS_IN_NAME.search(subject) is not None
        is_into = (_TO if is_now else _INTO).search(rest) is not None
        is_tense = ("been" in between) if is_perfect else "now" in between or is_state or is_into
        if not is_tense or not _are_adverbs(each["between"]) or deed_of(each["verb"]) in ("try", "find", "ask"):
            continue
        others = ("advice", subject), ("advice", rest[:15]), ("reported", plain), ("dated", plain)
        is_other = any(says(name, text) for name, text in others)
        if not is_other and not says("nothing", subject.lstrip("*-_ ")):
            yield Claim(deed_of(each["verb"]), each["verb"], sentence, start, end, is_sure=False)
            at = each.end()
            if (more := _NEXT.match(plain, at)) is not None and _are_adverbs(more["between"]):
                end = _end_of(plain, more.end())
                yield Claim(deed_of(more["verb"]), more["verb"], sentence, more.end(), end, is_sure=False)


def _is_deed(claim: Claim) -> bool:
    """Whether the words behind a verb make it a deed: not `ran into`, `found it hard`, `wrote nothing`."""
    verb, behind = claim.verb, claim.object
    if claim.deed != "find" and says("nothing", behind):
        return False
    if verb == "let":
        return re.match(r"\s+\S+(?:\s+\S+){0,3}\s+know\b", behind) is not None
    if verb in ("looked", "called", "went", "gone", "walked", "counted", "followed"):
        return _LOOKED.match(behind) is not None or "`" in behind
    stops = "there|here|at|with|by|from|when"
    wrong = {
        "ran": "into|out|across",
        "run": "into|out|across",
        "found": "it|this|above",
        "noted": "that|above|it|this",
    }
    wrong |= dict.fromkeys(("stopped", "paused", "started", "began"), stops)
    return re.match(rf"\s+(?:{wrong.get(verb, '$.')})\b", behind) is None


def _are_adverbs(between: str) -> bool:
    found = between.replace(",", " ").casefold().split()
    return all(each in words("adverbs") or (each.endswith("ly") and each not in words("no_adverbs")) for each in found)


def _end_of(plain: str, at: int) -> int:
    """Where the clause ends that begins before a place."""
    ends = [found.start() for each in (named("ends"), _NEXT) if (found := each.search(plain, at, at + 500)) is not None]
    return min([*ends, len(plain), at + 500])
