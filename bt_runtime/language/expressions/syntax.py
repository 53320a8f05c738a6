"""From an expression's text to Python's syntax tree, with errors in an author's words.

Text that Python's parser would warn about, or accept in surprising ways, is refused first: control characters,
comments, unknown escapes, numbers such as `0x1F` or `1or`.
"""

import ast
import re
from functools import lru_cache

from bt_runtime.language.errors import ExpressionError
from bt_runtime.text import Suggestion

LONGEST_EXPRESSION = 500
"""Characters. A longer expression should be split over several nodes."""

_LINE_BREAKS = str.maketrans("\n\r\t", "   ")
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_ESCAPE = re.compile(r"\\(.|$)")
_NUMBER_START = re.compile(r"(?<![\w.])\.?[0-9]")
_NUMBER = re.compile(r"(?:[0-9][0-9_]*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.])")
_SLIPS = (
    (re.compile(r"&&"), "write 'and'"),
    (re.compile(r"\|\|"), "write 'or'"),
    (re.compile(r"!(?!=)"), "write 'not'"),
    (re.compile(r"===|(?<![=!<>])=(?!=)"), "compare with '=='"),
    (re.compile(r"<>"), "compare with '!='"),
    (re.compile(r"\?"), "write 'A if CONDITION else B'"),
    (re.compile(r"\$\{"), "a parameter is a name here: write it without '${…}'"),
    (re.compile(r"[\u2018\u2019\u201c\u201d]"), "use straight quotes"),
)

_INSTEAD = {"&&": "and", "||": "or", "!": "not ", "===": "==", "=": "==", "<>": "!="}
"""What an editor writes in place of a common slip."""


@lru_cache(maxsize=4096)
def parse(text: str) -> ast.expr:
    """The syntax tree of an expression; columns in it count bytes without leading white space, see `column_of`.

    A text has one tree, which nobody changes.

    Raises:
        ExpressionError: it is empty, too long, or not an expression.
    """
    if not text.strip():
        raise ExpressionError("the expression is empty", 1, "for example: turn >= 3")
    if len(text) > LONGEST_EXPRESSION:
        message = f"the expression has {len(text)} characters, more than {LONGEST_EXPRESSION}"
        raise ExpressionError(message, 1, "split it over several nodes")
    for at, character in enumerate(text):
        if not character.isprintable() and character not in "\n\r\t":
            raise ExpressionError(f"the character U+{ord(character):04X} is not allowed in an expression", at + 1)
    bare = _TEXT.sub(lambda match: match[0][0] + "_" * (len(match[0]) - 2) + match[0][-1], text)
    _refuse_surprises(text, bare)
    try:
        return ast.parse(text.translate(_LINE_BREAKS).strip(), mode="eval").body
    except SyntaxError as error:
        raise _unreadable(error, text, bare) from None
    except (ValueError, RecursionError, MemoryError):
        raise ExpressionError("the expression cannot be read", 1) from None


def column_of(node: ast.expr, text: str) -> int:
    """The column of a part, in characters from 1."""
    before = text.lstrip().encode()[: node.col_offset]
    return _indent(text) + len(before.decode(errors="ignore")) + 1


def span_of(node: ast.expr, text: str) -> tuple[int, int]:
    """Where a part stands: its first character, from 0, and the one behind its last."""
    data, indent = text.strip().encode(), _indent(text)
    start, end = (len(data[:at].decode(errors="ignore")) for at in (node.col_offset, node.end_col_offset or 0))
    return indent + start, indent + end


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _refuse_surprises(text: str, bare: str) -> None:
    comment = bare.find("#")
    if comment >= 0:
        raise ExpressionError("an expression has no comments", comment + 1, "put quotes around text")
    for match in _ESCAPE.finditer(text):
        if match[1] not in ("\\", "'", '"', "n", "t"):
            hint = "a backslash is allowed only before a quote, a backslash, 'n' or 't'"
            raise ExpressionError(f"{match[0]!r} is not an escape", match.start() + 1, hint)
    for match in _NUMBER_START.finditer(bare):
        if not _NUMBER.match(bare, match.start()):
            raise ExpressionError("this is not a decimal number", match.start() + 1, "for example: 3, 0.5, 1e6")


def _unreadable(error: SyntaxError, text: str, bare: str) -> ExpressionError:
    for slip, hint in _SLIPS:
        found = slip.search(bare)
        if found:
            message, right = f"{found[0]!r} is not used in expressions", _INSTEAD.get(found[0])
            advice = Suggestion(hint, written=found[0], instead=right) if right is not None else hint
            return ExpressionError(message, found.start() + 1, advice)
    column = min(_indent(text) + (error.offset or len(text) + 1), len(text) + 1)
    if column > len(text.rstrip()):
        return ExpressionError("the expression ends too early", len(text.rstrip()) + 1)
    reason = (error.msg or "invalid syntax").replace("invalid syntax. ", "").replace("f-string: ", "")
    return ExpressionError(f"the expression cannot be read: {reason}", column)
