"""One tree with its subtrees: files are found by name, read once, and inserted where they are included.

The whole tree is checked once each of its nodes is valid.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module

from bt_runtime.language.definition import Declaration, NodeDefinition, TreeDefinition
from bt_runtime.language.errors import TreeFileError, TreeNotFoundError
from bt_runtime.language.kind import Key, TreeUse, Value, has_type, in_words
from bt_runtime.language.reading.header import Header, read_header
from bt_runtime.language.reading.nodes import Given, NodeBudget, NodeReader
from bt_runtime.language.registry import Registry
from bt_runtime.language.rule import Rule
from bt_runtime.text import Mistake, Place, Suggestion, brief, did_you_mean, listing
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import Entry, read_yaml

_REACTIVE_KINDS = frozenset({"sequence", "selector"})


def meaning_mistakes(root: NodeDefinition, *, registry: Registry, is_whole: bool = True) -> Iterator[Mistake]:
    """Mistakes of the tree as a whole: repeated actions, impossible `parallel`s, slow hooks, and the host's rules.

    With `memory: false` the children before the RUNNING one are ticked again at every tick. That is meant for
    conditions; an action would post its request again and again.

    Args:
        root: the topmost node.
        registry: the kinds, and the host's rules.
        is_whole: no node is missing; otherwise only mistakes are reported that missing nodes cannot cause.
    """
    for node in root.walk():
        if node.kind in _REACTIVE_KINDS and getattr(node.settings, "memory", True) is False:
            yield from _repeated(node, registry)
        if node.kind == "parallel" and is_whole:
            wanted, there = getattr(node.settings, "success", None), len(node.children.get("children", ()))
            if isinstance(wanted, int) and wanted > there > 0:
                message = f"{wanted} children must succeed, and there {'is' if there == 1 else 'are'} {there}"
                yield Mistake(node.place, message, f"write 'success: {there}' or 'success: all'", node.path)
        if node.kind == "on_halt":
            for below in (each for then in node.children.get("then", ()) for each in then.walk()):
                if registry.kind(below.kind).waits:
                    message = (
                        f"{below.kind!r} may take time, and a halt does not wait for what 'then' of 'on_halt' does"
                    )
                    yield Mistake(below.place, message, "only nodes that end at once can be run there", below.path)
    for rule in registry.rules if is_whole else ():
        yield from rule(root)


def _repeated(node: NodeDefinition, registry: Registry) -> Iterator[Mistake]:
    children = [child for slot in node.children.values() for child in slot]
    for position in reversed(range(len(children))):
        waiting = next((below for below in children[position].walk() if registry.kind(below.kind).waits), None)
        if waiting is None:
            continue
        for earlier in children[:position]:
            for acting in earlier.walk():
                if registry.kind(acting.kind).acts:
                    message = f"{acting.kind!r} would be run again at every tick while {waiting.path!r} is running"
                    hint = (
                        f"the {node.kind} on line {node.place.line} has 'memory: false': only conditions and guards "
                        "are allowed before work that takes time; remove it, or act elsewhere"
                    )
                    yield Mistake(acting.place, message, hint, acting.path)
        return


def output_mistakes(
    header: Header, outputs: Mapping[str, str], outer: Header, written: Mapping[str, Entry], place: Place
) -> Iterator[Mistake]:
    """Outputs that the tree does not have, or that do not fit their keys.

    Args:
        outer: the header of the tree that includes it.
        header: the header of the tree that is included.
        outputs: the names of the keys there, and here.
        written: the outputs as written, by their names.
        place: where the tree is included.
    """
    private = {name: key for name, key in header.keys.items() if key.private}
    for name, target in outputs.items():
        entry, source, into = written.get(name), private.get(name), outer.keys.get(target)
        if source is None:
            hint = did_you_mean(name, private) or f"private keys: {listing(private) or 'none'}"
            if name in header.keys:
                hint = "trees share the keys that are not private, so nothing has to be copied"
            message = f"the tree {brief(header.name)} has no private key {brief(name)}"
            yield Mistake(entry.place if entry else place, message, hint)
        elif (
            into is not None and into.type not in {"any", source.type} and (source.type, into.type) != ("int", "float")
        ):
            message = f"{name!r} is declared as {source.type}, but {target!r} as {into.type}"
            yield Mistake(entry.node.place if entry else place, message, "choose a key of the same type")


DEEPEST_INCLUSION = 16
"""The deepest nesting of subtrees."""


@dataclass(frozen=True, slots=True)
class TreeSource:
    """The text of a tree before it is read.

    Args:
        name: the name that it must declare; `None` if any will do.
    """

    file: str
    text: str | bytes
    name: str | None = None


Find = Callable[[str], TreeSource]
"""The source of a tree by its name; raises `TreeNotFoundError`, or `TreeFileError` if it cannot be read."""


class Loading:
    """Loads one tree; used once."""

    def __init__(self, registry: Registry, find: Find) -> None:
        self.mistakes: list[Mistake] = []
        self.sources: dict[str, str] = {}
        self._registry = registry
        self._find = find
        self._budget = NodeBudget()
        self._stack: list[str] = []
        self._headers: dict[str, Header | None] = {}
        self._keys: dict[str, Key] = dict(registry.keys)
        self._declared_by: dict[str, str] = {}
        self._sha = hashlib.sha256()
        self._broken = False
        self._inserted: dict[str, set[str]] = {}

    def load(
        self, source: TreeSource, *, arguments: Mapping[str, Value] | None = None, samples: bool = False
    ) -> TreeDefinition | None:
        """A tree with everything that it includes; `None` if there are mistakes, or if a sample value does not fit."""
        header = self._header(source)
        if header.name:
            self._headers[header.name] = header
        sampled = _required(header).difference(arguments or {}) if samples else frozenset()
        bound = self._bind(header, arguments or {}, {}, header.name_place, sampled)
        root = self._root(header, bound, sampled, {}, path="", depth=0)
        included = (each for each in self._headers.values() if each is not None and each is not header)
        is_whole = root is not None and not self.mistakes and not self._broken
        paths = tuple(node.path for node in root.walk()) if root is not None and is_whole else None
        rules = self._rules([each for each in (header, *included) if each.rules is not None], paths)
        labels = self._labels([each for each in self._headers.values() if each is not None and each.labels is not None])
        if root is not None:
            self.mistakes += meaning_mistakes(root, registry=self._registry, is_whole=not self.mistakes)
        if root is None or self.mistakes or self._broken:
            return None
        return TreeDefinition(
            name=header.name,
            description=header.description,
            internal=header.internal,
            keys=self._keys,
            root=root,
            source=header.document.text,
            sha=self._sha.hexdigest(),
            file=source.file,
            subtrees=tuple(name for name in self._headers if name != header.name),
            declarations=tuple(self._declarations()),
            sources={name: read.document.text for name, read in self._headers.items() if read is not None},
            texts=dict(self.sources),
            rules=rules,
            labels=labels,
            parameters={name: parameter.key for name, parameter in header.parameters.items()},
            required=_required(header),
        )

    def _rules(self, headers: Sequence[Header], paths: Sequence[str] | None) -> tuple[Rule, ...]:
        """The rules of the files that declare some; what reads them is loaded where one does."""
        if not headers:
            return ()
        reading = import_module("bt_runtime.rules.reading")
        rules: tuple[Rule, ...] = reading.read_rules(
            headers, registry=self._registry, keys=self._keys, paths=paths, mistakes=self.mistakes
        )
        return rules

    def _labels(self, headers: Sequence[Header]) -> tuple[tuple[str, frozenset[str]], ...]:
        """The labels of actions in the files that declare some, which hold together."""
        if not headers:
            return ()
        reading = import_module("bt_runtime.rules.labels")
        labels: tuple[tuple[str, frozenset[str]], ...] = reading.read_labels(
            headers, registry=self._registry, mistakes=self.mistakes
        )
        return labels

    def _declarations(self) -> Iterator[Declaration]:
        for header in filter(None, self._headers.values()):
            for name in header.places:
                parameter = header.parameters.get(name)
                if name in header.declared:
                    yield Declaration(header.keys[name], header.places[name], header.name)
                elif parameter is not None:
                    inserted = name in self._inserted.get(header.name, ())
                    yield Declaration(
                        parameter.key, header.places[name], header.name, is_parameter=True, is_inserted=inserted
                    )

    def _header(self, source: TreeSource) -> Header:
        """Read the header of a file, and record its text, version and keys."""
        document = read_yaml(source.text, file=source.file)
        header = read_header(document, registry=self._registry)
        self.sources[source.file] = document.text
        self.mistakes += header.mistakes
        if source.name is not None and header.name not in {"", source.name}:
            message = f"the tree is called {header.name!r}, but its file {source.name!r}"
            hint = f"write 'tree: {source.name}', or rename the file"
            right = Suggestion(hint, written=header.name, instead=source.name)
            self.mistakes.append(Mistake(header.name_place, message, right))
        text = document.text.encode()
        self._sha.update(f"{source.name or header.name}\0{len(text)}\0".encode() + text)
        self._merge_keys(header)
        return header

    def _merge_keys(self, header: Header) -> None:
        """Add the keys of a file to the one blackboard; the first file that declares a key sets its default."""
        for name in sorted(header.declared):
            key = header.keys[name]
            if key.private:
                continue
            first = self._declared_by.setdefault(name, header.name)
            if first == header.name:
                self._keys[name] = key
            elif self._keys[name].type != key.type:
                message = f"{name!r} is declared as {key.type}, but by the tree {first!r} as {self._keys[name].type}"
                self.mistakes.append(Mistake(header.name_place, message, "subtrees use the same blackboard"))

    def _root(
        self,
        header: Header,
        arguments: Mapping[str, Value] | None,
        samples: frozenset[str],
        written: Mapping[str, Entry],
        *,
        path: str,
        depth: int,
    ) -> NodeDefinition | None:
        if header.root is None:
            return None
        if arguments is None:  # reported already; with samples the nodes can be checked nevertheless
            arguments, samples = _samples(header), frozenset(header.parameters)
        # Each inclusion has private keys of its own.
        private = {name: f"{path or header.name}/{name}" for name in header.declared if header.keys[name].private}
        for name, qualified in private.items():
            self._keys[qualified] = replace(header.keys[name], name=qualified)
        reader = NodeReader(
            header,
            registry=self._registry,
            given=Given(arguments, samples, written, private),
            include=partial(self._include, header),
            budget=self._budget,
            mistakes=self.mistakes,
        )
        self._stack.append(header.name)
        try:
            return reader.read(header.root, path=path, depth=depth)
        finally:
            self._broken = self._broken or reader.broken
            self._inserted.setdefault(header.name, set()).update(reader.inserted)
            self._stack.pop()

    def _include(
        self,
        outer: Header,
        use: TreeUse,
        written: Mapping[str, Entry],
        outputs: Mapping[str, Entry],
        place: Place,
        path: str,
        depth: int,
    ) -> NodeDefinition | None:
        name = use.tree
        if name in self._stack:
            cycle = " -> ".join([*self._stack[self._stack.index(name) :], name])
            message = f"the tree {name!r} includes itself: {cycle}"
            self.mistakes.append(Mistake(place, message, "a loop repeats nodes without that", path))
            return None
        if len(self._stack) > DEEPEST_INCLUSION:
            message = f"subtrees are nested more than {DEEPEST_INCLUSION} deep"
            self.mistakes.append(Mistake(place, message, None, path))
            return None
        header = self._included_header(name, place, path)
        if header is None:
            return None
        arguments = self._bind(header, use.arguments, written, place)
        self.mistakes += output_mistakes(header, use.outputs, outer, outputs, place)
        return self._root(header, arguments, frozenset(), written, path=path, depth=depth)

    def _included_header(self, name: str, place: Place, path: str) -> Header | None:
        if name not in self._headers:
            self._headers[name] = None
            try:
                self._headers[name] = self._header(self._find(name))
            except TreeFileError as error:
                self.mistakes += error.mistakes
            except TreeNotFoundError as error:
                del self._headers[name]
                self.mistakes.append(
                    Mistake(place, f"there is no tree {brief(name)}", error.hint, path, "unknown-tree")
                )
                return None
        return self._headers[name]

    def _follows(self, place: Place, text: str) -> bool:
        """Whether a place is behind this text on its line."""
        lines = self.sources.get(place.file, "").splitlines()
        return place.line <= len(lines) and lines[place.line - 1][: place.column - 1].rstrip().endswith(text)

    def _bind(
        self,
        header: Header,
        arguments: Mapping[str, Value],
        written: Mapping[str, Entry],
        place: Place,
        samples: frozenset[str] = frozenset(),
    ) -> dict[str, Value] | None:
        """The value of each parameter; `None` if an argument is missing, unknown or invalid."""
        before = len(self.mistakes)
        name = brief(header.name)
        for argument, value in arguments.items():
            entry, parameter = written.get(argument), header.parameters.get(argument)
            if parameter is None:
                at = entry.place if entry else place
                hint = (
                    did_you_mean(argument, header.parameters) or f"parameters: {listing(header.parameters) or 'none'}"
                )
                self.mistakes.append(
                    Mistake(at, f"the tree {name} has no parameter {brief(argument)}", hint, None, "wrong-argument")
                )
            elif not has_type(value, parameter.key.type):
                at = entry.node.place if entry else place
                message = f"{argument!r} must be {in_words(parameter.key.type)}, not {brief(value)}"
                self.mistakes.append(Mistake(at, message))
        missing = sorted(_required(header).difference(arguments, samples))
        if missing:
            words = ", ".join(
                f"{argument!r} ({in_words(header.parameters[argument].key.type)})" for argument in missing
            )
            values = ", ".join(f"{each}: {json.dumps(header.parameters[each].sample)}" for each in missing)
            hint = f"write 'subtree: {{tree: {header.name}, with: {{{missing[0]}: ...}}}}'"
            if not written and self._follows(place, "subtree:"):  # else there are settings to keep
                instead = f"{{ tree: {header.name}, with: {{ {values} }} }}"
                hint = Suggestion(hint, written=header.name, instead=instead)
            self.mistakes.append(
                Mistake(place, f"the tree {name} needs the argument {words}", hint, None, "wrong-argument")
            )
        return {**_samples(header), **arguments} if len(self.mistakes) == before else None


def _samples(header: Header) -> dict[str, Value]:
    return {name: parameter.sample for name, parameter in header.parameters.items()}


def _required(header: Header) -> frozenset[str]:
    return frozenset(name for name, parameter in header.parameters.items() if parameter.required)
