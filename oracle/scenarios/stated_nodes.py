"""Statements about the nodes of the tree, and its blackboard."""

from collections.abc import Iterator, Mapping, Sequence

from bt_runtime.text import closest, did_you_mean
from bt_runtime.text.yaml_reader import YamlNode
from oracle.scenarios.differences import Difference, Path, shown
from oracle.scenarios.matching import values_match
from oracle.scenarios.mistakes import Reader
from oracle.scenarios.model import Json
from oracle.scenarios.nodes import find_nodes, names_of
from oracle.scenarios.played import Played


class Visited:
    """Nodes that were visited, with `node: 2` so many times."""

    def check(self, node: YamlNode, reader: Reader) -> None:
        for item in reader.items(node, what="'visited'"):
            if isinstance(item.data, dict):
                pair = reader.single(item, what="a node with a number of visits")
                if pair is not None:
                    reader.whole(pair[1], what="the number of visits", least=1)
            else:
                reader.text(item, what="a node")

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Difference]:
        for index, item in enumerate(stated):
            name, times = next(iter(item.items())) if isinstance(item, Mapping) else (item, None)
            found = find_nodes(name, played.tree)
            at = (*path, index)
            if not found:
                yield _unknown(at, name, played)
                continue
            visits = sum(played.visits[each] for each in found)
            if visits == 0 or (times is not None and visits != times):
                stated_times = "visited" if times is None else f"visited {_times(times)}"
                yield Difference(at, f"{name}: {stated_times}", _visits(visits))

    def actual(self, stated: Json, played: Played) -> Json:
        kept = []
        for item in stated:
            name, times = next(iter(item.items())) if isinstance(item, Mapping) else (item, None)
            visits = sum(played.visits[each] for each in find_nodes(name, played.tree))
            if visits:
                kept.append(name if times is None else {name: visits})
        return kept


class NotVisited:
    """Nodes that were not visited."""

    def check(self, node: YamlNode, reader: Reader) -> None:
        for item in reader.items(node, what="'not_visited'"):
            reader.text(item, what="a node")

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Difference]:
        for index, name in enumerate(stated):
            found = find_nodes(name, played.tree)
            if not found:
                yield _unknown((*path, index), name, played)
            elif visits := sum(played.visits[each] for each in found):
                yield Difference((*path, index), f"{name}: not visited", _visits(visits))

    def actual(self, stated: Json, played: Played) -> Json:
        return [each for each in stated if not list(self.compare((), [each], played))]


class Outcomes:
    """How nodes ended the last time: success, failure, running, or halted."""

    words = ("success", "failure", "running", "halted")

    def check(self, node: YamlNode, reader: Reader) -> None:
        if not isinstance(node.data, dict):
            reader.report(node, f"'outcomes' must be a mapping, not {node.shape}", "such as {llm_turn: failure}")
            return
        for entry in node.data.values():
            reader.one_of(entry.node, self.words, what=f"the outcome of {entry.key!r}")

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Difference]:
        for name, word in stated.items():
            found = find_nodes(name, played.tree)
            if not found:
                yield _unknown((*path, name), name, played)
                continue
            got = self._of(found, played)
            if got != word:
                yield Difference((*path, name), f"{name}: {word}", got)

    def actual(self, stated: Json, played: Played) -> Json:
        return {name: self._of(find_nodes(name, played.tree), played) for name in stated}

    def _of(self, paths: Sequence[str], played: Played) -> str:
        ended = [played.outcomes[path].lower() for path in paths if path in played.outcomes]
        return ended[-1] if ended else "not visited"


class Board:
    """Values of the blackboard at the end."""

    def check(self, node: YamlNode, reader: Reader) -> None:
        reader.mapping(node, what="'blackboard'")

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Difference]:
        for name, value in stated.items():
            at = (*path, name)
            if name not in played.blackboard:
                yield Difference(at, name, "there is no such key", did_you_mean(name, played.blackboard))
            elif not values_match(value, played.blackboard[name]):
                yield Difference(at, f"{name}: {shown(value)}", shown(played.blackboard[name]))

    def actual(self, stated: Json, played: Played) -> Json:
        return {name: played.blackboard[name] for name in stated if name in played.blackboard}


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _visits(count: int) -> str:
    return f"visited {_times(count)}" if count else "not visited"


def _unknown(path: Path, name: str, played: Played) -> Difference:
    labels = names_of(played.tree)
    hint = next(
        (near for each in reversed(name.split("/")) if each not in labels and (near := closest(each, labels))), None
    )
    return Difference(path, name, "the tree has no such node", f"did you mean {hint!r}?" if hint else None)
