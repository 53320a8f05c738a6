"""Every regular expression of the product reads hostile text in time in proportion to its length.

Most texts that the product reads come from a model, a tool, a user or a file, and one slow search holds the whole
process. So each pattern gets texts that are made from its own parts, repeated: what it repeats, with what may precede
that, and an end that does not match. Four times the text may take four times the time; sixteen times is quadratic.
Processor time of the thread is measured, and a suspicion must be confirmed, so that a busy machine makes no difference.
"""

import ast
import importlib
import re
import re._constants as ops
import re._parser as parser
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from bt_runtime.language.expressions.syntax import LONGEST_EXPRESSION
from oracle.core.search.query import MAX_QUERY_CHARS

ROOMS = ("bt_runtime", "oracle", "prompts", "signals", "trees")
ROOT = Path(__file__).parents[1]

BOUNDED = {
    "bt_runtime.language.expressions.syntax._TEXT": LONGEST_EXPRESSION,
    "oracle.features.editing.expressions._TEXTS": LONGEST_EXPRESSION,
    "oracle.features.editing.occurrences._IN_EXPRESSION": LONGEST_EXPRESSION,
    "oracle.tools.code_query._LOOKS_LIKE_REGEX": MAX_QUERY_CHARS,
    "oracle.tools.code_query._MENTION": MAX_QUERY_CHARS,
    "oracle.tools.code_query._QUESTION": MAX_QUERY_CHARS,
    "oracle.tools.code_query._REGEX_SYNTAX": MAX_QUERY_CHARS,
}
"""Patterns that take more time, and how many characters they get at most."""
LONGEST_BOUND = 1_000

TINY, CHARS = 32, 1_000
TIMES = 4
SLOW_S = 0.0002
"""A linear pattern takes less for so many characters, so it is not looked at further."""
TOO_STEEP = 2.2 * TIMES
SEARCHES = frozenset({"search", "sub", "subn", "finditer", "findall", "split"})
REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)
SETS = (ops.IN, ops.NOT_LITERAL, ops.ANY, ops.LITERAL)
MANY = 30  # repetitions from which on a repetition counts
SAMPLE = [*map(chr, range(32, 127)), "\n", "\t", "\r", "\x00", "\xe9", "\u2028", "\u8a9e"]
FAVOURITES = "a0 _.-\n"


class Found(NamedTuple):
    """A pattern of the product: where it stands, and by which methods it is used."""

    where: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


def modules() -> Iterator[tuple[ModuleType, str]]:
    """Those of the product that may hold patterns, with their texts."""
    for path in (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))):
        text = path.read_text(encoding="utf-8")
        if "import re\n" in text:
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield importlib.import_module(".".join(parts).removesuffix(".__init__")), text


def patterns_in(value: object, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4 and isinstance(value, Mapping):
        yield from patterns_in((*value.keys(), *value.values()), depth + 1)
    elif depth < 4 and isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from patterns_in(each, depth + 1)


def uses(text: str) -> tuple[dict[str, set[str]], Iterator[tuple[int, str, str]]]:
    """By which methods the names of a module are used, and the patterns that are written where they are used."""
    methods: dict[str, set[str]] = defaultdict(set)
    inline = []
    nodes = list(ast.walk(ast.parse(text)))
    for node in nodes:
        if not isinstance(node, ast.Attribute) or node.attr not in SEARCHES | {"match", "fullmatch"}:
            continue
        holder = node.value.value if isinstance(node.value, ast.Subscript) else node.value
        if isinstance(holder, ast.Name):
            methods[holder.id].add(node.attr)
    for node in nodes:
        match node:
            case ast.Call(ast.Attribute(ast.Name("re"), method), [ast.Constant(str(pattern)), *_]) if (
                method != "compile"
            ):
                inline.append((node.lineno, pattern, method))
    return methods, iter(inline)


def all_patterns() -> Iterator[Found]:
    seen = set()
    for module, text in modules():
        methods, inline = uses(text)
        for name, value in vars(module).items():
            held = vars(value) if isinstance(value, type) and value.__module__ == module.__name__ else value
            for pattern in patterns_in(held):
                if pattern not in seen:
                    seen.add(pattern)
                    yield Found(f"{module.__name__}.{name}", pattern, frozenset(methods[name]))
        for line, pattern, method in inline:
            yield Found(f"{module.__name__}:{line}", re.compile(pattern), frozenset({method}))


class Parts:
    """Texts that parts of a pattern match."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
        self.tree = parser.parse(pattern.pattern, flags)
        self._is_dot_all = bool(pattern.flags & re.DOTALL)
        sets = list(self._sets(self.tree))
        self._rank = {char: -sum(self._fits(each, char) for each in sets) for char in SAMPLE}

    def pumps(self, sequence: Any, before: str = "") -> Iterator[tuple[str, str]]:
        """What precedes each repetition, and texts that it repeats."""
        for op, value in sequence:
            if op in REPEATS and value[1] > MANY:
                yield from {(before, self.text(value[2], pick)) for pick in range(8)}
            for inner in _inside(op, value):
                yield from self.pumps(inner, before)
            before += self.text([(op, value)])

    def text(self, sequence: Any, pick: int = 0) -> str:
        """A short text that matches; another `pick` chooses other characters and branches."""
        parts = []
        for op, value in sequence:
            if op in SETS:
                chars = self._chars((op, value))
                parts.append(chars[pick // 2 % len(chars)])
            elif op in REPEATS:
                parts.append(self.text(value[2], pick) * value[0])
            elif op is ops.BRANCH:
                parts.append(self.text(value[1][pick % len(value[1])], pick))
            elif op in (ops.SUBPATTERN, ops.ATOMIC_GROUP):
                parts.append(self.text(_inside(op, value)[0], pick))
        return "".join(parts)

    def _sets(self, sequence: Any) -> Iterator[tuple[Any, Any]]:
        for op, value in sequence:
            if op in SETS:
                yield op, value
            for inner in _inside(op, value):
                yield from self._sets(inner)

    def _chars(self, each: tuple[Any, Any]) -> list[str]:
        """Those that most parts of the pattern accept come first: they can be matched in several ways."""
        if each[0] is ops.LITERAL:
            return [chr(each[1])]
        fitting = sorted((char for char in SAMPLE if self._fits(each, char)), key=self._rank.__getitem__)
        return [*fitting[:1], *(char for char in FAVOURITES if char in fitting[1:])][:4] or ["?"]

    def _fits(self, each: tuple[Any, Any], char: str) -> bool:
        op, value = each
        if op is ops.ANY:
            return self._is_dot_all or char != "\n"
        if op is not ops.IN:
            return (ord(char) == value) is (op is ops.LITERAL)
        hits = [_fits_item(*item, char) for item in value if item[0] is not ops.NEGATE]
        return any(hits) is (value[0][0] is not ops.NEGATE)


CATEGORIES = {
    ops.CATEGORY_DIGIT: r"\d",
    ops.CATEGORY_NOT_DIGIT: r"\D",
    ops.CATEGORY_SPACE: r"\s",
    ops.CATEGORY_NOT_SPACE: r"\S",
    ops.CATEGORY_WORD: r"\w",
    ops.CATEGORY_NOT_WORD: r"\W",
}


def _fits_item(op: Any, value: Any, char: str) -> bool:
    if op is ops.RANGE:
        return value[0] <= ord(char) <= value[1]
    if op is ops.CATEGORY:
        return re.match(CATEGORIES[value], char) is not None
    return ord(char) == value


def _inside(op: Any, value: Any) -> list[Any]:
    if op in REPEATS:
        return [value[2]]
    if op is ops.BRANCH:
        return value[1]
    if op is ops.SUBPATTERN:
        return [value[-1]]
    if op is ops.ATOMIC_GROUP:
        return [value]
    return [value[1]] if op in (ops.ASSERT, ops.ASSERT_NOT) else []


def hostile(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Beginnings, what to repeat behind them, and ends."""
    parts = Parts(pattern)
    for before, pump in set(parts.pumps(parts.tree)):
        units = {("", before + pump), ("", before + pump + "x")}
        if pump:
            units |= {(before, pump), (before, pump + " "), (before + "x", pump), ("x" + before, pump)}
        yield from ((head, unit, end) for (head, unit), end in product(units, ("", "\x00", "\n!")) if unit)


def cpu_s(found: Found, text: str, *, tries: int = 3) -> float:
    """Processor seconds of the pattern on a text, the least of some tries."""
    given = text.encode() if isinstance(found.pattern.pattern, bytes) else text
    times = []
    for _ in range(tries):
        before = time.thread_time()
        if found.methods <= {"match", "fullmatch"} and found.methods:
            for method in found.methods:
                getattr(found.pattern, method)(given)
        else:
            sum(1 for _ in found.pattern.finditer(given))
        times.append(time.thread_time() - before)
    return min(times)


def steepest(found: Found) -> tuple[str, str, str] | None:
    """A hostile text whose time grows faster than its length; `None` if there is none."""
    for head, unit, end in hostile(found.pattern):
        tiny, short, long = (head + unit * (chars // len(unit)) + end for chars in (TINY, CHARS, TIMES * CHARS))
        if cpu_s(found, tiny, tries=1) > SLOW_S and cpu_s(found, tiny) > SLOW_S:  # exponential: no longer text ends
            return head, unit, end
        if cpu_s(found, short, tries=1) > SLOW_S and all(
            cpu_s(found, long) > TOO_STEEP * cpu_s(found, short) > SLOW_S for _ in range(2)
        ):
            return head, unit, end
    return None


@pytest.mark.parametrize(
    ("text", "methods", "is_steep"),
    [
        (r"[\w-]+$", {"search"}, True),
        (r"(?<![\w-])[\w-]+$", {"search"}, False),
        (r"[\w-]+$", {"match"}, False),
        (r"a\s*(.*?)\s*$", {"match"}, True),
        (r"(?:a|b|ab)*c", {"match"}, True),
        (r"'(?:[^'\\]|\\.)*'", {"search"}, True),
        (r"\b(?:we|us)\b.*\bothers\b", {"search"}, True),
        (r"x\d*\d*y", {"match"}, True),
        (r"<note>(.*?)</note>", {"search"}, True),
    ],
)
def test_a_pattern_that_takes_more_than_its_share_is_noticed(text, methods, is_steep):
    found = Found("here", re.compile(text), frozenset(methods))
    assert (steepest(found) is not None) is is_steep


@pytest.mark.long("times every pattern of the product")
def test_every_pattern_reads_hostile_text_in_time_in_proportion_to_its_length():
    everything = list(all_patterns())
    assert len(everything) > 200
    steep = {found.where: steepest(found) for found in everything if found.where not in BOUNDED}
    assert {where: why for where, why in steep.items() if why} == {}


def test_patterns_that_take_more_get_short_texts():
    assert max(BOUNDED.values()) <= LONGEST_BOUND
