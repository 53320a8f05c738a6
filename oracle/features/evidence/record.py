"""What a run did and read, as a matcher asks for it: calls, paths, the lines of files that were shown, all words."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, Final

from bt_runtime.text.data import dataclass
from oracle.core.encoding import to_json
from oracle.features.evidence.paths import Paths, mentions, normal
from oracle.features.evidence.words import says, words

_MOST: Final = 2_000_000
"""Characters of results that are read, those of the latest calls first."""
_MOST_OF_ONE: Final = 200_000
_MOST_LINES: Final = 200_000
"""Lines of a file that may have been shown as a whole."""
_NUMBERED: Final = re.compile(r"^\s{0,8}>?\s{0,8}(\d{1,7})(?:\s?[|:│→]|\t|  )", re.MULTILINE)
_HEADED: Final = re.compile(
    r"[^\n:]{1,200}?(?:, lines? \d{1,7}(?:-\d{1,7})? of (?P<of>\d{1,7})(?: \([^()\n]{1,40}\))?$|:\d{1,7}\b|$)"
)
_PLACE: Final = re.compile(r"(?<![\w/.-])((?:[\w.@+-]{1,80}/){0,12}[\w@+-][\w.@+-]{0,100}\.\w{1,9}):(\d{1,7})\b")
_WORD: Final = re.compile(r"[^\W\d_]{3,}|\d+")
_IDENTIFIER: Final = re.compile(r"[\w@.+-]+")
_TARGETS: Final = frozenset(
    ("path", "file", "thread", "id", "to", "name", "title", "number", "channel", "command", "key", "url")
)
_PATH_ARGUMENTS: Final = frozenset(
    ("path", "file", "folder", "thread", "note", "filename", "file_path", "target", "destination", "to", "name", "url")
)


@dataclass(frozen=True)
class Call:
    """A tool call of the run.

    Args:
        tool: its name.
        arguments: as they were given.
        result: its text.
        ok: it did not fail.
        writes: whether the tool changes anything; `None`: its name decides.
    """

    tool: str
    arguments: Mapping[str, Any]
    result: str
    ok: bool = True
    writes: bool | None = None

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the tool's name."""
        return frozenset(re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.tool).casefold()))

    @cached_property
    def given(self) -> str:
        """Tool and arguments as text, in lower case."""
        try:
            return f"{self.tool} {to_json(self.arguments).decode()}".casefold()
        except (TypeError, ValueError, RecursionError):
            return f"{self.tool} {self.arguments}".casefold()

    @cached_property
    def target(self) -> str:
        """What it is about: the first of its arguments that names something, or all of them."""
        named = [str(value) for name, value in self.arguments.items() if name in _TARGETS]
        return named[0].casefold() if named else self.given

    @property
    def addressed(self) -> dict[str, Any]:
        """Its arguments without the texts that are written or sent."""
        return {name: value for name, value in self.arguments.items() if name not in words("bodies")}

    def can(self, what: str) -> bool:
        """Whether a word of its name is one of a list of words."""
        return not self.words.isdisjoint(words(what))

    @property
    def is_sending(self) -> bool:
        """Whether it sends something to people, and changes nothing else."""
        return self.can("sending_only")

    @property
    def is_writing(self) -> bool:
        """Whether it changes anything."""
        if self.can("running_tools") and self.words.isdisjoint(("test", "tests", "lint", "build")):
            return says("changes", self.given)
        if self.writes is not None:
            return self.writes
        verbs = self.words & words("writing_tools") - words("tool_nouns")
        return bool(verbs) or not self.can("reading_tools")


class Known:
    """A text in which names are looked for, in lower case.

    Args:
        text: it, in any case.
    """

    def __init__(self, text: str) -> None:
        self.text = text.casefold()
        self.plain = plain_words(self.text)
        self.numbers = numbers(self.text)

    def __contains__(self, part: str) -> bool:
        return part in self.text


@dataclass
class Done:
    """What a run did and read.

    Args:
        calls: in their order.
        said: texts that came with the question: its own words first, earlier messages, attached texts.
        attached: the texts of attached files by name; empty where the text is unknown.
        paths: those that occur anywhere.
        opened: the files that were read or written, whole or in part.
        whole: those that were shown from the first line to the last.
        written: those that were written.
        lines: by a normal path, the lines that were shown of it.
        texts: by a normal path, what was shown of it, in the form of `plain_words`.
    """

    calls: tuple[Call, ...] = ()
    said: tuple[str, ...] = ()
    attached: Mapping[str, str] = field(default_factory=dict)
    paths: Paths = field(default_factory=Paths)
    opened: Paths = field(default_factory=Paths)
    whole: Paths = field(default_factory=Paths)
    written: Paths = field(default_factory=Paths)
    lines: dict[str, set[int]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    _lengths: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.paths.add(*self.attached)
        self.opened.add(*self.attached)
        texts, left = [*self.said, *self.attached.values()], _MOST
        for text in texts:
            self._note_places(text)
        for name, text in self.attached.items():
            self._put(normal(name), text.split("\n"))
        for call in reversed(self.calls):
            result = call.result[: min(left, _MOST_OF_ONE)]
            left -= len(result)
            texts += [result, *_texts(call.arguments)]
            if call.ok:
                self._take(call, result)
            elif call.can("running_tools"):
                self._note_places(result)
        self.whole.add(
            *(path for path, of in self._lengths.items() if self.lines.get(path, set()) >= set(range(1, of + 1)))
        )
        self.haystack = plain_words("\n".join(texts))

    @cached_property
    def successes(self) -> list[Call]:
        """The calls that did not fail."""
        return [call for call in self.calls if call.ok]

    @cached_property
    def writes(self) -> list[Call]:
        """The calls that have changed something, or may have."""
        return [call for call in self.successes if call.is_writing]

    @cached_property
    def reads(self) -> list[Call]:
        """The calls that have shown something, and have changed nothing but by a program."""
        return [call for call in self.successes if not call.is_writing or call.can("running_tools")]

    @cached_property
    def runs(self) -> list[Call]:
        """The calls that ran a program, whether or not they failed."""
        return [call for call in self.calls if call.can("running_tools")]

    @cached_property
    def is_asked_to_act(self) -> bool:
        """Whether the question asks for something to be done, rather than to be known."""
        return bool(self.said) and says("action", self.said[0])

    @cached_property
    def question(self) -> str:
        """What was asked, in lower case."""
        return self.said[0].casefold() if self.said else ""

    @cached_property
    def changed(self) -> Known:
        """What successful changes were about: their arguments and results, and the lines with one of their values."""
        made = "\n".join(f"{call.given}\n{call.result[:5_000].casefold()}" for call in self.writes)
        return Known(f"{made}\n{self.lines_changed}")

    @cached_property
    def lines_changed(self) -> str:
        """The lines of results that have an identifier of a successful change."""
        return self.lines_about(self.writes)

    @cached_property
    def addressed(self) -> Known:
        """To whom and about what successful changes were, without the texts that they have."""
        made = (
            f"{' '.join([*each.addressed, *_texts(list(each.addressed.values()))])}\n{each.result[:2_000]}"
            for each in self.writes
        )
        return Known("\n".join([*made, self.lines_changed]))

    def lines_about(self, calls: Iterable[Call]) -> str:
        """The lines of results that have an identifier from the arguments of some calls, in lower case."""
        texts = " ".join(text[:200] for call in calls for text in _texts(call.addressed)).casefold()
        given = {each for each in _IDENTIFIER.findall(texts) if re.search(r"[\d@]", each)}
        rows = [row for call in self.successes for row in call.result[:_MOST_OF_ONE].casefold().split("\n")]
        short = (row for row in rows[:20_000] if given and len(row) < 1_000)
        return "\n".join(row for row in short if any(each.rstrip(".-") in given for each in _IDENTIFIER.findall(row)))

    @cached_property
    def has_failed_writes(self) -> bool:
        """Whether a call that would have changed something has failed."""
        return any(call.is_writing and not call.ok for call in self.calls)

    @cached_property
    def raw(self) -> str:
        """All that was read, given and said, in lower case."""
        return "\n".join(
            [*self.said, *(f"{call.given}\n{call.result[:_MOST_OF_ONE]}" for call in self.calls)]
        ).casefold()

    @cached_property
    def shown(self) -> str:
        """What results have shown, in the form of `plain_words`."""
        return plain_words("\n".join(call.result[:_MOST_OF_ONE] for call in self.successes))

    def text_of(self, path: str) -> str:
        """What was shown of a file, in the form of `plain_words`; empty if that is unknown."""
        return " ".join(self.texts[each] for each in Paths(self.texts).same(path))

    @property
    def is_partial(self) -> bool:
        """Whether only parts were shown of each file whose length is known."""
        return bool(self._lengths) and not len(self.whole)

    @cached_property
    def told(self) -> str:
        """What was said, and what programs have printed, in the form of `plain_words`."""
        return plain_words("\n".join([*self.said, *(call.result[:_MOST_OF_ONE] for call in self.runs)]))

    @cached_property
    def read(self) -> list[frozenset[str]]:
        """The stems of each result that was read."""
        return [frozenset(stems(call.result[:_MOST_OF_ONE])) for call in self.successes if not call.is_writing]

    def lines_of(self, path: str) -> set[int] | None:
        """The lines of a file that were shown; `None` if none was."""
        found = [self.lines[each] for each in self._numbered.same(path)]
        return set().union(*found) if found else None

    @cached_property
    def _numbered(self) -> Paths:
        return Paths(self.lines)

    @cached_property
    def all_lines(self) -> set[int]:
        """The lines that were shown of any file."""
        return set().union(*self.lines.values())

    def _take(self, call: Call, result: str) -> None:
        given = [normal(path) for path in _paths_of(call.arguments)]
        self.paths.add(*given, *(each.path for text in _texts(call.arguments) for each in mentions(text)))
        self._note_places(result)
        if call.is_writing and not call.can("running_tools"):
            named = [*given, *(normal(each.path) for each in mentions(result[:2_000]))]
            self.written.add(*named)
            self.opened.add(*named)
            for path in named:
                self._put(path, ["", "", "", *(row for text in _texts(call.arguments) for row in text.split("\n"))])
        elif not call.words & {"list", "ls"}:
            self.opened.add(*given)
            self._read(result, given)
        folders = [path for path in given if "." not in path.rpartition("/")[2]]
        self.paths.add(*(f"{folder}/{each.path}" for folder in folders for each in mentions(result)))

    def _put(self, path: str, rows: list[str]) -> None:
        """Note a text without numbers of lines; nothing if it is empty."""
        if any(rows):
            self._show(path, range(1, len(rows) + 1))
            self.texts[path] = f"{self.texts.get(path, '')} {plain_words(' '.join(rows))}"

    def _show(self, path: str, lines: range) -> None:
        self.lines.setdefault(path, set()).update(lines)

    def _note_places(self, text: str) -> None:
        for each in mentions(text):
            self.paths.add(each.path)
            if each.lines:
                self._show(normal(each.path), range(each.lines[0], each.lines[1] + 1))
        for path, line in _PLACE.findall(text):
            self._show(normal(path), range(int(line), int(line) + 1))

    def _read(self, result: str, given: list[str]) -> None:
        """Note the lines that the result of a read or a search shows, by the heading above them."""
        at, rows = (given[0] if len(given) == 1 else ""), dict[str, list[str]]()
        for row in result.split("\n"):
            if (number := _NUMBERED.match(row)) is not None:
                rows.setdefault(at, []).append(row)
                self._show(at, range(int(number[1]), int(number[1]) + 1))
            elif "." in row[:300] and (head := _HEADED.match(row)) is not None and (named := mentions(head[0])):
                at = normal(named[0].path)
                if head["of"] and 0 < int(head["of"]) <= _MOST_LINES:
                    self._lengths[at] = int(head["of"])
        for path, shown in rows.items():
            self.opened.add(path)
            self.texts[path] = f"{self.texts.get(path, '')} {plain_words(chr(10).join(shown))}"
        if not rows and len(given) == 1:
            self._put(given[0], result.split("\n"))
            self.whole.add(given[0])


def plain_words(text: str) -> str:
    """A text in lower case, without marks of Markdown, quotation marks and numbers of lines, with single spaces."""
    text = re.sub(r"[`*_\"\u201c\u201d\u2018\u2019'«»#|>\\\[\]]+", " ", _NUMBERED.sub(" ", text.casefold()))
    return " ".join(text.split())


def numbers(text: str) -> set[str]:
    """The whole numbers of a text, without zeros in front."""
    return {each.lstrip("0") or "0" for each in re.findall(r"\d+", text)}


def stems(text: str) -> Iterator[str]:
    """The beginnings of the words of a text, by which forms of a word are one."""
    return (word[:5] for word in _WORD.findall(text.casefold()))


def _texts(value: Any) -> list[str]:  # noqa: ANN401  JSON data
    """The texts and numbers in arguments."""
    left, found = [value], list[str]()
    while left and len(found) < 1_000:
        each = left.pop()
        if isinstance(each, str | int):
            found.append(str(each))
        elif isinstance(each, Mapping):
            left += each.values()
        elif isinstance(each, list | tuple):
            left += each
    return found


def _paths_of(arguments: Mapping[str, Any]) -> list[str]:
    """The paths that arguments name, by the names of the arguments."""
    given = [str(value) for name, value in arguments.items() if name in _PATH_ARGUMENTS and isinstance(value, str)]
    return [
        re.sub(r":\d{1,9}(?:-\d{1,9})?$", "", each) for each in given if each and len(each) < 400 and "\n" not in each
    ]
