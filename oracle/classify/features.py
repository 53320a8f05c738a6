"""The features of a message that its type is inferred from: a small set of names, each present or not.

Names describe what they detect: `tag:meeting` a word with that tag, `ask:why` a question that begins with it,
`do:change` a command, `like:did_we` a phrase. `query_weights.json` has a weight of each feature for each type; a
feature without a weight has no effect. Each group of names earns its place in `benchmarks/bench_classify.py`.
"""

from collections.abc import Iterator

from oracle.classify.patterns import PATTERNS, WISHES
from oracle.classify.reading import Reading
from oracle.classify.tokens import IDENTIFIER

_STRONG_CODE = frozenset({"trace", "error_name", "call", "snake", "source_path", "flag", "route"})
_WEAK_CODE = frozenset({"backtick", "camel", "fence"})
MAX_SENTENCE_CHARS = 600


def features(reading: Reading) -> frozenset[str]:
    """The features of a message.

    Returns:
        Names of features; never empty, because the bias is one.
    """
    content = sum(len(sentence.content) for sentence in reading.sentences)
    found = {"bias", *_of_signs(reading)}
    found.add(f"content:{content if content < 3 else '3-5' if content < 6 else '6+'}")
    found.update(f"tag:{tag}" for sentence in reading.sentences for tag in sentence.tags - {"function_word"})
    for sentence in reading.requests:
        found.update(f"ask:{kind}" for kind in sentence.question)
        found.update(f"do:{kind}" for command in sentence.commands for kind in command.kinds)
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
