"""The `classify_response` kind."""

import structlog

from bt_runtime import Facts, NoSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import Case, leaf
from bt_runtime.text.phrases import value_of
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.flows import LAGGING
from oracle.agent.nodes.roles import CLASSIFIES_RESPONSE
from oracle.classify import HeuristicIntentClassifier, classify_response_with
from oracle.classify.response import SIGNALS

log = structlog.get_logger(__name__)


@node(
    "classify_response",
    facts=Facts(roles=(CLASSIFIES_RESPONSE,), reads=("intent",)),
    flow=leaf(Case("success", writes={**LAGGING, "intent": SIGNALS})),
)
class ClassifyResponse(AgentNode[NoSettings]):
    """Classifies the last response as a type of signal, where the model's own signal is missing or doubtful.

    SUCCESS, always. Writes `intent`, one of the six signal types. Heuristics do it, together with the encoder where
    there is one (its reading was recorded with the turn), or a classifier in their place; if that fails, heuristics
    again.

    ```yaml
    classify_response:
    ```
    """

    def update(self) -> Status:
        turn = self.agent.turn.outcome
        text = turn.whole_text if turn else ""
        encoded = turn.encoded if turn else None
        try:
            intent = (
                self.agent.equipment.intents.classify(text)
                if encoded is None
                else classify_response_with(text, encoded)
            )
        except Exception:
            log.exception("intents.failed", classifier=self.agent.equipment.intents.name)
            intent = HeuristicIntentClassifier().classify(text)
        self.agent.signals.intent = intent
        self.publish()
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the signals say it
        intent = self.agent.signals.intent
        if intent is None:
            return Words()
        found = value_of(intent.signal_type)
        return Words(f"intent {found}", f"The response reads like {found}.")
