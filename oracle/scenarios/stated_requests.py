"""Statements about the requests to the model."""

from collections.abc import Iterator, Mapping

from bt_runtime.text.yaml_reader import YamlNode
from oracle.scenarios.differences import Difference, Path, shown
from oracle.scenarios.matching import check_text, text_matches
from oracle.scenarios.mistakes import Reader
from oracle.scenarios.model import Json
from oracle.scenarios.played import Played


class Requests:
    """Some of the requests to the model: each item is the request after the one before, or that which `nth` names."""

    fields = (
        "nth",
        "tools",
        "offers",
        "lacks",
        "note",
        "sends",
        "prompt",
        "wrap_up",
        "tool_choice",
        "max_tokens",
        "model",
    )

    def check(self, node: YamlNode, reader: Reader) -> None:
        for item in reader.items(node, what="'requests'"):
            for name, entry in reader.fields(item, self.fields, what="a request").items():
                if name in ("note", "sends", "prompt", "tool_choice", "model"):
                    check_text(entry.node, reader, what=repr(name))
                elif name in ("tools", "offers", "lacks"):
                    for each in reader.items(entry.node, what=repr(name)):
                        reader.text(each, what="a tool")
                elif name == "wrap_up":
                    reader.flag(entry.node, what="'wrap_up'")
                else:
                    reader.whole(entry.node, what=repr(name), least=1)

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Difference]:
        nth = 0
        for index, item in enumerate(stated):
            nth = item.get("nth", nth + 1)
            if nth > len(played.asked):
                yield Difference((*path, index), f"a request number {nth}", f"there were {len(played.asked)}")
                continue
            got = played.asked[nth - 1].to_json()
            for name, value in item.items():
                if name != "nth" and not self._holds(name, value, got):
                    shown_of = got["tools"] if name in ("offers", "lacks") else got[name]
                    yield Difference((*path, index, name), shown(value), shown(shown_of))

    def actual(self, stated: Json, played: Played) -> Json:
        nth, kept = 0, []
        for item in stated:
            nth = item.get("nth", nth + 1)
            if nth > len(played.asked):
                continue
            got = played.asked[nth - 1].to_json()
            kept.append({name: self._right(name, value, got) for name, value in item.items()})
        return kept

    def _holds(self, name: str, value: Json, got: Mapping[str, Json]) -> bool:
        if name == "offers":
            return set(value) <= set(got["tools"])
        if name == "lacks":
            return not set(value) & set(got["tools"])
        if isinstance(got[name], str):
            return text_matches(value, got[name])
        return bool(value == got[name])

    def _right(self, name: str, value: Json, got: Mapping[str, Json]) -> Json:
        if name == "nth" or self._holds(name, value, got):
            return value
        if name == "offers":
            return [each for each in value if each in got["tools"]]
        return [each for each in value if each not in got["tools"]] if name == "lacks" else got[name]
