"""Globs as in git's ignore files (gitignore(5), git's `wildmatch.c`), as regular expressions that cannot be made slow.

A project's ignore files are untrusted. Libraries (such as pathspec) turn `*a*a*a*a*a*b` into an expression that takes
minutes for one name and blocks the interpreter meanwhile. Here each `*` but the last of a name, and each `**` but the
last of a path, is in an atomic group: what follows is matched at its first possible position, which is as good as any
other because all pieces between stars have a fixed length. So matching takes time proportional to the product of both
lengths at most.
"""

import re
from collections.abc import Callable, Iterator

from bt_runtime.text.data import dataclass
from oracle.tools.errors import ToolError

_MAX_PATTERN_CHARS = 200
_MAX_ALTERNATIVES = 32
_BRACES = re.compile(r"\{([^{}]*)\}")
_STAR, _SLASH, _ANY_FOLDERS = "*", "/", "**"
_NAME_END = r"(?=/|\Z)"
_FOLDERS = "(?:[^/]+/)*"
_POSIX = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r" \t\n\r\f\v",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


class _NeverMatchesError(Exception):
    """The glob is malformed; in git it matches nothing."""


@dataclass(frozen=True, slots=True)
class _Token:
    """`kind` is one of the three constants above, or empty for `regex`, which matches one character."""

    kind: str = ""
    regex: str = ""
    text: str | None = None


def literal_of(glob: str) -> str | None:
    """The text that the glob matches, if it is a literal."""
    tokens = _tokens_or_none(glob)
    return None if tokens is None else _text(tokens)


def suffix_of(glob: str) -> str | None:
    """The suffix that names must have, if the glob is a `*` followed by a literal."""
    tokens = _tokens_or_none(glob) or []
    return _text(tokens[1:]) if tokens and tokens[0].kind == _STAR else None


def name_regex(glob: str) -> str | None:
    """The expression for a glob without `/`, to be matched against a name; `None` if it matches nothing."""
    tokens = _tokens_or_none(glob)
    return None if tokens is None else _name(tokens) + r"\Z"


def path_regex(glob: str) -> str | None:
    """The expression for a glob with `/`, to be matched against a whole path; `None` if it matches nothing."""
    tokens = _tokens_or_none(glob)
    if tokens is None:
        return None
    chunks = _chunks(_folders_marked(tokens))
    if len(chunks) == 1:
        return "/".join(map(_name, chunks[0])) + r"\Z"
    first, *middle, last = chunks
    parts = ["".join(f"{_name(name)}/" for name in first)]
    parts += [f"(?>{_FOLDERS}?" + "".join(f"{_name(name)}/" for name in chunk) + ")" for chunk in middle]
    parts.append(_FOLDERS + "/".join(map(_name, last)) if last else "(?s:.*)")
    return "".join(parts) + r"\Z"


def matcher(pattern: str) -> Callable[[str], bool]:
    """A predicate for paths with `/`; a pattern without `/` is matched against the name only, `{a,b}` is either.

    Raises:
        ToolError: it is too long or has too many alternatives.
    """
    if len(pattern) > _MAX_PATTERN_CHARS:
        raise ToolError(f"pattern has {len(pattern):,} characters; at most {_MAX_PATTERN_CHARS} are allowed.")
    globs = [glob.removeprefix("./") for glob in _expanded(pattern)]
    paths = [re.compile(regex) for glob in globs if "/" in glob and (regex := path_regex(glob))]
    names = [re.compile(regex) for glob in globs if "/" not in glob and (regex := name_regex(glob))]

    def matches(path: str) -> bool:
        name = path.rpartition("/")[2]
        return any(regex.match(path) for regex in paths) or any(regex.match(name) for regex in names)

    return matches


def _expanded(pattern: str) -> list[str]:
    patterns = [pattern]
    while any(_BRACES.search(text) for text in patterns):
        expanded = []
        for text in patterns:
            found = _BRACES.search(text)
            choices = found[1].split(",") if found else [""]
            before, after = (text[: found.start()], text[found.end() :]) if found else (text, "")
            expanded += [before + choice + after for choice in choices]
        patterns = expanded
        if len(patterns) > _MAX_ALTERNATIVES:
            raise ToolError(f"pattern {pattern!r} has more than {_MAX_ALTERNATIVES} alternatives; use fewer braces.")
    return patterns


def _text(tokens: list[_Token]) -> str | None:
    if any(token.text is None for token in tokens):
        return None
    return "".join(token.text or "" for token in tokens)


def _tokens_or_none(glob: str) -> list[_Token] | None:
    try:
        return list(_tokens(glob))
    except _NeverMatchesError:
        return None


def _tokens(glob: str) -> Iterator[_Token]:
    at = 0
    while at < len(glob):
        sign = glob[at]
        at += 1
        if sign == "*":
            start = at - 1
            while glob.startswith("*", at):
                at += 1
            yield _Token(_ANY_FOLDERS if at - start > 1 else _STAR)
        elif sign == "/":
            yield _Token(_SLASH, text="/")
        elif sign == "?":
            yield _Token(regex="[^/]")
        elif sign == "[":
            members, at = _bracket(glob, at)
            yield _Token(regex=members)
        else:
            if sign == "\\":
                sign, at = _one(glob, at)
            yield _Token(_SLASH, text="/") if sign == "/" else _Token(regex=re.escape(sign), text=sign)


def _bracket(glob: str, at: int) -> tuple[str, int]:
    """The expression for a set of characters, and the position after it."""
    is_negated = glob[at : at + 1] in {"!", "^"}
    at += is_negated
    members: list[str] = []
    before = ""
    first = at
    while at == first or glob[at : at + 1] != "]":
        sign, at = _one(glob, at)
        if sign == "\\":
            sign, at = _one(glob, at)
            members.append(re.escape(sign))
        elif sign == "-" and before and glob[at : at + 1] not in {"", "]"}:
            end, at = _one(glob, at)
            if end == "\\":
                end, at = _one(glob, at)
            if before <= end:
                members.append(f"{re.escape(before)}-{re.escape(end)}")
            sign = ""
        elif sign == "[" and glob.startswith(":", at) and (found := _posix(glob, at)):
            name, at = found
            members.append(name)
            sign = ""
        else:
            members.append(re.escape(sign))
        before = sign
    return ("[^/" if is_negated else "(?!/)[") + "".join(members) + "]", at + 1


def _posix(glob: str, at: int) -> tuple[str, int] | None:
    """The members of `[:name:]` and the position after it; `None` if there is no such class."""
    end = glob.find("]", at)
    if end < 0:
        raise _NeverMatchesError
    if end - at < 2 or glob[end - 1] != ":":
        return None
    members = _POSIX.get(glob[at + 1 : end - 1])
    if members is None:
        raise _NeverMatchesError
    return members, end + 1


def _one(glob: str, at: int) -> tuple[str, int]:
    if at >= len(glob):
        raise _NeverMatchesError
    return glob[at], at + 1


def _folders_marked(tokens: list[_Token]) -> Iterator[_Token]:
    """The tokens, with each `**` that is not a whole part between slashes replaced by `*`."""
    for number, token in enumerate(tokens):
        around = (tokens[number - 1 : number], tokens[number + 1 : number + 2])
        is_part = all(not each or each[0].kind == _SLASH for each in around)
        yield _Token(_STAR) if token.kind == _ANY_FOLDERS and not is_part else token


def _chunks(tokens: Iterator[_Token]) -> list[list[list[_Token]]]:
    """The names of the path in runs, separated by `**`."""
    names: list[list[_Token]] = [[]]
    for token in tokens:
        if token.kind == _SLASH:
            names.append([])
        else:
            names[-1].append(token)
    chunks: list[list[list[_Token]]] = [[]]
    for name in names:
        if [token.kind for token in name] != [_ANY_FOLDERS]:
            chunks[-1].append(name)
        elif len(chunks) == 1 or chunks[-1]:
            chunks.append([])
    return chunks


def _name(tokens: list[_Token]) -> str:
    """The expression for one name of a path, including its end."""
    pieces = [""]
    for token in tokens:
        if token.kind in {_STAR, _ANY_FOLDERS}:
            pieces.append("")
        else:
            pieces[-1] += token.regex
    if len(pieces) == 1:
        return pieces[0] + _NAME_END
    first, *middle, last = pieces
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle if piece) + f"(?>[^/]*{last}{_NAME_END})"
