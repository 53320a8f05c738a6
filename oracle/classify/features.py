"""The features of a message that its type is inferred from: a small set of names, each present or not.

Names describe what they detect: `tag:meeting` a word with that tag, `ask:why` a question that begins with it,
`do:change+vault_noun` a command and its object, `the:component` whose it is. `query_weights.json` has a weight of each
feature for each type; a feature without a weight has no effect. Each group of names earns its place in
`benchmarks/bench_classify.py`.
"""

from collections.abc import Iterator

from oracle.classify.patterns import PATTERNS, WISHES
from oracle.classify.reading import TALK_TAGS, Reading, Sentence
from oracle.classify.tokens import IDENTIFIER, word_set

_STRONG_CODE = frozenset({"trace", "error_name", "call", "snake", "source_path", "flag", "route"})
_WEAK_CODE = frozenset({"backtick", "camel", "fence"})
_DEFINITE = word_set("the der die das den dem le la les el los il lo gli os het de l del")
_POSSESSIVE = word_set(
    """
    our my unser unsere unserem unseren unserer mein meine meinem meinen notre nos mon ma mes nuestro nuestra
    nuestros nuestras mi mis nostro nostra nostri nostre mio mia nosso nossa nossos nossas meu minha onze ons mijn
    """
)
_PREPOSITIONS = word_set(
    """
    in on at from of with under into within inside im auf bei aus unter dans sur de du en del con nel nella su no na
    em uit op
    """
)
MAX_SENTENCE_CHARS = 600


def features(reading: Reading) -> frozenset[str]:
    """The features of a message.

    Returns:
        Names of features; never empty, because the bias is one.
    """
    found = {"bias", *_of_signs(reading), *_of_talk(reading)}
    found.update(f"tag:{tag}" for sentence in reading.sentences for tag in sentence.tags - {"function_word"})
    for sentence in reading.requests:
        found.update(f"ask:{kind}" for kind in sentence.question)
        found.add(f"form:{'question' if sentence.is_question else 'command' if sentence.commands else 'statement'}")
        found.update(_of_commands(sentence))
        found.update(_of_nouns(sentence))
        found.update(_of_places(sentence))
        joined = " ".join(sentence.body)[:MAX_SENTENCE_CHARS]
        names = [name for name, pattern in PATTERNS.items() if pattern.search(joined)]
        found.update(f"like:{name}" for name in names if name not in WISHES or not sentence.question)
    return frozenset(found)


def _of_signs(reading: Reading) -> Iterator[str]:
    """Pieces of code, and notes by their paths."""
    signs = reading.text.signs
    if signs & _STRONG_CODE:
        yield "code_sign:strong"
    if signs & _WEAK_CODE:
        yield "code_sign:weak"
    if "note_path" in signs:
        yield "sign:note_path"
    if any(set(sentence.content) == {IDENTIFIER} for sentence in reading.sentences):
        yield "code_sign:alone"


def _of_talk(reading: Reading) -> Iterator[str]:
    """How much of the message is chat, and how much there is beside it."""
    sentences = reading.sentences
    if all(sentence.is_talk for sentence in sentences):
        yield "talk:all"
    elif sentences[0].is_talk:
        yield "talk:first"
    chat = TALK_TAGS - {"function_word"}
    covered = sum(match.end - match.start for each in sentences for match in each.matches if match.tags & chat)
    if covered * 2 >= sum(len(sentence.tokens) for sentence in sentences):
        yield "talk:half"
    content = sum(len(sentence.content) for sentence in sentences)
    yield f"content:{content if content < 3 else '3-5' if content < 6 else '6+'}"
    if not any(match.tags - TALK_TAGS for sentence in sentences for match in sentence.said):
        yield "content:unknown"


def _of_commands(sentence: Sentence) -> Iterator[str]:
    for command in sentence.commands:
        for kind in command.kinds:
            yield f"do:{kind}"
            for tag in command.about or ("nothing",):
                yield f"do:{kind}+{tag}"


def _of_nouns(sentence: Sentence) -> Iterator[str]:
    """Whose the nouns are: "our X", "the X", with X a part of software or unknown."""
    starts = {match.start: match for match in sentence.said}
    for at, token in enumerate(sentence.tokens[:-1]):
        if token not in _DEFINITE and token not in _POSSESSIVE:
            continue
        owner = "our" if token in _POSSESSIVE else "the"
        match = starts.get(at + 1) or starts.get(at)
        if match is None or match.end <= at + 1:
            yield f"{owner}:unknown"
        else:
            yield from (f"{owner}:{tag}" for tag in match.tags - {"function_word"})


def _of_places(sentence: Sentence) -> Iterator[str]:
    """Phrases after a preposition: "on GitHub", "in the glossary", "from the retro"."""
    for match in sentence.matches:
        if match not in sentence.said and "product" not in match.tags:
            continue
        before = sentence.tokens[max(0, match.start - 2) : match.start]
        if before and (
            before[-1] in _PREPOSITIONS or (before[0] in _PREPOSITIONS and before[-1] in _DEFINITE | _POSSESSIVE)
        ):
            yield from (f"in:{tag}" for tag in match.tags - TALK_TAGS)
