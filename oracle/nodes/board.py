"""The agent's blackboard keys: a declared projection of the run, for the expressions of its trees and for the console.

The run is the truth, the blackboard a flat copy of it. Each key names its reader here, and `publish` writes the keys
whose value has changed; nothing else writes them. The author's keys are those without a reader.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from bt_runtime import Blackboard, Key
from oracle.agent.run import AgentRun
from oracle.classify.response import SIGNALS
from oracle.classify.types import QUERY_TYPES


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentKey(Key):
    """A key whose value is read from the run.

    Args:
        read: the value now, as JSON data of the key's type; must be cheap, because `publish` calls it every time.
    """

    read_only: bool = True
    read: Callable[[AgentRun], Any] = field(compare=False)


Reader = Callable[[AgentRun], Any]


def _text(name: str, description: str, read: Reader) -> AgentKey:
    return AgentKey(name, "str", "", description, read=read)


def _one_of(values: tuple[str, ...], name: str, description: str, read: Reader) -> AgentKey:
    """A text that is one of these values, or empty."""
    return AgentKey(name, "str", "", description, values=("", *values), read=read)


def _count(name: str, description: str, read: Reader) -> AgentKey:
    return AgentKey(name, "int", 0, description, least=0, read=read)


def _flag(name: str, description: str, read: Reader, *, default: bool = False) -> AgentKey:
    return AgentKey(name, "bool", default, description, read=read)


@lru_cache(maxsize=512)
def _sorted(names: frozenset[str]) -> tuple[str, ...]:
    """The same tuple for the same names, so that an unchanged value is recognized by identity."""
    return tuple(sorted(names))


def _of_signal(name: str, otherwise: Any) -> Reader:  # noqa: ANN401  JSON data
    """A reader of a field of the last turn's signal."""
    return lambda run: getattr(run.signals.latest, name, otherwise)


_QUERY_TYPES = "code, documentation, research, conversational or action."
_TURN_LIMIT = "The effective limit of turns: the user's or the tree's, whichever is lower."
_EMPTY_TURNS = "Consecutive turns that brought nothing: no text, no tool calls, no signal to act on."
_ASKS_USER = "The last response ends with a question to the user and calls no tools."
_TOOL_CALLS = "How many tools the model called in the last turn."
_CUT_OFF = "The last response was truncated by its token limit."
_TOOLS_TRIED = "Names of the tools that were called."
_CONFIDENCE = "The model's confidence in that signal; 1 if there is none."

AGENT_KEYS: tuple[Key, ...] = (
    _text("question", "What the user asked.", lambda run: run.query.question),
    _one_of(
        QUERY_TYPES, "query_type", _QUERY_TYPES, lambda run: run.classification.query_type if run.classification else ""
    ),
    Key("max_turns", "int", None, "The tree's own limit of LLM turns; a tree sets it by its default.", read_only=True),
    _count("turn", "Finished LLM turns.", lambda run: run.state.turn),
    _count("turn_limit", _TURN_LIMIT, lambda run: run.state.turn_limit),
    _count("tokens_used", "Tokens of this query, as the budget counts them.", lambda run: run.state.tokens_used),
    _count("token_budget", "The user's limit of tokens.", lambda run: run.state.config.token_budget),
    _flag("failed", "The model's provider failed in the last turn.", lambda run: run.turn.fault is not None),
    _count("tool_calls", _TOOL_CALLS, lambda run: len(run.turn.outcome.calls) if run.turn.outcome else 0),
    _flag(
        "nothing_found",
        "The last tools that ran found nothing.",
        lambda run: run.turn.tools is not None and run.turn.tools.found_nothing,
    ),
    _flag("cut_off", _CUT_OFF, lambda run: run.turn.outcome is not None and run.turn.outcome.cut_off),
    _flag(
        "said_nothing",
        "The last turn brought no text to read.",
        lambda run: run.turn.outcome is None or not run.turn.outcome.has_text,
        default=True,
    ),
    _count("empty_turns", _EMPTY_TURNS, lambda run: run.state.empty_turns),
    _flag("asks_user", _ASKS_USER, lambda run: run.turn.outcome is not None and run.turn.outcome.asks_user),
    _flag("turn_left", "The limits leave another turn.", AgentRun.is_turn_left, default=True),
    _one_of(SIGNALS, "signal", "Type of the last turn's signal; empty if it had none.", _of_signal("type", "")),
    AgentKey("confidence", "float", 1.0, _CONFIDENCE, least=0, most=1, read=_of_signal("confidence", 1.0)),
    _flag(
        "malformed_signal",
        "The last turn had a signal that could not be read.",
        lambda run: run.signals.malformed,
    ),
    _count("turns_without_signal", "Consecutive turns without a signal.", lambda run: run.signals.turns_without),
    _count(
        "same_reason",
        "How many times in a row need_turn gave the same reason.",
        lambda run: run.signals.same_reason,
    ),
    _text("signal_reason", "The reason that the signal gives.", _of_signal("reason", "")),
    _text("capability", "What a need_capability signal asks for.", _of_signal("capability", "")),
    _text("blocker", "What a stuck signal says is in the way.", _of_signal("blocker", "")),
    _count("sources", "Sources found so far.", lambda run: len(run.output.sources)),
    AgentKey("tools_tried", "list", (), _TOOLS_TRIED, read=lambda run: _sorted(run.state.tools_tried)),
    _one_of(
        SIGNALS,
        "intent",
        "How classify_response reads the last response, as a type of signal.",
        lambda run: run.signals.intent.signal_type if run.signals.intent else "",
    ),
    Key("hint", "str", "", "A note for the model, sent with its next turn; llm_turn empties it."),
)

_READERS = tuple((key.name, key.read) for key in AGENT_KEYS if isinstance(key, AgentKey))


def values_of(run: AgentRun) -> Mapping[str, Any]:
    """The value of every key that is read from the run."""
    return {name: read(run) for name, read in _READERS}


def publish(run: AgentRun, board: Blackboard) -> None:
    """Write the keys whose value has changed since the last call."""
    board.refresh(run, _READERS)
