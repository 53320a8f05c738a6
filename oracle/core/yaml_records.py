"""Files of YAML that people write: values with places, and all mistakes of a file together."""

import re
from collections.abc import Callable, Collection, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

from bt_runtime.language.kind import Kind, NodeSettings
from bt_runtime.language.reading.settings import read_settings
from bt_runtime.text import Mistake, did_you_mean, format_mistakes, in_order, listing
from bt_runtime.text.yaml_reader import LARGEST_FILE_BYTES, Entry, YamlNode, read_yaml

_S = TypeVar("_S", bound=NodeSettings)
_T = TypeVar("_T")


class Read(Protocol):
    """How a value is read."""

    def __call__(self, node: YamlNode, *, what: str) -> Any:  # noqa: ANN401  any part of a file
        """The value; what is wrong with it is reported as `what`."""
        ...


class Reader:
    """Collects the mistakes of one file.

    Args:
        code: the code of all its mistakes.
    """

    def __init__(self, code: str = "invalid") -> None:
        self.mistakes: list[Mistake] = []
        self._code = code

    def report(self, node: YamlNode | Entry, message: str, hint: str | None = None) -> None:
        """Add a mistake."""
        self.mistakes.append(Mistake(node.place, message, hint, code=self._code))

    def fields(
        self,
        node: YamlNode,
        known: Collection[str],
        *,
        what: str,
        required: Collection[str] = (),
        hint: str | None = None,
    ) -> Mapping[str, Entry]:
        """The entries of a mapping; unknown ones are reported and left out.

        Args:
            node: the mapping.
            known: the names of its fields.
            what: the mapping, with its article, for messages.
            required: the fields that it must have.
            hint: what is right if one of them is missing.
        """
        if not isinstance(node.data, dict):
            self.report(node, f"{what} must be a mapping, not {node.shape}", f"fields: {listing(known, most=30)}")
            return {}
        for name, entry in node.data.items():
            if name not in known:
                near = did_you_mean(name, known) or f"fields: {listing(known, most=30)}"
                self.report(entry, f"{what} has no field {name!r}", near)
        for name in required:
            if name not in node.data:
                self.report(node, f"the {what.partition(' ')[2]} has no {name!r}", hint)
        return {name: entry for name, entry in node.data.items() if name in known}

    def record(
        self, node: YamlNode, reads: Mapping[str, Read], *, what: str, required: Collection[str] = ()
    ) -> dict[str, Any]:
        """The values of the fields that a mapping has; `reads` says how each is read."""
        found = self.fields(node, reads, what=what, required=required)
        return {name: reads[name](entry.node, what=repr(name)) for name, entry in found.items()}

    def settings(
        self, entry: Entry, model: type[_S], *, noun: str, of: str, names: re.Pattern[str], hint: str, most: int
    ) -> dict[str, _S]:
        """The settings of things by their names.

        Args:
            entry: the mapping.
            model: what the settings of each thing are.
            noun: names a thing in the messages of wrong settings.
            of: stands before the name of a thing, as in `the server`.
            names: the pattern of names.
            hint: the pattern in words, for the message of a wrong name.
            most: how many things there can be.
        """
        kind, found = Kind(noun, "action", model), {}
        entries = self._entries(entry, what=repr(entry.key))
        if len(entries) > most:
            self.report(entry, f"more than {most} {entry.key}: {len(entries)}")
        for name, each in islice(entries.items(), most):
            if not names.fullmatch(name):
                self.report(each, f"{name[:80]!r} cannot name a {noun}", hint)
            fields = self._entries(each, what=f"{of} {name[:80]!r}")
            read = read_settings(kind, fields, fill=YamlNode.plain, place=each.place, path=name, mistakes=self.mistakes)
            if isinstance(read, model):
                found[name] = read
        return found

    def _entries(self, entry: Entry, *, what: str) -> Mapping[str, Entry]:
        if isinstance(entry.node.data, dict):
            return entry.node.data
        self.report(entry, f"{what} must be a mapping, not {entry.node.shape}")
        return {}

    def many(self, read: Read, *, of: str) -> Read:
        """How a list is read whose items are each `of` such a kind."""
        return lambda node, *, what: tuple(read(item, what=of) for item in self.items(node, what=what))

    def items(self, node: YamlNode, *, what: str) -> tuple[YamlNode, ...]:
        """The items of a list; none of anything else."""
        if isinstance(node.data, tuple):
            return node.data
        self.report(node, f"{what} must be a list, not {node.shape}")
        return ()

    def single(self, node: YamlNode, *, what: str) -> tuple[Entry, YamlNode] | None:
        """The one entry of a mapping such as `search_code: {query: auth}`."""
        if isinstance(node.data, dict) and len(node.data) == 1:
            (entry,) = node.data.values()
            return entry, entry.node
        self.report(node, f"{what} must be a mapping of one entry, not {node.shape}")
        return None

    def text(self, node: YamlNode, *, what: str) -> str:
        """A text."""
        if isinstance(node.data, str):
            return node.data
        self.report(node, f"{what} must be text, not {node.shape}", "put quotes around it")
        return ""

    def one_of(self, node: YamlNode, known: Collection[str], *, what: str) -> str:
        """One of some words; an unknown one is reported, and the first one returned."""
        if isinstance(node.data, str) and node.data in known:
            return node.data
        hint = did_you_mean(node.data, known) or f"one of {listing(known, most=30)}"
        self.report(node, f"{what} is {node.shape}", hint)
        return next(iter(known))

    def number(self, node: YamlNode, *, what: str, least: float = 0) -> float:
        """A number, in bounds."""
        value = node.data
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= least:
            return value
        self.report(node, f"{what} must be a number of at least {least:g}, not {node.shape}")
        return least

    def share(self, node: YamlNode, *, what: str) -> float:
        """A number from 0 to 1."""
        share = self.number(node, what=f"the share of {what}")
        if share > 1:
            self.report(node, f"the share of {what} is {share:g}; shares are from 0 to 1")
        return share

    def whole(self, node: YamlNode, *, what: str, least: int = 0) -> int:
        """A whole number, in bounds."""
        value = node.data
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        self.report(node, f"{what} must be a whole number of at least {least}, not {node.shape}")
        return least

    def flag(self, node: YamlNode, *, what: str) -> bool:
        """`true` or `false`."""
        if isinstance(node.data, bool):
            return node.data
        self.report(node, f"{what} must be true or false, not {node.shape}")
        return False

    def known(self, entry: Entry, known: Collection[str], *, what: str) -> bool:
        """Whether a key is one of some words; an unknown one is reported."""
        if entry.key not in known:
            hint = did_you_mean(entry.key, known) or f"one of {listing(known, most=30)}"
            self.report(entry, f"there is no {what} {entry.key!r}", hint)
        return entry.key in known

    def mapping(self, node: YamlNode, *, what: str) -> Mapping[str, Any]:
        """A mapping of any JSON data."""
        if isinstance(node.data, dict):
            return dict(node.plain())
        self.report(node, f"{what} must be a mapping, not {node.shape}")
        return {}


def file_text(path: Path, *, error: Callable[[str], Exception]) -> bytes:
    """The bytes of a file, up to the largest size that is read.

    Args:
        path: the path of the file.
        error: is raised if it cannot be read, or is no file: opening a pipe would wait for its writer.
    """
    try:
        if not path.exists() or path.is_file():
            with path.open("rb") as file:
                return file.read(LARGEST_FILE_BYTES + 1)
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the path
        raise error(str(getattr(problem, "strerror", None) or problem)) from None
    raise error("it is no file")


def read_file(
    path: Path, read: Callable[[Reader, YamlNode], _T], *, what: str, error: Callable[[str], Exception]
) -> _T:
    """What `read` finds in a file.

    Args:
        path: the path of the file.
        read: reports mistakes to the reader.
        what: the file, with its article, for messages.
        error: what is raised if it cannot be read, or has mistakes; its message has the places of all of them.
    """
    text = file_text(path, error=lambda why: error(f"{what} {str(path)!r} cannot be read: {why}"))
    document, reader = read_yaml(text, file=str(path)), Reader()
    found = None if document.root is None else read(reader, document.root)
    mistakes = in_order((*document.mistakes, *reader.mistakes))
    if found is None or mistakes:
        raise error(format_mistakes(mistakes, {str(path): document.text}))
    return found
