"""The features of a message that its type is inferred from: a small set of names, each present or not.

Names describe what they detect: `tag:meeting` a word with that tag, `ask:why` a question that begins with it,
`do:change` a command, `word:refund` a word, `pair:how do` two words in a row. The weights files
have a weight of each feature for each type and each source; a feature without a weight has no effect. Each group of
names earns its place in `benchmarks/bench_classify.py`.
"""

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from oracle.classify.tokens import IDENTIFIER
from oracle.domains.code.reading import MessageReading

_STRONG_CODE = frozenset({"trace", "error_name", "call", "snake", "source_path", "flag", "route"})
_WEAK_CODE = frozenset({"backtick", "camel", "fence"})
MAX_WORDS = 120
"""How many words of a message are features; ordinary ones have ten."""
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts whose words are not set apart by spaces, or that join endings to them."""


def features(reading: MessageReading) -> frozenset[str]:
    """The features of a message.

    Returns:
        Names of features; never empty, because the bias is one.
    """
    content = sum(len(sentence.content) for sentence in reading.sentences)
    found = {"bias", *_of_signs(reading), *_of_words(reading)}
    found.add(f"content:{content if content < 3 else '3-5' if content < 6 else '6+'}")
    found.update(f"tag:{tag}" for sentence in reading.sentences for tag in sentence.tags - {"function_word"})
    for sentence in reading.requests:
        found.update(f"ask:{kind}" for kind in sentence.question)
        found.update(f"do:{kind}" for command in sentence.commands for kind in command.kinds)
    return frozenset(found)


def _of_signs(reading: MessageReading) -> Iterator[str]:
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


def _of_words(reading: MessageReading) -> Iterator[str]:
    """Words and pairs of them; of scripts without spaces, letters and pairs of them."""
    words = tuple(islice(_words(reading), MAX_WORDS))
    yield from (f"word:{word}" for word in words)
    yield from (f"pair:{first} {second}" for first, second in pairwise(("^", *words)))
    for word in words:
        if _UNSPACED.search(word):
            yield from (f"word:{letter}" for letter in word)
            yield from (f"word:{first}{second}" for first, second in pairwise(word))


def _words(reading: MessageReading) -> Iterator[str]:
    for sentence in reading.sentences:
        yield from sentence.tokens
        yield "?" if sentence.is_question else "."
