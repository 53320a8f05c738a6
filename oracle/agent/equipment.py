"""`Equipment`: what every query of a process works with."""

from collections.abc import Callable
from dataclasses import field
from functools import lru_cache
from importlib import import_module
from time import time
from typing import TYPE_CHECKING, Any, cast

from bt_runtime import Clock
from bt_runtime.text import iso
from oracle.classify import HeuristicIntentClassifier, IntentClassifier
from oracle.classify.encoder import NO_ENCODER, Encoder
from oracle.llm.protocol import Model
from oracle.tools import ToolRegistry
from bt_runtime.text.data import dataclass
from oracle.agent.conversations.protocol import HistoryMaker
from oracle.agent.gathering import Gathering
from prompts import SegmentLibrary, load_segments


@lru_cache(maxsize=1)
def _shipped_segments() -> SegmentLibrary:
    return load_segments()




def _judged_gathering() -> Callable[[], Gathering]:
    return cast("Callable[[], Gathering]", import_module("oracle.gathering.log").GatheringLog)


def _newest_exchanges() -> HistoryMaker:
    return cast("HistoryMaker", import_module("oracle.history").history_for_model)
@dataclass(frozen=True, slots=True)
class Equipment:
    """Model, tools, prompt and clock; shared by all queries of a process.

    Args:
        segments: of the system prompt; those that ship by default.
        intents: classifies a response that carries no clear signal.
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
    intents: IntentClassifier = field(default_factory=HeuristicIntentClassifier)
    timestamp: Callable[[], str] = lambda: iso(time())
    max_output_tokens: int = 8192
    thinking_tokens: int = 0
    project: str = ""
    folders: tuple[str, ...] = ()
    gathering: Callable[[], Gathering] = field(default_factory=_judged_gathering)
    history: HistoryMaker = field(default_factory=_newest_exchanges)
    encoder: Encoder = NO_ENCODER
