"""What a scenario can state about its end, by name; only what is stated is compared.

A plain text must be equal. A mapping states parts: `{contains: a}` or `{contains: [a, b]}` (in this order), `lacks`
(one or several), `starts`, `ends`.

Nodes are named by a path, or by some of its labels in order, the last one last. A `subtree` without a name of its own
is also named by its tree: `fallback/give_up`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Protocol, get_args

from pydantic import Strict

from bt_runtime import NodeDefinition, TreeDefinition
from bt_runtime.text import closest, did_you_mean
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import truncated
from oracle.core.chunks import Severity
from oracle.features.scenarios.model import ONE, Flag, Json, Number, Record, Text, many, one_of, word_of
from oracle.features.scenarios.played import Played

Path = tuple[str | int, ...]
_LONGEST: Final = 2_000


@dataclass(frozen=True, slots=True)
class Deviation:
    """Something that is not as stated.

    Args:
        path: names and numbers that lead to the part of the expectations.
        stated: the text of what must happen.
        got: the text of what happened.
        hint: what may be wrong with the statement itself.
    """

    path: Path
    stated: str
    got: str
    hint: str | None = None


class Expectation(Protocol):
    """One thing that can be stated."""

    @property
    def form(self) -> Any:  # noqa: ANN401  a type
        """What the statement must be, as a type that pydantic validates."""
        ...

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Deviation]:
        """The differences."""
        ...

    def actual(self, stated: Json, played: Played) -> Json:
        """What happened, in the form in which it is stated; the parts that hold stay as they are."""
        ...


def pair_matches(stated: Json, got: tuple[str, Json]) -> bool:
    """Whether a kind with a value is as stated: by its kind alone, or with the value or a part of it."""
    name, value = got
    if isinstance(stated, str):
        return stated == name
    ((kind, wanted),) = stated.items()
    if kind != name:
        return False
    if isinstance(value, str):
        return text_matches(wanted, value)
    if isinstance(wanted, str):
        return isinstance(value, Mapping) and wanted in value
    ((inner, detail),) = value.items() if len(value) == 1 else (("", value),)
    if isinstance(detail, str) and isinstance(wanted, Mapping) and set(wanted) == {inner}:
        return text_matches(wanted[inner], detail)
    return values_match(wanted, value)


def shown(value: Json) -> str:
    """A value on one line, as a file would have it."""
    if isinstance(value, str):
        return truncated(value if value and "\n" not in value else repr(value), _LONGEST)
    if isinstance(value, Mapping):
        return truncated("{" + ", ".join(f"{name}: {shown(each)}" for name, each in value.items()) + "}", _LONGEST)
    if isinstance(value, list | tuple):
        return truncated("[" + ", ".join(map(shown, value)) + "]", _LONGEST)
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_item(each: tuple[str, Json]) -> Json:
    """A kind with a value as a file would state it."""
    name, value = each
    if isinstance(value, Mapping):
        value = dict(value)
    return {name: value} if value not in ("", {}) else name


def text_matches(stated: Json, got: str) -> bool:
    """Whether a text is as stated."""
    if isinstance(stated, str):
        return stated == got
    if not got.startswith(stated.get("starts", "")) or not got.endswith(stated.get("ends", "")):
        return False
    if any(part in got for part in _listed(stated.get("lacks", ()))):
        return False
    at = 0
    for part in _listed(stated.get("contains", ())):
        found = got.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def values_match(stated: Json, got: Json) -> bool:
    """Whether a value is as stated: mappings may have more entries, everything else is equal."""
    if isinstance(stated, dict) and isinstance(got, dict):
        return all(name in got and values_match(value, got[name]) for name, value in stated.items())
    if isinstance(stated, list | tuple) and isinstance(got, list | tuple):
        return len(stated) == len(got) and all(map(values_match, stated, got))
    if isinstance(stated, bool) or isinstance(got, bool):
        return stated is got
    return bool(stated == got)


def _listed(value: Json) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def find_nodes(name: str, tree: TreeDefinition) -> tuple[str, ...]:
    """The paths that a name stands for: `fallback/give_up` for every `give_up` below something named `fallback`."""
    if name in tree.paths:
        return (name,)
    wanted = name.split("/")
    return tuple(path for path, labels in _labelled(tree.root, ()) if _has(labels, wanted))


def names_of(tree: TreeDefinition) -> set[str]:
    """The labels that names are made of."""
    return {label for _, labels in _labelled(tree.root, ()) for each in labels for label in each}


def short_name(node: NodeDefinition) -> str:
    """The last label of a node; of a `subtree`, its tree."""
    return str(getattr(node.settings, "tree", node.label)) if node.kind == "subtree" else node.label


def _labelled(node: NodeDefinition, above: tuple[frozenset[str], ...]) -> list[tuple[str, tuple[frozenset[str], ...]]]:
    labels = (*above, frozenset({node.label, short_name(node)}))
    found = [(node.path, labels)]
    for children in node.children.values():
        for child in children:
            found += _labelled(child, labels)
    return found


def _has(labels: tuple[frozenset[str], ...], wanted: list[str]) -> bool:
    if wanted[-1] not in labels[-1]:
        return False
    rest = iter(labels)
    return all(any(label in each for each in rest) for label in wanted)


_Whole = Annotated[int, Strict()]


@dataclass(frozen=True, slots=True)
class Equal:
    """One value; texts may be stated by what they contain."""

    meaning: str
    get: Callable[[Played], Json]
    form: Any = Text

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Deviation]:
        got = self.get(played)
        is_text = isinstance(got, str) and isinstance(stated, str | Mapping)
        if not (text_matches(stated, got) if is_text else stated == got):
            yield Deviation(path, shown(stated), shown(got))

    def actual(self, stated: Json, played: Played) -> Json:
        return stated if not list(self.compare((), stated, played)) else self.get(played)


@dataclass(frozen=True, slots=True)
class Listed:
    """All things of a kind, in order: `search_code`, or `search_code: {query: auth}`, or `stuck: {contains: auth}`."""

    meaning: str
    get: Callable[[Played], Sequence[tuple[str, Json]]]
    kinds: tuple[str, ...] = ()
    is_text: bool = True

    @property
    def form(self) -> Any:  # noqa: ANN401  a type
        if self.kinds:
            return many(word_of(self.kinds))
        value: Any = Text if self.is_text else Any
        return many(str | Annotated[dict[str, value], ONE])

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Deviation]:
        got = self.get(played)
        for index, (item, each) in enumerate(zip(stated, got, strict=False)):
            if not pair_matches(item, each):
                yield Deviation((*path, index), shown(item), shown(as_item(each)))
        if len(stated) > len(got):
            at = (*path, len(got))
            yield Deviation(at, shown(stated[len(got)]), f"nothing; there are {len(got)} in all")
        elif len(got) > len(stated):
            more = ", ".join(shown(as_item(each)) for each in got[len(stated) :])
            yield Deviation(path, f"{len(stated)} in all", f"{len(got)}; further ones: {more}")

    def actual(self, stated: Json, played: Played) -> Json:
        kept = []
        for index, each in enumerate(self.get(played)):
            item = stated[index] if index < len(stated) else None
            kept.append(item if item is not None and pair_matches(item, each) else as_item(each))
        return kept


class ChunksInOrder:
    """Some chunks in order, with values if stated.

    They are `content`, `thinking`, `source`, `tool_call`, `tool_result`, `tool_error`, `system`, `error`, `done`.
    """

    kinds = ("thinking", "content", "source", "tool_call", "tool_result", "tool_error", "system", "error", "done")
    _valued: dict[str, Any] = dict.fromkeys(kinds, Text) | dict.fromkeys(
        ("system", "error", "tool_call"), str | Annotated[dict[str, Any], ONE]
    )
    form: Any = many(word_of(kinds) | one_of(_valued))

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Deviation]:
        left = list(played.moments)
        for index, item in enumerate(stated):
            at = next((at for at, each in enumerate(left) if pair_matches(item, each)), None)
            if at is None:
                rest = ", ".join(shown(as_item(each)) for each in left) or "nothing"
                yield Deviation((*path, index), shown(item), f"not among what followed: {rest}")
                return
            left = left[at + 1 :]

    def actual(self, stated: Json, played: Played) -> Json:
        if not list(self.compare((), stated, played)):
            return stated
        kinds = {item if isinstance(item, str) else next(iter(item)) for item in stated}
        return [as_item(each) for each in played.moments if each[0] in kinds]


class Visited:
    """Nodes that were visited; `node: 2` states how often."""

    form: Any = tuple[str | Annotated[dict[str, Number], ONE], ...]

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Deviation]:
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
                yield Deviation(at, f"{name}: {stated_times}", _visits(visits))

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

    form: Any = tuple[str, ...]

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Deviation]:
        for index, name in enumerate(stated):
            found = find_nodes(name, played.tree)
            if not found:
                yield _unknown((*path, index), name, played)
            elif visits := sum(played.visits[each] for each in found):
                yield Deviation((*path, index), f"{name}: not visited", _visits(visits))

    def actual(self, stated: Json, played: Played) -> Json:
        return [each for each in stated if not list(self.compare((), [each], played))]


class Outcomes:
    """How nodes ended the last time: `success`, `failure`, `running` or `halted`."""

    form: Any = Mapping[str, Literal["success", "failure", "running", "halted"]]

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Deviation]:
        for name, word in stated.items():
            found = find_nodes(name, played.tree)
            if not found:
                yield _unknown((*path, name), name, played)
                continue
            got = self._of(found, played)
            if got != word:
                yield Deviation((*path, name), f"{name}: {word}", got)

    def actual(self, stated: Json, played: Played) -> Json:
        return {name: self._of(find_nodes(name, played.tree), played) for name in stated}

    def _of(self, paths: Sequence[str], played: Played) -> str:
        ended = [played.outcomes[path].lower() for path in paths if path in played.outcomes]
        return ended[-1] if ended else "not visited"


class BlackboardValues:
    """Blackboard values at the end."""

    form: Any = Mapping[str, Any]

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Deviation]:
        for name, value in stated.items():
            at = (*path, name)
            if name not in played.blackboard:
                yield Deviation(at, name, "there is no such key", did_you_mean(name, played.blackboard))
            elif not values_match(value, played.blackboard[name]):
                yield Deviation(at, f"{name}: {shown(value)}", shown(played.blackboard[name]))

    def actual(self, stated: Json, played: Played) -> Json:
        return {name: played.blackboard[name] for name in stated if name in played.blackboard}


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _visits(count: int) -> str:
    return f"visited {_times(count)}" if count else "not visited"


def _unknown(path: Path, name: str, played: Played) -> Deviation:
    labels = names_of(played.tree)
    hint = next(
        (near for each in reversed(name.split("/")) if each not in labels and (near := closest(each, labels))), None
    )
    return Deviation(path, name, "the tree has no such node", f"did you mean {hint!r}?" if hint else None)


class _Request(Record):
    """One request to the model.

    Args:
        nth: the number of the request.
        tools: all tools that are offered, in order.
        offers: some tools that are offered.
        lacks: tools that are not offered.
        note: what the tree newly says to the model; `""` for nothing.
        sends: other new text: the question, results of tools.
        prompt: the system prompt.
        wrap_up: `true` in the last turn that the limits allow.
        tool_choice: `auto`, or `none` where the model may call no tool.
        max_tokens: the token limit of the turn.
        model: the model that the turn names; `null` for none.
    """

    nth: Number = 1
    tools: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    note: Text = ""
    sends: Text = ""
    prompt: Text = ""
    wrap_up: Flag = False
    tool_choice: Text = ""
    max_tokens: Number = 1
    model: Text | None = None  # the turn names none


class Requests:
    """Some requests to the model: each the one after the previous item's, or number `nth`."""

    form: Any = tuple[_Request, ...]

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Deviation]:
        nth = 0
        for index, item in enumerate(stated):
            nth = item.get("nth", nth + 1)
            if nth > len(played.asked):
                yield Deviation((*path, index), f"a request number {nth}", f"there were {len(played.asked)}")
                continue
            got = played.asked[nth - 1].to_json()
            for name, value in item.items():
                if name != "nth" and not self._holds(name, value, got):
                    shown_of = got["tools"] if name in ("offers", "lacks") else got[name]
                    yield Deviation((*path, index, name), shown(value), shown(shown_of))

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
            return text_matches("" if value is None else value, got[name])
        return bool(value == got[name])

    def _right(self, name: str, value: Json, got: Mapping[str, Json]) -> Json:
        if name == "nth" or self._holds(name, value, got):
            return value
        if name == "offers":
            return [each for each in value if each in got["tools"]]
        return [each for each in value if each not in got["tools"]] if name == "lacks" else got[name]


def _signals(played: Played) -> list[tuple[str, Json]]:
    kinds = {"accepted": "", "ignored": "", "absent": "none"}
    return [(kinds.get(each.outcome, each.outcome) or each.type or "none", each.action) for each in played.signals]


def _results(played: Played) -> list[tuple[str, Json]]:
    """In the order of the calls, whichever of those that ran side by side ended first."""
    answer = played.answer
    calls = [call for call in answer.calls.values() if call.id in answer.results]
    return [(call.name, answer.results[call.id].tool_result) for call in calls]


EXPECTATIONS: Final[Mapping[str, Expectation]] = {
    "reason": Equal("the `termination_reason`", lambda played: played.done.termination_reason if played.done else ""),
    "turns": Equal("how many turns ended", lambda played: played.done.turns if played.done else 0, _Whole),
    "asked": Equal("how many requests the model got", lambda played: len(played.requests), _Whole),
    "tokens": Equal(
        "tokens, as the budget counts them", lambda played: played.done.tokens_used if played.done else 0, _Whole
    ),
    "elapsed_s": Equal(
        "seconds of the scenario's clock", lambda played: round(played.elapsed_s, 3), Annotated[float, Strict()]
    ),
    "answer": Equal("the answer: all content chunks joined", lambda played: played.answer.text),
    "thinking": Equal(
        "all thinking chunks joined", lambda played: "".join(v for k, v in played.moments if k == "thinking")
    ),
    "notices": Listed(
        "all notices, in order: `limit_reached`, or `limit_reached: {contains: 3/3}`; `[]` for none",
        lambda played: [(each.system_type, each.system_message) for each in played.answer.notices],
    ),
    "severities": Listed(
        "the severities of all notices, in order: `info`, `warning`, `error`",
        lambda played: [(each.severity, "") for each in played.answer.notices],
        get_args(Severity),
    ),
    "errors": Listed(
        "all error chunks, in order: `provider_failed`, or with the message",
        lambda played: [next(iter(value.items())) for kind, value in played.moments if kind == "error"],
    ),
    "signals": Listed(
        "all signals, in order, with the action taken: `need_turn: another_turn`; also `none` and `malformed`",
        _signals,
    ),
    "calls_run": Listed(
        "all tools that ran, in order, with some of their arguments if stated",
        lambda played: played.tool_runs,
        is_text=False,
    ),
    "results": Listed("the results of all tool calls, run or not, in order", _results),
    "chunks": ChunksInOrder(),
    "requests": Requests(),
    "visited": Visited(),
    "not_visited": NotVisited(),
    "outcomes": Outcomes(),
    "blackboard": BlackboardValues(),
}
"""What can be stated, by name."""
