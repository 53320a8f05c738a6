"""The structure of a message: phrases with their tags, and for each segment whether it is a question, command or chat.

Rules: courtesies at the start are skipped, the verb that begins a segment is a command, "and" may join a second
command to a first but not to a question.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from bt_runtime.text.data import dataclass
from oracle.classify.tokens import COMMA, IDENTIFIER, LINK, NOTE_PATH, QUOTED, Text, TextSegment, take_apart, word_set
from oracle.domains.code.lexicon.lookup import (
    Match,
    load_courtesies,
    load_heads,
    load_lexicon,
    load_question_words,
)

WRITING = frozenset({"keep", "change"})
_SHOWING = frozenset({"read", "explain"})
_FOR_ANSWERS = frozenset({"what", "how", "where", "who", "when"})
"""Kinds of question word; "could the page …" and "why don't you …" may ask for a change."""
MAX_COMMANDS = 5
TALK_TAGS = frozenset({"greeting", "thanks", "ack", "previous", "assistant", "function_word"})
_JOINERS = word_set(f"{COMMA} and then und dann et puis y e ed en & + luego poi depois plus")
_DETERMINERS = word_set(
    """
    a an the this that these those my our your all every each any it them me us new another both some down up ein
    eine einen das die der den diese diesen dieses mir alle un une le la les l ce cette ces mon ma mes el los las
    una esto este esta mi mis lo il gli i questo questa o os as um uma isto isso meu minha het de een dit deze mijn
    dat
    """
)
_DEMANDING = word_set(
    """
    demand demands require requires required say says state states prescribe prescribes specify specifies mandate
    mandates expect expects allow allows forbid forbids prohibit prohibits recommend recommends mean means according
    comply complies conform conforms must verlangt fordert sagt erlaubt verbietet exige dit permet interdit dice
    permite prohibe richiede vieta
    """
)
_HAVE_TOPICS = frozenset({"vault_noun", "decision", "meeting"})
_TOPIC_WORDS = word_set(
    """
    on about regarding concerning for called named titled summarising summarizing explaining describing comparing
    listing covering re uber zum zur zu mit fur sur concernant pour sobre acerca para su riguardo per over rond voor
    explains describes explain describe summarise summarize compares list lists covers
    """
)
_PLACEHOLDERS = frozenset({IDENTIFIER, NOTE_PATH, LINK, QUOTED})


@dataclass(frozen=True, slots=True)
class CommandVerb:
    """A verb that requests an action.

    Args:
        verb: its base form, in the spelling of the lexicon.
        kinds: `keep`, `change`, `enter`, `code_change`, `read`, `explain`, `web`, `talk`; several where the verb has
            several uses.
        has_object: a determiner, a pronoun, a quotation or a name follows the verb.
    """

    verb: str
    kinds: frozenset[str]
    has_object: bool


@dataclass(frozen=True, slots=True)
class Sentence:
    """A segment, read.

    Args:
        tokens: corrected words, courtesies included.
        matches: the phrases found.
        question: the kinds of question word that it begins with (`why`, `how`, …); empty if none.
        is_question: it begins like a question, or ends with a question mark.
        commands: its commands, in order.
        content: its words that are neither chat nor function words.
        topic_start: where the topic of a note, a decision or a meeting begins ("the note on …"); what
            follows is only mentioned.
    """

    tokens: tuple[str, ...]
    matches: tuple[Match, ...]
    question: frozenset[str]
    is_question: bool
    commands: tuple[CommandVerb, ...]
    content: tuple[str, ...]
    topic_start: int

    @property
    def is_talk(self) -> bool:
        """Whether it is nothing but chat."""
        return not self.content

    @property
    def only_asks(self) -> bool:
        """Whether it asks for an answer and for no change: by a question word, or by commands to show or explain."""
        if self.commands:
            return all(command.kinds <= _SHOWING for command in self.commands)
        return bool(self.question) and self.question <= _FOR_ANSWERS

    @property
    def asks_of_norm(self) -> bool:
        """Whether it asks what a standard or an advisory says; where it is implemented is no such question."""
        is_asked = self.is_question and "where" not in self.question
        return is_asked and "norm" in self.tags and not _DEMANDING.isdisjoint(self.tokens)

    @property
    def places_norm(self) -> bool:
        """Whether it asks where a standard or an advisory is dealt with, which the project alone can say."""
        return "where" in self.question and "norm" in self.tags

    @property
    def tags(self) -> frozenset[str]:
        """The tags of its phrases, except those that are only mentioned."""
        return frozenset().union(*(match.tags for match in self.said))

    @property
    def said(self) -> tuple[Match, ...]:
        """Its phrases, except those that are only mentioned."""
        return tuple(match for match in self.matches if match.start < self.topic_start)


@dataclass(frozen=True, slots=True)
class MessageReading:
    """A message, read.

    Args:
        text: its segments of tokens.
        sentences: its segments, in order.
    """

    text: Text
    sentences: tuple[Sentence, ...]

    @property
    def requests(self) -> tuple[Sentence, ...]:
        """The sentences that are more than chat; all of them if none is."""
        return tuple(sentence for sentence in self.sentences if not sentence.is_talk) or self.sentences

    @property
    def has_known_words(self) -> bool:
        """Whether anything in it is known: a phrase, a verb or question word at its beginning, a piece of code."""
        sentences = self.sentences
        return bool(self.text.signs) or any(each.matches or each.question or each.commands for each in sentences)


def read(text: str) -> MessageReading:
    """Read a message."""
    parts = take_apart(text, is_public=load_lexicon().is_product)
    sentences: list[Sentence] = []
    is_dictated = False
    for segment in parts.segments:
        sentence = _sentence(segment)
        if is_dictated:
            sentence = replace(sentence, topic_start=0, commands=(), question=frozenset(), is_question=False)
        is_dictated = is_dictated or (
            segment.is_opener and any(command.kinds & WRITING for command in sentence.commands)
        )
        sentences.append(sentence)
    return MessageReading(parts, tuple(sentences))


def _sentence(segment: TextSegment) -> Sentence:
    lexicon = load_lexicon()
    tokens = _known_tokens(segment.tokens)
    matches = tuple(lexicon.matches(tokens))
    skip = _courtesy_length(tokens)
    question = _question(tokens, skip)
    is_question = bool(question) or (segment.is_question and not _begins_with_command(tokens, skip))
    commands = () if question else _commands(tokens, skip)
    return Sentence(
        tokens=tokens,
        matches=matches,
        question=question,
        is_question=is_question,
        commands=commands,
        content=_content(tokens, matches),
        topic_start=_topic_start(tokens, matches, commands),
    )


def _topic_start(tokens: Sequence[str], matches: Sequence[Match], commands: Sequence[CommandVerb]) -> int:
    """The index after "the note on", "decided about", "remember that"; the length if there is none."""
    for match in matches:
        if match.tags & _HAVE_TOPICS and "code_noun" not in match.tags:
            for at in range(match.end, min(match.end + 2, len(tokens))):
                if tokens[at] in _TOPIC_WORDS:
                    return at + 1
    if any("keep" in command.kinds for command in commands):
        for at, token in enumerate(tokens[:8]):
            if token in {"that", "dass", "que", "che", "dat"} and at + 1 < len(tokens) and at:
                return at + 1
    return len(tokens)


@cache
def _beginnings() -> frozenset[str]:
    """The words of what may begin a sentence: commands, courtesies, questions."""
    return frozenset().union(*(each().words for each in (load_heads, load_courtesies, load_question_words)))


@cache
def _known_words() -> frozenset[str]:
    return _beginnings() | load_lexicon().words | _PLACEHOLDERS | {COMMA}


def _known_tokens(tokens: Sequence[str]) -> tuple[str, ...]:
    """Split compounds that are not a known word as a whole, and correct misspellings."""
    lexicon, heads, words = load_lexicon(), load_heads(), _known_words()
    known: list[str] = []
    for token in tokens:
        if token in words:
            known.append(token)
            continue
        parts = [word for part in _split(token) if part for word in lexicon.words_inside(part)]
        for part in parts:
            is_known = part in _beginnings()
            corrected = part if is_known else lexicon.corrected(part)
            if corrected == part and not is_known:
                verb = heads.corrected(part)
                corrected = part if part.startswith(verb) else verb  # "archived" is not a misspelt "archive"
            known.append(corrected)
    return tuple(known)


def _split(token: str) -> list[str]:
    for separator in "'-/.:+@#":
        token = token.replace(separator, " ")
    return token.split(" ")


def _courtesy_length(tokens: Sequence[str]) -> int:
    courtesies = load_courtesies()
    at = 0
    while at < len(tokens):
        if tokens[at] == COMMA:
            at += 1
            continue
        match = courtesies.match_at(tokens, at)
        if match is None:
            return at
        at = match.end
    return at


def _question(tokens: Sequence[str], skip: int) -> frozenset[str]:
    """The kinds of the question word at the start; a preposition may precede it ("in which file …")."""
    words = load_question_words()
    for at in (skip, skip + 1):
        if at < len(tokens):
            match = words.match_at(tokens, at)
            if match is not None and (
                at == skip
                or tokens[skip]
                in {"in", "at", "since", "to", "for", "from", "on", "by", "under", "a", "de", "en", "seit", "but", "or"}
            ):
                return match.tags
    return frozenset()


def _begins_with_command(tokens: Sequence[str], skip: int) -> bool:
    return skip < len(tokens) and load_heads().match_at(tokens, skip) is not None


def _commands(tokens: Sequence[str], skip: int) -> tuple[CommandVerb, ...]:
    heads = load_heads()
    if skip >= len(tokens):
        return ()
    first = heads.match_at(tokens, skip)
    commands = [] if first is None else [_command(first, tokens)]
    at = skip if first is None else first.end
    while at < len(tokens) - 1 and len(commands) < MAX_COMMANDS:
        if tokens[at] not in _JOINERS:
            at += 1
            continue
        at += 1 + _courtesy_length(tokens[at + 1 :])
        joined = heads.match_at(tokens, at) if at < len(tokens) else None
        if joined is not None:
            command = _command(joined, tokens)
            if first is not None or (command.has_object and command.kinds & WRITING):
                commands.append(command)
    return tuple(commands) or _verb_final(tokens, skip)


def _verb_final(tokens: Sequence[str], skip: int) -> tuple[CommandVerb, ...]:
    """German and Dutch put the infinitive last after "can you": `eine Notiz anlegen`."""
    last = tokens[-1]
    if skip == 0 or not last.endswith("en"):
        return ()
    verb = load_heads().match_at(tokens, len(tokens) - 1)
    return () if verb is None else (CommandVerb(verb.phrase, verb.tags, has_object=True),)


def _command(verb: Match, tokens: Sequence[str]) -> CommandVerb:
    after = tokens[verb.end] if verb.end < len(tokens) else ""
    return CommandVerb(verb.phrase, verb.tags, has_object=after in _DETERMINERS or after in _PLACEHOLDERS)


def _content(tokens: Sequence[str], matches: Sequence[Match]) -> tuple[str, ...]:
    covered: set[int] = set()
    for match in matches:
        if match.tags & TALK_TAGS:
            covered.update(range(match.start, match.end))
    return tuple(
        token for at, token in enumerate(tokens) if at not in covered and token != COMMA and not token.isdigit()
    )
