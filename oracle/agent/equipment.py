"""`Equipment`: the model, tools, prompt and clock of every query of a process."""

from collections.abc import Awaitable, Callable
from dataclasses import field
from functools import lru_cache
from importlib import import_module
from time import time
from typing import TYPE_CHECKING, Any, cast

from bt_runtime import Clock
from bt_runtime.text import iso
from bt_runtime.text.data import dataclass
from oracle.agent.conversations.protocol import HistoryMaker
from oracle.agent.gathering import Gathering
from oracle.classify.protocol import NO_ENCODER, Classifier, Encoder, IntentClassifier
from oracle.classify.types import QueryClassification, QueryShares
from oracle.llm.protocol import Model, ModelRequest
from oracle.tools import ToolRegistry, ToolResult
from prompts import SegmentLibrary, load_segments

if TYPE_CHECKING:  # a run has its equipment
    from oracle.agent.outcomes import TurnOutcome
    from oracle.agent.run import AgentRun


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


@dataclass(slots=True)
class Hooks:
    """The hooks of features within a query; a hook is `None` if no feature has one.

    Args:
        complete: replaces attachments by blocks of the provider, or raises `ModelError`; `None`: the model gets them as
            they are.
        keep_result: shortens a result above `OUTPUT_CHARS` of a run (by its id) and a call (by its id), and keeps the
            whole; else such results are cut.
        check_answer: what a turn means whose answer has a schema, and what the user is shown of it; else any answer is
            one.
        parts: what features have for their tools and nodes, by the names of the features.
    """

    complete: Callable[[ModelRequest], Awaitable[ModelRequest]] | None = None
    keep_result: Callable[[str, str, ToolResult], Awaitable[ToolResult]] | None = None
    check_answer: "Callable[[AgentRun, TurnOutcome], TurnOutcome] | None" = None
    parts: dict[str, Any] = field(default_factory=dict)


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
        hooks: what features do within a query.
        gathering: makes the object that judges the findings of a query; heuristics by default.
        history: chooses what of a conversation goes to the model again; by default the newest exchanges that fit.
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
    hooks: Hooks = field(default_factory=Hooks)

    def classified(
        self, question: str, encoded: QueryShares | None, previous: QueryClassification | None
    ) -> QueryClassification:
        """Classify a question; the previous classification counts if it is of the same domain."""
        is_ours = previous is not None and previous.query_type in self.tools.types.needs
        return self.classifier.classify_query_with(question, encoded, previous=previous if is_ours else None)
