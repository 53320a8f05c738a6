"""The situations that are played: what model, tools, people and the user do, and under what name a row has it.

A situation is a list of moves of the model, one a request; the last one repeats. It counts only if it comes about: one
in which a person refuses is none of a tree that asks nobody.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from bt_runtime import TreeDefinition
from bt_runtime.language.kind import CALLS_HOST
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import clipped
from oracle.agent.nodes.people import AskUserSettings
from oracle.agent.nodes.roles import ASKS_PERSON, RUNS_CALLS
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
_CANCEL_S: Final = 5.0
_LATE_S: Final = 1e6

FOUND: Final = ToolAnswer(sources=(("code", "src/retry.py"),))


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
        events: from outside.
        said: what the model says in place of its words.
        is_second: the question is the second of its conversation.
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
    events: tuple[OutsideEvent, ...] = ()
    said: str = ""
    is_second: bool = False
    needs: tuple[str, ...] = ()


def _fails(text: str = "The tool failed.") -> ToolAnswer:
    return ToolAnswer(error=text)


def _cancel(kind: Any, value: object) -> tuple[OutsideEvent, ...]:  # noqa: ANN401  a literal
    return (OutsideEvent(action="cancel", moment=Moment(kind=kind, value=value)),)


_MODEL: Final = (
    Situation("answers", "the model answers at once and signals context_sufficient"),
    Situation("no-signal", "the model answers without a signal", ("plain",)),
    Situation("partial", "the model signals partial_answer", ("partial",)),
    Situation("asks-back", "the model's answer is a question to the user", ("asks",)),
    Situation("unsure", "the model signals with little confidence", ("unsure",)),
    Situation("malformed", "the model's signal cannot be read", ("malformed",)),
    Situation("delegation", "the model signals delegation_recommended", ("delegation",)),
    Situation("capability", "the model signals need_capability", ("capability",)),
    Situation("need-turn", "the model signals need_turn and then answers", ("need", "answer"), needs=("answer",)),
    Situation("need-turn-always", "the model signals need_turn again and again", ("need",)),
    Situation("same-text", "the model repeats the same text and need_turn", ("need_same",)),
    Situation("announces", "the model says what it will do and calls nothing", ("announce",)),
    Situation("stuck", "the model signals stuck and then answers", ("stuck", "answer"), needs=("answer",)),
    Situation("stuck-always", "the model signals stuck again and again", ("stuck",)),
    Situation("empty", "the model's first response is empty", ("empty", "answer"), needs=("answer",)),
    Situation("empty-always", "the model's responses are empty", ("empty",)),
    Situation("cut-off", "the model's response is cut off and then goes on", ("cut", "answer"), needs=("answer",)),
    Situation("cut-off-always", "each response is cut off", ("cut",)),
    Situation("refusal", "the provider refuses the question", ("refusal",)),
)
_TOOLS: Final = (
    Situation("tool", "the model calls a tool and then answers", ("read", "answer"), needs=("read",)),
    Situation(
        "tool-twice",
        "the model calls tools in two turns and then answers",
        ("read", "read", "answer"),
        needs=("answer",),
    ),
    Situation(
        "tool-unsignalled",
        "the model calls a tool and then answers without a signal",
        ("read", "plain"),
        needs=("read",),
    ),
    Situation("tool-then-stuck", "the model calls a tool and then is stuck", ("read", "stuck"), needs=("stuck",)),
    Situation(
        "tool-empty", "the model's call finds nothing", ("read", "answer"), (ToolAnswer(empty=True),), needs=("tool",)
    ),
    Situation("tool-fails", "the model's first call fails", ("read", "answer"), (_fails(), FOUND), needs=("tool",)),
    Situation("tools-fail", "all calls of the model fail", ("read",), (_fails(),), needs=("tool",)),
    Situation("tools-same", "the model makes the same call again and again", ("same",), needs=("same",)),
    Situation("tools-always", "the model makes other calls again and again", ("read",), needs=("read",)),
    Situation("tool-hangs", "the model's call never ends", ("read",), (ToolAnswer(hang=True),), needs=("tool",)),
)
_ACTION: Final = QUESTIONS["action"]
_WRITES: Final = ("write", "answer")
_WRITING: Final = (
    Situation("writes", "the model calls a tool that writes", _WRITES, question=_ACTION, needs=("write",)),
    Situation("write-fails", "the writing call fails", _WRITES, (_fails(),), question=_ACTION, needs=("write",)),
    Situation("writes-again", "the model writes again and again", ("write",), question=_ACTION, needs=("write",)),
)
_PEOPLE: Final = {"approve": "approved", "refuse": "refused", "edit": "edited", "expire": "expired"}
_ASKED: Final = {
    "approve": "a person approves",
    "refuse": "a person refuses",
    "edit": "a person changes the arguments",
    "expire": "nobody decides in time",
}
_PROVIDER: Final = (
    Situation("down", "the provider is down", ("down",)),
    Situation("down-once", "the provider fails in the first turn alone", ("down", "answer"), needs=("answer",)),
    Situation("down-later", "the provider fails after a turn with a tool", ("read", "down"), needs=("down",)),
    Situation("down-while-speaking", "the provider fails in the middle of an answer", ("broken",)),
    Situation("hangs", "the response never ends", ("hang",)),
    Situation("hangs-later", "the response after a tool never ends", ("read", "hang"), needs=("hang",)),
    Situation("slow", "each response takes 90 s", ("slow",)),
)
_LIMITS: Final = (
    Situation("tokens-half", "a call leaves less than half of the token budget", ("half", "answer"), needs=("answer",)),
    Situation("tokens-used", "a turn uses up the token budget", ("full", "answer")),
)
_CANCELS: Final = (
    Situation("cancel", "the user cancels in the first response", ("hang",), events=_cancel("request", 1),
              needs=("cancelled",)),
    Situation("cancel-later", "the user cancels in the second response", ("read_or_need", "hang"),
              events=_cancel("request", 2), needs=("cancelled",)),
)  # fmt: skip


def situations(tree: TreeDefinition, reads: Reads, domain: Domain) -> Iterator[Situation]:
    """The situations that a tree may meet, the plainest first."""
    roles = {role for node in tree.nodes() for role in node.facts.roles}
    yield from _MODEL
    yield Situation("second-question", "the question is the second of a conversation", is_second=True)
    yield from _TOOLS
    yield from _WRITING if RUNS_CALLS in roles else ()
    yield from _questions(reads, domain)
    if RUNS_CALLS in roles or ASKS_PERSON in roles:
        yield from _people(tree)
    if CALLS_HOST in roles:
        yield from _own_calls()
    for key in sorted(reads.into):
        for text in reads.texts_of(key)[:MOST_OF_A_KIND]:
            yield Situation(f"says-{_slug(text)}", f"the model writes {_quoted(text)} for {key}", ("say",), said=text)
    for found in deliveries_of(tree, reads)[: MOST_OF_A_KIND * 2]:
        event = OutsideEvent(action="delivery", moment=Moment(kind="at_s", value=1.0), key=found.key, value=found.value)
        name = f"{found.key}-{_slug(str(found.value))}"
        when = f"{found.key} becomes {_quoted(str(found.value))} from outside"
        yield Situation(name, when, ("write_or_read", "answer"), question=_ACTION, events=(event,))
    yield from _PROVIDER
    yield from _LIMITS
    yield from _CANCELS
    yield from _interruptions(tree, roles)


def _questions(reads: Reads, domain: Domain) -> Iterator[Situation]:
    """The questions that the tree may tell apart."""
    if domain.examples:
        asked: Mapping[str, str] = {f"question-{number}": text for number, text in enumerate(domain.examples, start=1)}
        named = {name: f"the user asks {_quoted(text)}" for name, text in asked.items()}
    else:
        asked = {f"question-{kind}": text for kind, text in QUESTIONS.items() if kind != "code"}
        named = {name: f"the question is of the type {name.partition('-')[2]}" for name in asked}
    for name, text in asked.items():
        yield Situation(name, named[name], question=text)
        yield Situation(f"{name}-tool", f"the model calls a tool, where {named[name]}", ("read", "answer"),
                        question=text, needs=("read",))  # fmt: skip
    for text in reads.texts_of("question")[:MOST_OF_A_KIND]:
        question = f"{QUESTIONS['code']} {text}"
        yield Situation(f"question-{_slug(text)}", f"the question contains {_quoted(text)}", question=question)


def _people(tree: TreeDefinition) -> Iterator[Situation]:
    for person, name in _PEOPLE.items():
        yield Situation(name, f"{_ASKED[person]}", ("write_or_read", "answer"), person=person, question=_ACTION,
                        needs=("asked",))  # fmt: skip
    yield Situation("refused-again", "a person refuses and the model calls again and again", ("write_or_read",),
                    person="refuse", question=_ACTION, needs=("asked",))  # fmt: skip
    yield Situation("cancel-while-asked", "the user cancels while a person is asked", ("write_or_read", "answer"),
                    person="late", question=_ACTION, events=_cancel("at_s", _CANCEL_S), needs=("late",))  # fmt: skip
    for node in tree.nodes():
        if isinstance(node.settings, AskUserSettings):
            schema = node.settings.response_schema
            for value in answers_to(schema)[:MOST_OF_A_KIND]:
                shown = clipped(str(value), _LONGEST)
                yield Situation(f"answered-{_slug(shown)}", f"the person answers {_quoted(shown)}", ("read", "answer"),
                                value=value, needs=("question",))  # fmt: skip
    yield Situation("unanswered", "nobody answers the question", person="expire", needs=("question",))


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


def _own_calls() -> Iterator[Situation]:
    yield Situation("own-call-empty", "the tree's own call finds nothing", own=ToolAnswer(empty=True), needs=("own",))
    yield Situation("own-call-fails", "the tree's own call fails", own=_fails(), needs=("own",))
    yield Situation("own-call-hangs", "the tree's own call never ends", own=ToolAnswer(hang=True), needs=("own",))


def _interruptions(tree: TreeDefinition, roles: set[Any]) -> Iterator[Situation]:
    hanging = (ToolAnswer(hang=True),)
    if RUNS_CALLS in roles:
        yield Situation("cancel-in-tool", "the user cancels while a tool runs", ("read",), hanging,
                        events=_cancel("at_s", _CANCEL_S), needs=("cancelled",))  # fmt: skip
    if CALLS_HOST in roles:
        yield Situation("cancel-in-own-call", "the user cancels while the tree's own call runs", own=hanging[0],
                        events=_cancel("at_s", _CANCEL_S), needs=("cancelled",))  # fmt: skip
    if any(node.kind == "wait" for node in tree.nodes()):
        yield Situation("cancel-in-wait", "the user cancels while the tree waits",
                        events=_cancel("at_s", 0.5), needs=("cancelled",))  # fmt: skip


def _slug(text: str) -> str:
    return "-".join("".join(each if each.isalnum() else " " for each in text.lower()).split())[:_LONGEST] or "empty"


def _quoted(text: str) -> str:
    return f"“{clipped(text, _LONGEST)}”"
