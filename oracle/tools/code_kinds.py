"""What kind of file a path names, and how much each kind counts for what a query asks for.

Somebody who asks how a thing works means the thing, not its tests, examples or recorded data, although these repeat its
words most. Prose answers why and how-to; code answers where and what a name is. A kind is never left out: it counts
less.
"""

import re
from typing import Literal

from oracle.tools.languages import extension

FileKind = Literal["implementation", "prose", "settings", "history", "test", "example", "data"]
Wish = Literal["place", "explanation", "usage", "tests", "any"]

_PROSE = {"md", "mdx", "markdown", "rst", "txt", "adoc"}
_SETTINGS = {"toml", "yaml", "yml", "ini", "cfg", "conf", "properties", "gradle"}
_DATA = {
    "json",
    "jsonl",
    "json5",
    "lock",
    "csv",
    "tsv",
    "svg",
    "xml",
    "log",
    "map",
    "ipynb",
    "snap",
    "po",
    "pot",
    "sum",
}
_GENERATED = re.compile(
    r"\.(min|bundle|generated|g|pb)\.\w+$|_pb2(_grpc)?\.pyi?$|-lock\.\w+$|\.lock\b|(^|/)(generated|vendor|third_party)/",
    re.IGNORECASE,
)
_HISTORY = re.compile(
    r"(^|/)(changelog|changes|history|news|release[_-]?notes|licen[cs]e|copying|authors)\b", re.IGNORECASE
)
_TEST = re.compile(
    r"(^|/)(tests?|specs?|__tests__|__mocks__|testdata|fixtures?|e2e)/"
    r"|(^|/)(test_[^/]*|conftest\.py|[^/]*(_test|\.test|\.spec|-test|_spec)\.\w+|[^/]*Tests?\.(java|kt|cs|swift|scala))$"
)
_BUILD = re.compile(r"(^|/)(makefile|justfile|rakefile|dockerfile|procfile|taskfile|cmakelists)\b[^/]*$", re.IGNORECASE)
_EXAMPLE = re.compile(r"(^|/)(examples?|samples?|demos?|benchmarks?|bench|playground|tutorials?)/", re.IGNORECASE)

_FACTORS: dict[Wish, dict[FileKind, float]] = {
    "any": {"prose": 0.85, "settings": 0.85, "history": 0.4, "test": 0.45, "example": 0.5, "data": 0.2},
    "place": {"prose": 0.6, "settings": 0.8, "history": 0.3, "test": 0.45, "example": 0.5, "data": 0.2},
    "explanation": {"prose": 1.0, "settings": 0.9, "history": 0.5, "test": 0.4, "example": 0.45, "data": 0.2},
    "usage": {
        "implementation": 0.8,
        "prose": 1.1,
        "settings": 1.0,
        "history": 0.4,
        "test": 0.35,
        "example": 0.6,
        "data": 0.2,
    },
    "tests": {"implementation": 0.7, "prose": 0.7, "settings": 0.7, "history": 0.3, "example": 0.6, "data": 0.2},
}

_ABOUT_TESTS = re.compile(
    r"\b(unit|regression|integration|acceptance)[ -]?tests?\b|\btests?\s+(for|of|that|cover\w*|about)\b"
    r"|\b(which|what|where|is|are|any|find|show)\b[^?.]{0,40}\b(tests?|tested|fixtures?)\b|\btest_\w|^tests?\b|\btests?$"
    r"|\bTests?\s+(für|von)\b",
    re.IGNORECASE,
)
_ABOUT_USAGE = re.compile(
    r"\bhow\s+(do|can|could|should|would|must|to)\b(\s+(i|we|you|one)\b)?|\b(install|set\s?up|getting started|usage)\b"
    r"|\bwie\s+(kann|muss|soll|benutze|verwende|starte|schreibe|installiere)\b",
    re.IGNORECASE,
)
_ABOUT_EXPLANATION = re.compile(
    r"\b(why|reasons?|rationale|purpose|design|overview|warum|wieso|weshalb|pourquoi|por qué)\b"
    r"|^(list|which|what|describe|welche[rs]?|was)\b",
    re.IGNORECASE,
)
_ABOUT_PLACE = re.compile(
    r"\b(where|defined|definition|implement\w*|declared|function|method|class|def|func|wo|definiert)\b", re.IGNORECASE
)
_NAME_ALONE = re.compile(r"[\w.:()/-]+$")


def kind_of(path: str) -> FileKind:
    """The kind that the path's folders, name and extension tell."""
    suffix = extension(path)
    if suffix in _DATA or _GENERATED.search(path):
        return "data"
    if _TEST.search(path):
        return "test"
    if _HISTORY.search(path):
        return "history"
    if _EXAMPLE.search(path):
        return "example"
    if suffix in _PROSE:
        return "prose"
    return "settings" if suffix in _SETTINGS or _BUILD.search(path) else "implementation"


def wish_of(text: str) -> Wish:
    """What the words around the subject of a query ask for."""
    text = " ".join(text.split())
    if _ABOUT_USAGE.search(text):
        return "usage"
    if _ABOUT_TESTS.search(text):
        return "tests"
    if _ABOUT_PLACE.search(text) or _NAME_ALONE.match(text):
        return "place"
    return "explanation" if _ABOUT_EXPLANATION.search(text) else "any"


def kind_factor(path: str, *, wish: Wish) -> float:
    """What a file's score is multiplied by."""
    return _FACTORS[wish].get(kind_of(path), 1.0)
