"""The situations that are played: what model, tools, people and the user do, and under what name a row has it.

A situation is a list of moves of the model, one a request; the last one repeats. It counts only if it comes about: one
in which a person refuses does not, if the tree asks nobody.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from bt_runtime import TreeDefinition
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import clipped
from oracle.agent.nodes.people import AskUserSettings
from oracle.domains.domain import Domain
from oracle.features.scenarios.model import Moment, OutsideEvent, ToolAnswer
from oracle.features.verifier.options import deliveries_of
from oracle.features.verifier.reads import Reads
from oracle.features.verifier.verify import QUESTIONS

MOST_OF_A_KIND: Final = 6
"""How many values of one key, question or answer are played."""
SUBJECTS: Final = (
    *("the model's ", "the model ", "the question is ", "the question contains ", "the user "),
    *("the provider ", "a person ", "the person answers "),
)
"""How the sentences of situations begin that may stand together."""
_LONGEST: Final = 40

FOUND: Final = ToolAnswer(sources=(("code", "src/retry.py"),))
FAILED: Final = "The tool failed."
"""How the errors of tools begin."""
_RESULTS: Final[Mapping[str, ToolAnswer]] = {
    "found": FOUND,
    "empty": ToolAnswer(empty=True),
    **{name: ToolAnswer(error=f"{FAILED} {name}") for name in ("fails", "fails_otherwise", "fails_again")},
    "hangs": ToolAnswer(hang=True),
}
_ACTION: Final = QUESTIONS["action"]
_FILE: Final = Path(__file__).with_name("situations.json")


@dataclass(frozen=True, slots=True)
class Situation:
    """Something that can happen to a query.

    Args:
        id: a stable name, such as `refused`.
        when: the end of a sentence that begins with "When".
        moves: of the model: `acting.MOVES` has them.
        tools: what each call brings, in order; the last one repeats.
        own: what each call of the tree itself brings; `None`: the same.
        person: what people decide.
        value: their answer to a question; `None`: a plain one.
        question: of the user; empty: one about code.
        asks: its type, or another name for it; empty: the situation is not about the question.
        events: from outside.
        said: what the model says in place of its words.
        is_second: the question is the second of its conversation.
        is_minor: where a page has no room for all rows, it has others.
        needs: moves, or `tool`, `own`, `asked`, `late`, `question`, `cancelled`; one must come about.
    """

    id: str
    when: str
    moves: tuple[str, ...] = ("answer",)
    tools: tuple[ToolAnswer, ...] = (FOUND,)
    own: ToolAnswer | None = None
    person: str = "approve"
    value: Any = None
    question: str = ""
    asks: str = ""
    events: tuple[OutsideEvent, ...] = ()
    said: str = ""
    is_second: bool = False
    is_minor: bool = False
    needs: tuple[str, ...] = ()


def situations(tree: TreeDefinition, reads: Reads, domain: Domain) -> Iterator[Situation]:
    """The situations that a tree may meet, the plainest first; their ids are different."""
    known: set[str] = set()
    for each in (*fixed_situations(), *_questions(reads, domain), *_own_values(tree, reads)):
        if each.id not in known:
            known.add(each.id)
            yield each


@cache
def fixed_situations() -> tuple[Situation, ...]:
    """Those that do not depend on the tree, from `situations.json`.

    There `tools` and `own` are names of `_RESULTS`; `asks` is a type of question, and `cancel` the
    kind and the value of a `Moment`.
    """
    return tuple(map(_read, json.loads(_FILE.read_text(encoding="utf-8"))))


def _read(written: dict[str, Any]) -> Situation:
    tools, own = written.pop("tools", ["found"]), written.pop("own", None)
    cancel, asks = written.pop("cancel", None), written.get("asks", "code")
    moment = None if cancel is None else Moment(kind=cancel[0], value=cancel[1])
    return Situation(
        **written | {name: tuple(written[name]) for name in ("moves", "needs") if name in written},
        tools=tuple(_RESULTS[each] for each in tools),
        own=None if own is None else _RESULTS[own],
        events=() if moment is None else (OutsideEvent(action="cancel", moment=moment),),
        question=QUESTIONS[asks],
    )


def _own_values(tree: TreeDefinition, reads: Reads) -> Iterator[Situation]:
    """What the tree compares texts, deliveries and answers of people with."""
    for key in sorted(reads.into):
        for text in reads.texts_of(key)[:MOST_OF_A_KIND]:
            yield Situation(f"says-{_slug(text)}", f"the model writes {_quoted(text)} for {key}", ("plain",), said=text)
    for found in deliveries_of(tree, reads)[: MOST_OF_A_KIND * 2]:
        event = OutsideEvent(action="delivery", moment=Moment(kind="at_s", value=1.0), key=found.key, value=found.value)
        name = f"{found.key}-{_slug(str(found.value))}"
        when = f"{found.key} becomes {_quoted(str(found.value))} from outside"
        yield Situation(name, when, ("write_or_read", "answer"), question=_ACTION, events=(event,))
    for node in tree.nodes():
        if isinstance(node.settings, AskUserSettings):
            for value in answers_to(node.settings.response_schema)[:MOST_OF_A_KIND]:
                name, when = f"answered-{_slug(str(value))}", f"the person answers {_quoted(str(value))}"
                yield Situation(name, when, ("read", "answer"), value=value, needs=("question",))


def _questions(reads: Reads, domain: Domain) -> Iterator[Situation]:
    """The questions that the tree may tell apart."""
    if domain.examples:
        asked: Mapping[str, str] = {f"question-{number}": text for number, text in enumerate(domain.examples, start=1)}
        named = {name: f"the user asks {_quoted(text)}" for name, text in asked.items()}
    else:
        asked = {f"question-{kind}": text for kind, text in QUESTIONS.items() if kind != "code"}
        named = {name: f"the question is of the type {name.partition('-')[2]}" for name in asked}
    for name, text in asked.items():
        yield Situation(name, named[name], question=text, asks=name.removeprefix("question-"))
        when = f"the model calls a tool, where {named[name]}"
        yield Situation(f"{name}-tool", when, ("read", "answer"), question=text, needs=("read",))
        when = f"the model comes to no end, where {named[name]}"
        yield Situation(f"{name}-turns", when, ("need_or_read",), question=text)
    for text in reads.texts_of("question")[:MOST_OF_A_KIND]:
        question = f"{QUESTIONS['code']} {text}"
        yield Situation(f"question-{_slug(text)}", f"the question contains {_quoted(text)}", question=question)


def answers_to(schema: Mapping[str, Any]) -> list[Any]:
    """Some answers that fit a schema, one at least."""
    if "enum" in schema:
        return list(schema["enum"])
    kind = schema.get("type")
    if kind == "boolean":
        return [True, False]
    if kind == "object":
        properties: Mapping[str, Any] = schema.get("properties") or {}
        each = {name: answers_to(of) for name, of in properties.items()}
        most = max((len(values) for values in each.values()), default=1)
        return [{name: values[min(at, len(values) - 1)] for name, values in each.items()} for at in range(most)]
    plain: Mapping[Any, Any] = {"integer": 1, "number": 1.0, "array": [], "null": None}
    return [plain.get(kind, "an answer")]


def _slug(text: str) -> str:
    return "-".join("".join(each if each.isalnum() else " " for each in text.lower()).split())[:_LONGEST] or "empty"


def _quoted(text: str) -> str:
    return f"“{clipped(text, _LONGEST)}”"
