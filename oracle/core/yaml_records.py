"""Files of YAML that people write: values with places, and all mistakes of a file together."""

import re
from collections.abc import Callable, Collection, Mapping
from itertools import islice
from pathlib import Path
from typing import TypeVar

from bt_runtime.language.kind import Kind, NodeSettings
from bt_runtime.language.reading.settings import read_settings
from bt_runtime.text import Mistake, did_you_mean, format_mistakes, in_order, listing
from bt_runtime.text.yaml_reader import LARGEST_FILE_BYTES, Entry, YamlNode, read_yaml

_S = TypeVar("_S", bound=NodeSettings)
_T = TypeVar("_T")


class Reader:
    """Collects the mistakes of one file."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []
        self.hides_source = False
        """The file has what no message may show, such as a key."""

    def report(self, node: YamlNode | Entry, message: str, hint: str | None = None) -> None:
        """Add a mistake."""
        self.mistakes.append(Mistake(node.place, message, hint))

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
        raise error(format_mistakes(mistakes, {} if reader.hides_source else {str(path): document.text}))
    return found
