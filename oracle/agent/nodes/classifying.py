"""Kinds that judge texts and results: `classify_query`, `classify_response` and `judge_context`."""

import structlog

from bt_runtime import Facts, Figure, NoSettings, Status, Stepped, Words, node
from bt_runtime.language.kind import Case, LeafFlow, leaf
from bt_runtime.text.phrases import counted, value_of
from oracle.agent.gathering import REASONS
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.flows import LAGGING
from oracle.agent.nodes.roles import CLASSIFIES_QUERY, CLASSIFIES_RESPONSE, JUDGES_CONTEXT
from oracle.agent.steps import classify
from oracle.classify.types import SIGNALS, ResponseIntent
from oracle.core.sources import QueryTypes, shipped_types


def flow_of(types: QueryTypes) -> LeafFlow:
    """What `classify_query` does in a domain with these types."""
    found = {**LAGGING, "query_type": tuple(sorted(types.needs))}
    return leaf(Case("success", writes=found, facts={"tools": None, "added": ""}))


@node("classify_query", facts=Facts(roles=(CLASSIFIES_QUERY,)), flow=flow_of(shipped_types()))
class ClassifyQuery(AgentNode[NoSettings]):
    """Determines the type of the question and offers the tools for it.

    SUCCESS, always. Writes `query_type`. A short follow-up has the type of the question before it.

    ```yaml
    classify_query:
    ```
    """

    def update(self) -> Status:
        classify(self.agent)
        self.publish()
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the query says it
        found, offered = self.agent.classification, counted(len(self.agent.offered), "tool")
        kind = value_of(found.query_type if found else "")
        return Words(f"query_type {kind} · {offered}", f"The question is of type {kind}; {offered} are offered.")


log = structlog.get_logger(__name__)


@node(
    "classify_response",
    facts=Facts(roles=(CLASSIFIES_RESPONSE,), reads=("intent",)),
    flow=leaf(Case("success", writes={**LAGGING, "intent": SIGNALS})),
)
class ClassifyResponse(AgentNode[NoSettings]):
    """Classifies the last response as a signal type, for turns whose own signal is missing or doubtful.

    SUCCESS, always. Writes `intent`, with heuristics, the encoder or your own classifier.

    ```yaml
    classify_response:
    ```
    """

    def update(self) -> Status:
        self.agent.signals.intent = self._intent()
        self.publish()
        return Status.SUCCESS

    def _intent(self) -> ResponseIntent:
        turn, equipment = self.agent.turn.outcome, self.agent.equipment
        text, encoded = (turn.whole_text, turn.encoded) if turn else ("", None)
        if encoded is None and equipment.intents is not None:
            try:
                return equipment.intents.classify(text)
            except Exception:
                log.exception("intents.failed", classifier=equipment.intents.name)
        return equipment.classifier.classify_response_with(text, encoded)

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the signals say it
        intent = self.agent.signals.intent
        if intent is None:
            return Words()
        found = value_of(intent.signal_type)
        return Words(f"intent {found}", f"The response reads like {found}.")


_SAYS = {
    "": "the last tools brought something new",
    "nothing_new": "something was found, and the last tools brought nothing new",
    "said_so": "the model says that it has what it needs",
    "nothing_found": "nothing was found, whatever was tried",
    "answered": "the sources that the question needs have answered",
}


@node(
    "judge_context",
    facts=Facts(roles=(JUDGES_CONTEXT,)),
    flow=leaf(Case("success", writes={**LAGGING, "sufficient": ("", *REASONS)})),
)
class JudgeContext(AgentNode[NoSettings]):
    """Judges whether the tools have found enough for an answer.

    SUCCESS, always. Writes the reason to `sufficient`, or an empty text if more calls may help.

    ```yaml
    judge_context:
    ```
    """

    def update(self) -> Status:
        self.agent.gathering.judge(turn=self.agent.state.turn)
        self.publish()
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the run says it
        gathering = self.agent.gathering
        gathered, why = gathering.gathered, _SAYS[gathering.verdict.reason]
        figures = (
            Figure("calls", len(gathered.tried)),
            Figure("sources", len(gathered.sources)),
            Figure("turns without news", gathered.dry_turns),
        )
        basis = f"{counted(len(gathered.tried), 'call')}, {counted(len(gathered.sources), 'source')}"
        sentence = "The context suffices" if gathering.verdict.suffices else "The context does not suffice yet"
        return Words(f"{why} · {basis}", f"{sentence}: {why} ({basis}).", figures)
