"""From raw text to tokens: code and quotations become placeholders, the rest is folded and split into segments.

Every pattern here is linear: no nested repetition, and bounded spans. Text is bounded before anything else.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import field

from bt_runtime.text.data import dataclass

MAX_CHARS = 2_400
"""How much is read: half of it from the start and half from the end, where the requests of long messages are."""

IDENTIFIER = "xidentx"
QUOTED = "xquotedx"
NOTE_PATH = "xnotepathx"
LINK = "xlinkx"
COMMA = ","

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
    "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
_FENCE = re.compile(r"```[^`]{0,4000}(?:```|$)|~~~[^~]{0,4000}(?:~~~|$)")
_URL = re.compile(r"\b(?:https?://|www\.)[^\s<>\"')\]]{1,500}", re.IGNORECASE)
_BACKTICK = re.compile(r"`([^`\n]{1,200})`")
_QUOTE = re.compile('"[^"\n]{1,200}"|“[^”\n]{1,200}”|„[^“”\n]{1,200}[“”]|«[^»\n]{1,200}»')
_WORD = re.compile(r"\w+(?:['.:/+#@-]\w+)*(?:\+\+|#)?|,(?=\s)")
_SEGMENT_END = re.compile(
    r"(?<![.!?;\u3002\uff1f\uff01\u2026])[.!?;\u3002\uff1f\uff01\u2026]++(?=\s|$)|\n+|[!?\u00bf\u00a1]+|\s[\u2013\u2014-]{1,2}\s|:(?=\s|$)"
)
_MARKDOWN_PATH = re.compile(r"(?<![\w/.#-])[\w#-]{1,60}(?:[/.][\w#-]{1,60}){0,8}\.(?:md|markdown|mdx|org|canvas)\b")
_FOLDER = re.compile(
    r"(?<=\s)(?:in|into|under|to|from|below|inside|unter|nach|dans|en|in) ([A-Z][a-z][\w-]{0,40}/"
    r"(?:[\w#-]{1,40}/?){0,5})"
)

_CODE_SIGNS: dict[str, re.Pattern[str]] = {
    "trace": re.compile(
        r"Traceback \(most recent|File \"[^\"\n]{1,200}\", line \d|^\s{0,8}at [\w.$<>]{1,80} ?\([^)\n]{1,200}\)"
        r"|\bline \d{1,6}\b"
        r"|\bexit (?:code|status) \d|\bsegfault|\bSIG(?:SEGV|KILL|ABRT|TERM)\b|\bpanicked at\b"
        r"|\bgoroutine \d|\bcore dumped|\b\w{1,40}\.[a-z]{1,4}:\d{1,6}\b",
        re.MULTILINE,
    ),
    "error_name": re.compile(
        r"\b(?:[A-Z]\w{0,40})?(?:Error|Exception|Errno|Fault)\b(?!\s+(?:[a-z]+ing\b))|\bE[A-Z]{4,12}\b(?=[ :,.]|$)"
    ),
    "call": re.compile(r"\b[A-Za-z_][\w.]{1,60}\([^()\n]{0,60}\)"),
    "snake": re.compile(r"\b[A-Za-z0-9]{1,40}(?:_[A-Za-z0-9]{1,40}){1,8}\b|\b__\w{1,40}__\b"),
    "camel": re.compile(r"\b[A-Za-z0-9]{0,40}[a-z][A-Z][A-Za-z0-9]{0,40}\b|\b[A-Z]{3,8}[a-z]{3,20}\b"),
    "source_path": re.compile(
        r"(?<![\w/.@-])(?:[\w.@-]{1,60}/){0,8}[\w.@-]{1,60}\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs"
        r"|go|rs|rb|java|kt|kts|swift|c|h|cc|cpp|hpp|cs|php|scala|clj|ex|exs|erl|hs|lua|pl"
        r"|sh|bash|zsh|ps1|sql|html|css|scss|less"
        r"|vue|svelte|json|ya?ml|toml|ini|cfg|conf|env|lock|xml|gradle|proto|graphql|tf|ipynb"
        r"|dart|zig|nim|asm|cmake|mk)\b"
        r"|(?<![\w/])(?:src|lib|app|tests?|pkg|cmd|internal|services|utils|api|web|server|client"
        r"|packages|modules|components|migrations|scripts|bin|include|core)/[\w./-]{1,120}"
        r"|\b(?:Dockerfile|Makefile|Procfile|Jenkinsfile|Gemfile|Cargo\.lock|go\.mod|go\.sum)\b"
        r"|(?<!\w)\.(?:env|gitignore|dockerignore|editorconfig|github)\b"
    ),
    "flag": re.compile(r"(?<![\w-])--[a-z][\w-]{1,40}"),
    "route": re.compile(
        r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD) /[\w/{}:.-]{0,120}|(?<![\w/.])/(?:api|v\d)/[\w/{}:.-]{1,120}"
    ),
}


_MARKS: dict[str, tuple[str, ...]] = {
    "trace": ("Traceback", "line ", "(", "exit ", "segfault", "SIG", "panicked", "goroutine", "core dumped", ":"),
    "call": ("(",),
    "snake": ("_",),
    "source_path": (".", "/", "file"),
    "flag": ("--",),
    "route": ("/",),
}
"""By sign: a text without any of these has none of its kind of code, and most texts need no search by its pattern."""


@dataclass(frozen=True, slots=True)
class TextSegment:
    """A sentence or clause.

    Args:
        tokens: folded words; code, quotes and links are one placeholder each.
        is_question: it ends with a question mark.
        is_opener: it ends with a colon; what follows belongs to it.
    """

    tokens: tuple[str, ...]
    is_question: bool
    is_opener: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A message, split.

    Args:
        segments: sentences and clauses in their order; none is empty.
        signs: the kinds of code in it: `trace`, `call`, `snake`, …, `fence`, `backtick`; also `note_path`,
            `link`, `quote`.
        identifiers: the pieces of code, for display; at most ten.
    """

    segments: tuple[TextSegment, ...]
    signs: frozenset[str]
    identifiers: tuple[str, ...] = field(default=())


def word_set(words: str) -> frozenset[str]:
    """The words of a text, for membership tests; tables of words are easier to read as text."""
    return frozenset(words.split())


def fold(text: str) -> str:
    """Lower case without diacritics, with plain apostrophes and dashes; full-width letters become ordinary ones."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize(
        "NFKD", text.replace("\u2019", "'").replace("\u2018", "'").replace("\u02bc", "'")
    )
    plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    return plain.casefold().replace("\u2010", "-").replace("\u2011", "-")


def split_tokens(folded: str) -> list[str]:
    """The words of folded text, and its commas; inner hyphens, dots, slashes and apostrophes stay."""
    return _WORD.findall(folded)


def bounded(text: str) -> str:
    """The text without invisible characters; of a long one the beginning and the end."""
    if len(text) > MAX_CHARS:
        half = MAX_CHARS // 2
        text = f"{text[:half]}\n{text[-half:]}"
    return _INVISIBLE.sub("", text)


def take_apart(text: str, *, is_public: Callable[[str], bool]) -> Text:
    """Set code, quotes and links apart, and cut the rest into segments of tokens.

    Args:
        text: the message.
        is_public: whether a folded word is the name of a public product; "GitHub" and "node.js" are no code of ours.
    """
    rest = bounded(text)
    signs: set[str] = set()
    identifiers: list[str] = []
    rest = _set_apart(rest, _FENCE, "fence", IDENTIFIER, signs, identifiers)
    rest = _set_apart(rest, _URL, "link", LINK, signs, [])
    rest = _set_apart(rest, _MARKDOWN_PATH, "note_path", NOTE_PATH, signs, [])
    rest = _FOLDER.sub(lambda match: match.group().replace(match.group(1), f" {NOTE_PATH} "), rest)
    rest = _set_apart(rest, _BACKTICK, "backtick", IDENTIFIER, signs, identifiers)
    rest = _set_code_apart(rest, is_public, signs, identifiers)
    rest = _set_apart(rest, _QUOTE, "quote", QUOTED, signs, [])
    return Text(_segments(rest), frozenset(signs), tuple(identifiers[:10]))


def _set_apart(
    text: str,
    pattern: re.Pattern[str],
    sign: str,
    placeholder: str,
    signs: set[str],
    found: list[str],
    is_public: Callable[[str], bool] | None = None,
) -> str:
    def replace(match: re.Match[str]) -> str:
        word = match.group()
        if is_public is not None and is_public(fold(word)):
            return word
        signs.add(sign)
        found.append(word[:80])
        return f" {placeholder} "

    return pattern.sub(replace, text)


def _set_code_apart(text: str, is_public: Callable[[str], bool], signs: set[str], identifiers: list[str]) -> str:
    """Replace identifiers, paths and traces; public names and words in capitals are not identifiers."""
    letters = sum(map(str.isalpha, text))
    is_shouted = letters > 0 and sum(map(str.isupper, text)) > 0.7 * letters
    for sign, pattern in _CODE_SIGNS.items():
        if is_shouted and sign in {"error_name", "camel"}:
            continue
        if sign in _MARKS and not any(mark in text for mark in _MARKS[sign]):
            continue
        text = _set_apart(text, pattern, sign, IDENTIFIER, signs, identifiers, is_public)
    return text


def _segments(text: str) -> tuple[TextSegment, ...]:
    folded = fold(text)
    segments: list[TextSegment] = []
    start = 0
    for end in _SEGMENT_END.finditer(folded):
        _append(segments, folded[start : end.start()], is_question="?" in end.group(), is_opener=end.group() == ":")
        start = end.end()
    _append(segments, folded[start:], is_question=False)
    return tuple(segments)


def _append(segments: list[TextSegment], piece: str, *, is_question: bool, is_opener: bool = False) -> None:
    tokens = tuple(split_tokens(piece))
    if any(token != COMMA for token in tokens):
        segments.append(TextSegment(tokens, is_question, is_opener))
