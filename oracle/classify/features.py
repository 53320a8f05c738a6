"""The features of a message that its type is inferred from: a small set of names, each present or not.

Names describe what they detect: `tag:meeting` a word with that tag, `ask:why` a question that begins with it,
`do:change` a command, `tag:own+ask:why` both at once. `query_weights.json` has a weight of each feature for each type;
a feature without a weight has no effect.
"""

from collections.abc import Iterator

from oracle.classify.patterns import PATTERNS, WISHES
from oracle.classify.reading import TALK_TAGS, WRITING, Command, Reading, Sentence, addresses_assistant
from oracle.classify.tokens import IDENTIFIER, NOTE_PATH, QUOTED, word_set

_STRONG_CODE = frozenset({"trace", "error_name", "call", "snake", "source_path", "flag", "route"})
_WEAK_CODE = frozenset({"backtick", "camel", "fence"})
_DEFINITE = word_set(
    """
    the der die das den dem le la les el los il lo gli os het de l del
    """
)
_POSSESSIVE = word_set(
    """
    our my unser unsere unserem unseren unserer mein meine meinem meinen notre nos mon ma mes nuestro nuestra
    nuestros nuestras mi mis nostro nostra nostri nostre mio mia nosso nossa nossos nossas meu minha onze ons mijn
    """
)

MAX_SENTENCE_CHARS = 600


def features(reading: Reading) -> frozenset[str]:
    """The features of a message.

    Returns:
        Names of features; never empty, because the bias is one.
    """
    found = {"bias"}
    found.update(_of_signs(reading))
    requests = reading.requests
    tags = {tag for sentence in reading.sentences for tag in sentence.tags}
    found.update(f"tag:{tag}" for tag in tags - {"function_word"})
    found.update(_of_counts(reading))
    for sentence in requests:
        found.update(_of_question(sentence))
        found.update(_of_commands(sentence))
        found.update(_of_nouns(sentence))
        found.update(_of_places(sentence))
        joined = " ".join(sentence.body)[:MAX_SENTENCE_CHARS]
        names = [name for name, pattern in PATTERNS.items() if pattern.search(joined)]
        found.update(f"like:{name}" for name in names if name not in WISHES or not sentence.question)
    found.update(_of_talk(reading))
    found.update(_joint(found))
    return frozenset(found)


def _of_signs(reading: Reading) -> Iterator[str]:
    signs = reading.text.signs
    for sign in signs:
        yield f"sign:{sign}"
    if signs & _STRONG_CODE:
        yield "code_sign:strong"
    if signs & _WEAK_CODE:
        yield "code_sign:weak"


def _of_counts(reading: Reading) -> Iterator[str]:
    counts: dict[str, int] = {}
    for sentence in reading.sentences:
        for match in sentence.said:
            for tag in match.tags - TALK_TAGS:
                counts[tag] = counts.get(tag, 0) + 1
    for tag, count in counts.items():
        if count >= 2:
            yield f"twice:{tag}"
    content = sum(len(sentence.content) for sentence in reading.sentences)
    yield f"content:{content if content < 3 else '3-5' if content < 6 else '6+'}"
    if content >= 2:
        yield "content:some"
    tokens = sum(len(sentence.tokens) for sentence in reading.sentences)
    yield f"length:{_range_of(tokens)}"
    if not counts:
        yield "topic:none"


def _range_of(tokens: int) -> str:
    return next((name for most, name in ((0, "0"), (3, "1-3"), (8, "4-8"), (20, "9-20")) if tokens <= most), "21+")


def _of_question(sentence: Sentence) -> Iterator[str]:
    for kind in sentence.question:
        yield f"ask:{kind}"
    yield "form:question" if sentence.is_question else "form:command" if sentence.commands else "form:statement"


def _of_commands(sentence: Sentence) -> Iterator[str]:
    for order, command in enumerate(sentence.commands):
        for kind in command.kinds:
            yield f"do:{kind}"
            if order:
                yield f"then_do:{kind}"
            for tag in command.about:
                yield f"do:{kind}+{tag}"
            if not command.about:
                yield f"do:{kind}+nothing"
        if command.kinds & WRITING:
            yield from _of_writing(command)
    if sentence.question and not sentence.skip:
        yield "write:none_in_question"


def _of_writing(command: Command) -> Iterator[str]:
    yield "write:with_object" if command.has_object else "write:bare"
    if command.into_vault:
        yield "write:vault"
    elif command.into_code:
        yield "write:code_only"
    if not command.kinds & {"code_change", "read"}:
        yield "write:pure"


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
            for tag in match.tags - {"function_word"}:
                yield f"{owner}:{tag}"
    if IDENTIFIER in sentence.body[:2]:
        yield "begins:identifier"
    if QUOTED in sentence.tokens:
        yield "has:quoted"
    if NOTE_PATH in sentence.tokens:
        yield "has:note_path"


_PREPOSITIONS = word_set(
    """
    in on at from of with under into within inside im auf bei aus unter dans sur de du en del con nel nella su no na
    em uit op
    """
)


def _of_places(sentence: Sentence) -> Iterator[str]:
    """Phrases after a preposition: "on GitHub", "in the glossary", "from the retro"."""
    for match in sentence.matches:
        if match not in sentence.said and "product" not in match.tags:
            continue
        before = sentence.tokens[max(0, match.start - 2) : match.start]
        if before and (
            before[-1] in _PREPOSITIONS or (before[0] in _PREPOSITIONS and before[-1] in _DEFINITE | _POSSESSIVE)
        ):
            for tag in match.tags - TALK_TAGS:
                yield f"in:{tag}"


def _of_talk(reading: Reading) -> Iterator[str]:
    if not reading.sentences:
        yield "talk:empty"
        return
    if all(sentence.is_talk for sentence in reading.sentences):
        yield "talk:all"
    first = reading.sentences[0]
    if first.is_talk and len(reading.sentences) > 1:
        yield "talk:first"
    if first.matches and first.matches[0].start == 0:
        for tag in first.matches[0].tags & TALK_TAGS - {"function_word"}:
            yield f"first:{tag}"
    if any(addresses_assistant(sentence) for sentence in reading.requests):
        yield "says:you"
    covered = sum(
        match.end - match.start
        for s in reading.sentences
        for match in s.matches
        if match.tags & TALK_TAGS - {"function_word"}
    )
    tokens = sum(len(sentence.tokens) for sentence in reading.sentences)
    if covered * 2 >= tokens:
        yield "talk:half"
    if len(first.tokens) and first.skip == len(first.tokens):
        yield "talk:courtesy_only"


_JOINTS: tuple[tuple[str, ...], ...] = (
    ("tag:owner", "tag:product"),
    ("tag:owner", "tag:component"),
    ("tag:owner", "tag:code_noun"),
    ("tag:product", "the:component"),
    ("tag:product", "the:unknown"),
    ("tag:product", "our:component"),
    ("tag:product", "tag:component"),
    ("like:into_note", "tag:code_noun"),
    ("like:want_note", "tag:code_noun"),
    ("like:where_done", "tag:own"),
    ("do:web", "tag:vault_noun"),
    ("do:web", "tag:decision"),
    ("do:change", "in:product"),
    ("write:pure", "like:into_note"),
    ("then_do:read", "like:into_note"),
    ("like:which_code", "tag:owner"),
    ("tag:own", "tag:rule", "tag:standard"),
    ("ask:yesno", "in:vault_noun"),
    ("do:change", "tag:product"),
    ("do:keep", "tag:product"),
    ("do:code_change", "tag:product"),
    ("like:want_note", "form:statement"),
    ("like:want_note", "form:command"),
    ("code_sign:strong", "form:question"),
    ("sign:camel", "form:question"),
    ("like:want_new", "tag:vault_noun"),
    ("like:want_new", "form:statement"),
    ("like:into_note", "form:command"),
    ("like:into_note", "form:question"),
    ("like:into_note", "form:statement"),
    ("like:new_note", "form:question"),
    ("do:read", "tag:vault_noun"),
    ("do:read", "tag:meeting"),
    ("do:read", "tag:docref"),
    ("do:change", "like:restyle"),
    ("do:keep", "form:command"),
    ("tag:vault_noun", "content:1"),
    ("tag:code_noun", "content:1"),
    ("tag:world", "form:question"),
    ("ask:how", "tag:rule"),
    ("ask:how", "tag:component"),
    ("ask:why", "tag:rule"),
    ("ask:yesno", "tag:product"),
    ("ask:yesno", "tag:component"),
    ("ask:yesno", "tag:vault_noun"),
    ("like:is_there", "tag:vault_noun"),
    ("like:is_there", "tag:practice"),
    ("tag:own", "tag:product"),
    ("tag:own", "tag:version"),
    ("tag:own", "tag:standard"),
    ("tag:own", "tag:practice"),
    ("tag:own", "tag:decision"),
    ("tag:own", "tag:rule"),
    ("tag:own", "ask:why"),
    ("tag:own", "ask:how"),
    ("tag:own", "ask:where"),
    ("tag:own", "tag:code_noun"),
    ("tag:own", "tag:component"),
    ("ask:why", "tag:symptom"),
    ("ask:why", "tag:decision"),
    ("ask:why", "code_sign:strong"),
    ("ask:who", "tag:code_noun"),
    ("ask:who", "tag:vault_noun"),
    ("ask:who", "tag:decision"),
    ("ask:where", "tag:vault_noun"),
    ("ask:where", "tag:docref"),
    ("tag:product", "tag:symptom"),
    ("tag:product", "tag:code_noun"),
    ("tag:product", "tag:vault_noun"),
    ("tag:vault_noun", "tag:code_noun"),
    ("tag:vault_noun", "code_sign:strong"),
    ("tag:decision", "code_sign:strong"),
    ("tag:plan", "tag:vault_noun"),
    ("like:how_works", "the:unknown"),
    ("like:how_works", "tag:component"),
    ("like:did_we", "tag:decision"),
    ("form:question", "tag:vault_noun"),
    ("form:statement", "tag:vault_noun"),
    ("form:statement", "tag:symptom"),
    ("form:statement", "topic:none"),
    ("form:question", "topic:none"),
    ("like:follow_up", "topic:none"),
    ("says:you", "topic:none"),
    ("tag:previous", "topic:none"),
    ("form:statement", "content:1"),
    ("form:question", "content:1"),
)
_ABSENCES: tuple[tuple[str, str], ...] = (
    ("like:how_passive", "tag:product"),
    ("like:how_passive", "tag:standard"),
    ("tag:product", "tag:own"),
    ("tag:standard", "tag:own"),
    ("tag:practice", "tag:own"),
    ("tag:version", "tag:own"),
    ("tag:component", "tag:product"),
    ("the:component", "tag:product"),
    ("the:unknown", "tag:product"),
    ("the:code_noun", "tag:product"),
    ("like:how_to", "tag:own"),
    ("tag:code_noun", "tag:product"),
    ("tag:decision", "tag:code_noun"),
    ("like:thanks_for", "form:question"),
    ("ask:how", "tag:own"),
    ("form:question", "tag:own"),
)


def _joint(found: set[str]) -> set[str]:
    joint = {"+".join(names) for names in _JOINTS if found.issuperset(names)}
    joint.update(f"{one}-{other}" for one, other in _ABSENCES if one in found and other not in found)
    return joint
