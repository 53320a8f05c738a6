"""The `check_evidence` kind: no claim of the answer is left that did not happen."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

import structlog
from pydantic import Field

from bt_runtime import Facts, Figure, NodeSettings, Status, Stepped, Words, node
from bt_runtime.language.kind import CALLS_HOST, Case, LeafFlow
from bt_runtime.text.phrases import clipped, counted
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.flows import GRANTING, LAGGING
from oracle.agent.notices import Notice, quoted
from oracle.agent.run import AgentRun
from oracle.agent.tool_calls import refuse_open
from oracle.agent.transcript import NOT_RUN
from oracle.features.evidence.kinds import UNMATCHED
from oracle.features.evidence.matching import Unmatched, unmatched
from oracle.features.evidence.record import Call, Done
from oracle.llm.protocol import ModelFault
from signals import parse

log = structlog.get_logger(__name__)
_MOST_NAMED: Final = 10
_NOTE: Final = "These statements of your answer were not found in what was done and read in this run:"
_WHAT_NOW: Final = (
    "Do now what is missing, if you can; else correct each of them in a sentence that says plainly what was not done "
    "or does not stand there. The user has read the answer: do not repeat it."
)
_MARK: Final = "Not found in what was read or done"


class CheckEvidenceSettings(NodeSettings):
    """Settings of `check_evidence`.

    Args:
        repair: how many further turns of a query the model may have to do or correct what it claims.
        then: what is done about claims that are left: `mark` names them in a notification and in the answer; `end` ends
            the run as an error.
    """

    repair: int = Field(default=1, ge=0, le=5)
    then: Literal["mark", "end"] = "mark"


def _cases(settings: CheckEvidenceSettings) -> Sequence[Case]:
    found = {**LAGGING, UNMATCHED: None}
    marked = [Case("success", writes=found, facts={"answer": "yes"})] if settings.then == "mark" else []
    ended = [Case("failure", writes=found, stops=True)] if settings.then == "end" else []
    granted = [replace(case, result="failure", writes={**case.writes, UNMATCHED: None}) for case in GRANTING]
    return (
        Case("success", writes={**LAGGING, UNMATCHED: ([],)}),
        *marked,
        *ended,
        *(granted if settings.repair else ()),
    )


@node(
    "check_evidence",
    settings=CheckEvidenceSettings,
    shorthand="then",
    facts=Facts(reads=(UNMATCHED,), remembers=("_repairs", "_told_at", "_named")),
    flow=LeafFlow(_cases),
)
class CheckEvidence(AgentNode[CheckEvidenceSettings]):
    """Matches what the answer claims with what the run did and read.

    SUCCESS if every claim has a match, or those without one are marked. FAILURE if the model gets another turn, whose
    note names them, or if the run ends because of them. A turn is granted if the limits leave one.

    Claims are statements of deeds (`I saved it to notes/a.md`, `all tests pass`), and citations (`src/auth.py:12`, a
    quotation of a file). Writes those without a match to `unmatched_claims`. Answers by a schema are not checked.

    ```yaml
    check_evidence: {repair: 1, then: mark}
    ```
    """

    _repairs = 0
    _told_at: int | None = None
    """The characters of the answer when the model was last told of unmatched claims."""
    _named: tuple[str, ...] = ()
    """The claims that are marked already."""

    def update(self) -> Status:
        """Check the answer so far."""
        answer, done = read_run(self.agent, _own_calls(self.run.root(), self.board))
        is_data = self.agent.query.output_schema is not None
        found = () if is_data else unmatched(answer, done, told_at=self._told_at)
        self.board.set(UNMATCHED, [each.quote for each in found])
        new = [each for each in found if each.quote not in self._named]
        if not new:
            return Status.SUCCESS
        log.info("claims.unmatched", kinds=sorted({each.kind for each in new}), count=len(new), repairs=self._repairs)
        if self._repairs < self.settings.repair and self.agent.is_turn_left():
            self._repairs, self._told_at = self._repairs + 1, len(answer)
            refuse_open(self.agent, NOT_RUN)
            self.agent.ask_again(_note(new))
            self.publish()
            return Status.FAILURE
        self._named += tuple(each.quote for each in new)
        listed = " · ".join(f'"{quoted(each.quote)}"' for each in new[:_MOST_NAMED])
        if self.settings.then == "end":
            self.agent.ending.fault = ModelFault("answer_invalid", f"{_MARK}: {listed}.")
            self.stop_run("error")
            return Status.FAILURE
        claims = [{"quote": quoted(each.quote), "kind": each.kind, "reason": each.reason} for each in new]
        self.agent.output.notify(Notice("notice", f"{_MARK}: {listed}", "warning", {"unmatched_claims": claims}))
        self.agent.output.say_sentence(f"{_MARK}: {listed}.")
        self.publish()
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the node says it
        """How many claims have no match, and what follows."""
        found = self.board[UNMATCHED]
        if not found:
            return Words("every claim has a match", "Every claim of the answer has a match in what was done and read.")
        count = counted(len(found), "claim")
        follows = (
            "marked"
            if self.status is Status.SUCCESS
            else "another turn"
            if self._repairs and not self._named
            else "the run ends"
        )
        sentence = f'{count} without a match ({follows}); the first: "{clipped(found[0], 120)}"'
        return Words(f"{count} without a match · {follows}", sentence, (Figure("unmatched", len(found)),))


def _note(found: Sequence[Unmatched]) -> str:
    """What the model reads: each statement, and what was looked for."""
    lines = [
        f'{at}. "{quoted(each.quote)}" ({each.kind}: {each.reason})'
        for at, each in enumerate(found[:_MOST_NAMED], start=1)
    ]
    return "\n".join((_NOTE, *lines, _WHAT_NOW))


def read_run(run: AgentRun, own: Iterable[Call] = ()) -> tuple[str, Done]:
    """The text of the answer so far, and what the run did: from the transcript, which a replay has as well.

    Args:
        run: the query.
        own: calls of the tree itself, which the transcript does not have.
    """
    messages, begin = run.transcript.messages, len(run.query.history)
    texts, said, names = list[str](), [run.query.question], list[str]()
    asked: dict[str, Mapping[str, Any]] = {}
    calls: list[Call] = []
    for at, message in enumerate(messages):
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            kind = str(block.get("type"))
            if kind == "text" and message["role"] == "assistant" and at > begin:
                texts.append(parse(block["text"]).text)
            elif kind == "text" and at < begin:
                said.append(block["text"])
            elif kind == "attachment":
                names.append(str(block["name"]))
            elif kind.endswith("tool_use"):
                asked[str(block["id"])] = block
            elif kind.endswith("tool_result") and (call := asked.pop(str(block.get("tool_use_id")), None)) is not None:
                calls.append(_call(run, call, block))
    return "\n\n".join(texts), Done((*calls, *own), tuple(said), dict.fromkeys(names, ""))


def _call(run: AgentRun, asked: Mapping[str, Any], result: Mapping[str, Any]) -> Call:
    tool = run.equipment.tools.get(str(asked["name"]))
    given = asked.get("input")
    return Call(
        str(asked["name"]),
        given if isinstance(given, Mapping) else {},
        "\n".join(_texts(result.get("content"))),
        ok=not result.get("is_error"),
        writes=None if tool is None else tool.writes,
    )


def _texts(content: Any) -> Iterator[str]:  # noqa: ANN401  text or blocks, as providers have them
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        yield from (text for name in ("text", "title", "url", "content") for text in _texts(content.get(name)))
    elif isinstance(content, list | tuple):
        yield from (text for each in content for text in _texts(each))


def _own_calls(root: Any, board: Mapping[str, Any]) -> Iterator[Call]:  # noqa: ANN401  a node of any kind
    """The calls that the tree has made itself and that have succeeded last, with the values of plain arguments."""
    for each in root.walk():
        if each.facts.roles and CALLS_HOST in each.facts.roles and each.status is Status.SUCCESS:
            settings = each.settings
            given = {name: _value(value, board) for name, value in settings.arguments.items()}
            result = str(board[settings.into]) if settings.into and settings.into in board else ""
            yield Call(settings.call, given, result)


def _value(value: Any, board: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON data
    """An argument as it was given, where its expression is a text or a key."""
    if not isinstance(value, str):
        return value
    return board[value] if value in board else value.strip("'\"")
