"""Reads values with places, and reports what is wrong with them; all mistakes of a file together."""

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from bt_runtime.text import Mistake, did_you_mean, listing
from bt_runtime.text.yaml_reader import Entry, YamlNode


class Read(Protocol):
    """How a value is read."""

    def __call__(self, node: YamlNode, *, what: str) -> Any:  # noqa: ANN401  any part of a scenario
        """The value; what is wrong with it is reported as `what`."""
        ...


class Reader:
    """Collects the mistakes of one file."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []

    def report(self, node: YamlNode | Entry, message: str, hint: str | None = None) -> None:
        """Add a mistake."""
        self.mistakes.append(Mistake(node.place, message, hint, code="scenario"))

    def fields(self, node: YamlNode, known: Collection[str], *, what: str) -> Mapping[str, Entry]:
        """The entries of a mapping; unknown ones are reported and left out."""
        if not isinstance(node.data, dict):
            self.report(node, f"{what} must be a mapping, not {node.shape}", f"fields: {listing(known, most=30)}")
            return {}
        for name, entry in node.data.items():
            if name not in known:
                hint = did_you_mean(name, known) or f"fields: {listing(known, most=30)}"
                self.report(entry, f"{what} has no field {name!r}", hint)
        return {name: entry for name, entry in node.data.items() if name in known}

    def record(
        self, node: YamlNode, reads: Mapping[str, Read], *, what: str, required: Collection[str] = (), hint: str = ""
    ) -> dict[str, Any]:
        """The values of the fields that a mapping has.

        Args:
            node: the mapping.
            reads: by name, how each field is read.
            what: the mapping, with its article, for messages.
            required: the fields that it must have.
            hint: what is right if one of them is missing.
        """
        found = self.fields(node, reads, what=what)
        for name in required:
            if name not in found and isinstance(node.data, dict):
                self.report(node, f"the {what.partition(' ')[2]} has no {name!r}", hint or None)
        return {name: reads[name](entry.node, what=repr(name)) for name, entry in found.items()}

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
