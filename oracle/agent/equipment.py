"""`Equipment`: what every query of a process works with."""

from collections.abc import Callable
from dataclasses import field
from functools import lru_cache
from importlib import import_module
from time import time
from typing import TYPE_CHECKING, Any, cast

from bt_runtime import Clock
from bt_runtime.text import iso
from oracle.llm.protocol import Model
from oracle.tools import ToolRegistry
from bt_runtime.text.data import dataclass
from oracle.agent.conversations.protocol import HistoryMaker
from oracle.agent.gathering import Gathering
from oracle.classify.protocol import NO_ENCODER, Classifier, Encoder, IntentClassifier
from oracle.classify.types import QueryClassification, QueryShares
from prompts import SegmentLibrary, load_segments


@lru_cache(maxsize=1)
def _shipped_segments() -> SegmentLibrary:
    return load_segments()


def _heuristics() -> Classifier:
    """The default; its modules are imported with the first question."""
    return cast("Classifier", import_module("oracle.classify"))


def _judged_gathering() -> Callable[[], Gathering]:
    return cast("Callable[[], Gathering]", import_module("oracle.gathering.log").GatheringLog)


def _newest_exchanges() -> HistoryMaker:
    return cast("HistoryMaker", import_module("oracle.history").history_for_model)
@dataclass(frozen=True, slots=True)
class Equipment:
    """Model, tools, prompt and clock; shared by all queries of a process.

    Args:
        segments: of the system prompt; those that ship by default.
        classifier: of questions and responses; heuristics by default.
        intents: classifies a response that carries no clear signal, in place of the classifier; `None`: there is none.
        context_tokens: how much the model of a name, `None` being the configured one, reads and writes together, as
            far as that is known.
        encoder: reads questions and responses by what they mean, in addition to the heuristics.
        timestamp: the current time, as ISO 8601 in UTC.
        max_output_tokens: the output limit of one turn.
        thinking_tokens: how much of that may be thinking; 0 turns thinking off.
        project: the project's name, for the prompt; empty if there is none.
        folders: the project's top-level folders, for the prompt.
        sufficiency: judges whether what was gathered suffices.
    """

    model: Model
    tools: ToolRegistry
    clock: Clock
    segments: SegmentLibrary = field(default_factory=_shipped_segments)
    classifier: Classifier = field(default_factory=_heuristics)
    intents: IntentClassifier | None = None
    timestamp: Callable[[], str] = lambda: iso(time())
    max_output_tokens: int = 8192
    thinking_tokens: int = 0
    project: str = ""
    folders: tuple[str, ...] = ()
    gathering: Callable[[], Gathering] = field(default_factory=_judged_gathering)
    history: HistoryMaker = field(default_factory=_newest_exchanges)
    context_tokens: Callable[[str | None], int | None] = lambda _: None
    encoder: Encoder = NO_ENCODER

    def classified(
        self, question: str, encoded: QueryShares | None, previous: QueryClassification | None
    ) -> QueryClassification:
        """Classify a question; the previous classification counts if it is of the same domain."""
        is_ours = previous is not None and previous.query_type in self.tools.types.needs
        return self.classifier.classify_query_with(question, encoded, previous=previous if is_ours else None)
