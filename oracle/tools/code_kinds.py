"""Kinds of files in a project: languages by extension, code and prose, and what a question is after.

Each kind has a weight for each intent of a question. A question about how something works is about the implementation,
not about tests, examples or recorded data, although these repeat its words most. Guides (a readme, the pages of a
documentation folder) answer questions about usage, before source code and other prose; code answers where and what a
name is. A question about the project as a whole is answered by its readme. Pages of a documentation folder that are
for contributors (`docs/internals`, `docs/adr`) are other prose. No kind is excluded; the others only get a lower
weight.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

from bt_runtime.text import near
from oracle.tools.errors import ToolError
from oracle.tools.suggest import did_you_mean

LANGUAGES: dict[str, tuple[str, ...]] = {
    "python": ("py", "pyi", "pyx"),
    "javascript": ("js", "jsx", "mjs", "cjs"),
    "typescript": ("ts", "tsx", "mts", "cts"),
    "java": ("java",),
    "kotlin": ("kt", "kts"),
    "scala": ("scala", "sc"),
    "go": ("go",),
    "rust": ("rs",),
    "c": ("c", "h"),
    "cpp": ("cpp", "cc", "cxx", "hpp", "hh", "hxx", "h"),
    "csharp": ("cs",),
    "ruby": ("rb", "rake"),
    "php": ("php",),
    "swift": ("swift",),
    "elixir": ("ex", "exs"),
    "haskell": ("hs",),
    "lua": ("lua",),
    "dart": ("dart",),
    "shell": ("sh", "bash", "zsh"),
    "sql": ("sql",),
    "html": ("html", "htm"),
    "css": ("css", "scss", "sass", "less"),
    "vue": ("vue",),
    "svelte": ("svelte",),
    "yaml": ("yaml", "yml"),
    "json": ("json", "jsonc", "json5"),
    "toml": ("toml",),
    "markdown": ("md", "mdx", "markdown"),
}
_ALIASES = {"c++": "cpp", "c#": "csharp", "golang": "go", "bash": "shell", "node": "javascript", "react": "javascript"}


def extensions_of(language: str) -> tuple[str, ...]:
    """The file name extensions of a language, given by name, alias or extension.

    Raises:
        ToolError: it is unknown; the message lists the known ones.
    """
    wanted = language.strip().casefold().removeprefix("*").removeprefix(".")
    wanted = _ALIASES.get(wanted, wanted)
    if wanted in LANGUAGES:
        return LANGUAGES[wanted]
    for extensions in LANGUAGES.values():
        if wanted in extensions:
            return extensions
    hint = did_you_mean(near(wanted, LANGUAGES))
    raise ToolError(f"there is no language {language[:80]!r}.{hint} Known: {', '.join(LANGUAGES)}.")


def extension(path: str) -> str:
    """`py` for `a/b.PY`."""
    return PurePosixPath(path).suffix.removeprefix(".").casefold()


FileKind = Literal["implementation", "guide", "prose", "settings", "history", "test", "example", "data"]
Intent = Literal["overview", "start", "place", "explanation", "usage", "tests", "any"]

PROSE = {"md", "mdx", "markdown", "rst", "txt", "adoc"}
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
    r"(^|/)(tests?|specs?|__tests__|__mocks__|testdata|fixtures?|e2e|scenarios)/"
    r"|(^|/)(test_[^/]*|conftest\.py|[^/]*(_test|\.test|\.spec|-test|_spec)\.\w+|[^/]*Tests?\.(java|kt|cs|swift|scala))$"
)
_GUIDE = re.compile(
    r"^(readme|contributing|install(ation|ing)?|getting[_-]?started|quick[_-]?start|usage|hacking|development)\b[^/]*$"
    r"|^(docs?|documentation|guides?|manual|wiki|handbook)/"
    r"(?!(internals?|design|architecture|adrs?|decisions|rfcs?|proposals|contributing|contributors?|dev|developers?)/)",
    re.IGNORECASE,
)
_TREE = re.compile(r"(^|/)([\w-]*[_-])?trees/[^/]+\.ya?ml$", re.IGNORECASE)
_BUILD = re.compile(r"(^|/)(makefile|justfile|rakefile|dockerfile|procfile|taskfile|cmakelists)\b[^/]*$", re.IGNORECASE)
_EXAMPLE = re.compile(r"(^|/)(examples?|samples?|demos?|benchmarks?|bench|playground|tutorials?)/", re.IGNORECASE)

_OUTSIDE_IN: dict[FileKind, float] = {
    "implementation": 0.55,
    "guide": 1.4,
    "prose": 1.1,
    "settings": 0.9,
    "history": 0.4,
    "test": 0.3,
    "example": 0.6,
    "data": 0.2,
}
"""For questions about the project as a whole, from a user's point of view."""

_FACTORS: dict[Intent, dict[FileKind, float]] = {
    "overview": _OUTSIDE_IN,
    "start": _OUTSIDE_IN,
    "usage": _OUTSIDE_IN,
    "any": {"prose": 0.85, "settings": 0.85, "history": 0.4, "test": 0.45, "example": 0.5, "data": 0.2},
    "place": {"prose": 0.6, "settings": 0.8, "history": 0.3, "test": 0.45, "example": 0.5, "data": 0.2},
    "explanation": {"prose": 1.0, "settings": 0.9, "history": 0.5, "test": 0.4, "example": 0.45, "data": 0.2},
    "tests": {"implementation": 0.7, "prose": 0.7, "settings": 0.7, "history": 0.3, "example": 0.6, "data": 0.2},
}

_ABOUT_TESTS = re.compile(
    r"\b(unit|regression|integration|acceptance)[ -]?tests?\b|\btests?\s+(for|of|that|cover\w*|about)\b"
    r"|\b(which|what|where|is|are|any|find|show)\b[^?.]{0,40}\b(tests?|tested|fixtures?)\b|\btest_\w|^tests?\b|\btests?$"
    r"|\bTests?\s+(für|von)\b",
    re.IGNORECASE,
)
_ABOUT_USAGE = re.compile(
    r"\bhow\s+(do\s+(i|we|you|one)|can|could|should|would|must|to)\b|\b(install|set\s?up|getting started|usage)\b"
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
_GOING = frozenset(
    """install installs installing installation get getting start started starting setup begin beginning usage
    quickstart installiere installieren anfangen loslegen einrichten installer instalar empezar""".split()  # noqa: SIM905
)
_WHOLE = _GOING | frozenset(
    """project projects repo repository codebase code base app application software program package library service
    this about overview summary summarize summarise purpose introduction intro readme describe idea goal thing
    projekt überblick zusammenfassung zweck projet aperçu proyecto resumen""".split()  # noqa: SIM905
)
"""Words that denote the project as a whole, or its installation and first start."""

_NAME_ALONE = re.compile(r"[\w.:()/-]+$")


@lru_cache(maxsize=32_768)
def kind_of(path: str) -> FileKind:
    """The kind of a file, by the folders, name and extension of its path."""
    suffix = extension(path)
    if suffix in _DATA or _GENERATED.search(path):
        return "data"
    if _TEST.search(path):
        return "test"
    if _HISTORY.search(path):
        return "history"
    if _EXAMPLE.search(path):
        return "example"
    if suffix in PROSE or (not suffix and _GUIDE.match(path)):
        return "guide" if _GUIDE.match(path) else "prose"
    is_settings = (suffix in _SETTINGS and not is_tree(path)) or _BUILD.search(path)
    return "settings" if is_settings else "implementation"


def is_tree(path: str) -> bool:
    """Whether a file is a behavior tree, which is a source like code."""
    return _TREE.search(path) is not None


def intent_of(text: str, *, words: Sequence[str] = ()) -> Intent:
    """The intent of a query, by the words around its subject, which is given as `words` in lower case."""
    text = " ".join(text.split())
    if words and _WHOLE.issuperset(words):
        if _GOING.isdisjoint(words):
            return "overview" if " " in text else "any"
        return "start" if _ABOUT_USAGE.search(text) else "any"
    if _ABOUT_USAGE.search(text):
        return "usage"
    if _ABOUT_TESTS.search(text):
        return "tests"
    if _ABOUT_PLACE.search(text) or _NAME_ALONE.match(text):
        return "place"
    return "explanation" if _ABOUT_EXPLANATION.search(text) else "any"


def kind_factor(path: str, *, intent: Intent) -> float:
    """The factor that a file's score is multiplied by."""
    factors, kind = _FACTORS[intent], kind_of(path)
    return factors.get(kind, factors.get("prose", 1.0) if kind == "guide" else 1.0)
