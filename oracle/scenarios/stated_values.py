"""Statements about values, and about lists of things that happened."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bt_runtime.text.yaml_reader import YamlNode
from oracle.scenarios.differences import Difference, Path, as_item, pair_matches, shown
from oracle.scenarios.matching import check_text, text_matches
from oracle.scenarios.mistakes import Reader
from oracle.scenarios.model import Json
from oracle.scenarios.played import Played


@dataclass(frozen=True, slots=True)
class Equal:
    """One value; texts may be stated by what they contain."""

    what: str
    get: Callable[[Played], Json]
    kind: type | tuple[type, ...] = str

    def check(self, node: YamlNode, reader: Reader) -> None:
        if self.kind is str:
            check_text(node, reader, what=repr(self.what))
        elif isinstance(node.data, bool) or not isinstance(node.data, self.kind):
            reader.report(node, f"{self.what!r} must be a number, not {node.shape}")

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Difference]:
        got = self.get(played)
        is_text = isinstance(got, str) and isinstance(stated, str | Mapping)
        if not (text_matches(stated, got) if is_text else stated == got):
            yield Difference(path, shown(stated), shown(got))

    def actual(self, stated: Json, played: Played) -> Json:
        return stated if not list(self.compare((), stated, played)) else self.get(played)


@dataclass(frozen=True, slots=True)
class Listed:
    """All things of a kind, in order: `search_code`, or `search_code: {query: auth}`, or `stuck: {contains: auth}`."""

    what: str
    get: Callable[[Played], Sequence[tuple[str, Json]]]
    kinds: tuple[str, ...] = ()
    is_text: bool = True

    def check(self, node: YamlNode, reader: Reader) -> None:
        for item in reader.items(node, what=repr(self.what)):
            name = item
            if isinstance(item.data, dict):
                pair = reader.single(item, what=f"an item of {self.what!r}")
                if pair is None:
                    continue
                name = YamlNode(pair[0].key, pair[0].place)
                if self.is_text:
                    check_text(pair[1], reader, what=repr(pair[0].key))
            if self.kinds:
                reader.one_of(name, self.kinds, what=f"an item of {self.what!r}")
            elif not isinstance(name.data, str):
                reader.report(name, f"an item of {self.what!r} must be a name, not {name.shape}")

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Difference]:
        got = self.get(played)
        for index, (item, each) in enumerate(zip(stated, got, strict=False)):
            if not pair_matches(item, each):
                yield Difference((*path, index), shown(item), shown(as_item(each)))
        if len(stated) > len(got):
            at = (*path, len(got))
            yield Difference(at, shown(stated[len(got)]), f"nothing; there are {len(got)} in all")
        elif len(got) > len(stated):
            more = ", ".join(shown(as_item(each)) for each in got[len(stated) :])
            yield Difference(path, f"{len(stated)} in all", f"{len(got)}; further ones: {more}")

    def actual(self, stated: Json, played: Played) -> Json:
        kept = []
        for index, each in enumerate(self.get(played)):
            item = stated[index] if index < len(stated) else None
            kept.append(item if item is not None and pair_matches(item, each) else as_item(each))
        return kept


class Moments:
    """Chunks that are sent in this order; others may come before, between and after them."""

    kinds = ("thinking", "content", "source", "tool_call", "tool_result", "tool_error", "system", "error", "done")

    def check(self, node: YamlNode, reader: Reader) -> None:
        for item in reader.items(node, what="'chunks'"):
            if isinstance(item.data, str):
                reader.one_of(item, self.kinds, what="a chunk")
                continue
            pair = reader.single(item, what="a chunk, such as `content: {contains: auth}`,")
            if pair is None:
                continue
            entry, value = pair
            kind = reader.one_of(YamlNode(entry.key, entry.place), self.kinds, what="a chunk")
            if kind in ("system", "error", "tool_call"):
                if not isinstance(value.data, str) and reader.single(value, what=f"a {kind}") is None:
                    continue
            else:
                check_text(value, reader, what=repr(kind))

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Difference]:
        left = list(played.moments)
        for index, item in enumerate(stated):
            at = next((at for at, each in enumerate(left) if pair_matches(item, each)), None)
            if at is None:
                rest = ", ".join(shown(as_item(each)) for each in left) or "nothing"
                yield Difference((*path, index), shown(item), f"not among what followed: {rest}")
                return
            left = left[at + 1 :]

    def actual(self, stated: Json, played: Played) -> Json:
        if not list(self.compare((), stated, played)):
            return stated
        kinds = {item if isinstance(item, str) else next(iter(item)) for item in stated}
        return [as_item(each) for each in played.moments if each[0] in kinds]
