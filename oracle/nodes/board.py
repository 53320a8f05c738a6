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


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentKey(Key):
    """A key whose value is read from the run.

    Args:
        read: the value now, as JSON data of the key's type; must be cheap, because `publish` calls it every time.
    """

    read_only: bool = True
    read: Callable[[AgentRun], Any] = field(compare=False)


@lru_cache(maxsize=512)
def _sorted(names: frozenset[str]) -> tuple[str, ...]:
    """The same tuple for the same names, so that an unchanged value is recognized by identity."""
    return tuple(sorted(names))


def _of_signal(name: str, otherwise: Any) -> Callable[[AgentRun], Any]:  # noqa: ANN401  JSON data
    """A reader of a field of the last turn's signal."""
    return lambda run: getattr(run.signals.latest, name, otherwise)


AGENT_KEYS: tuple[Key, ...] = (
    AgentKey("question", "str", "", "What the user asked.", read=lambda run: run.query.question),
    AgentKey(
        "query_type",
        "str",
        "",
        "code, documentation, research, conversational or action.",
        read=lambda run: run.classification.query_type if run.classification else "",
    ),
    Key("max_turns", "int", None, "The tree's own limit of LLM turns; a tree sets it by its default.", read_only=True),
    AgentKey("turn", "int", 0, "Finished LLM turns.", read=lambda run: run.state.turn),
    AgentKey(
        "turn_limit",
        "int",
        0,
        "The effective limit of turns: the user's or the tree's, whichever is lower.",
        read=lambda run: run.state.turn_limit,
    ),
    AgentKey(
        "tokens_used",
        "int",
        0,
        "Tokens of this query, as the budget counts them.",
        read=lambda run: run.state.tokens_used,
    ),
    AgentKey("token_budget", "int", 0, "The user's limit of tokens.", read=lambda run: run.state.config.token_budget),
    AgentKey(
        "failed",
        "bool",
        default=False,
        description="The model's provider failed in the last turn.",
        read=lambda run: run.turn.fault is not None,
    ),
    AgentKey(
        "tool_calls",
        "int",
        0,
        "How many tools the model called in the last turn.",
        read=lambda run: len(run.turn.outcome.calls) if run.turn.outcome else 0,
    ),
    AgentKey(
        "nothing_found",
        "bool",
        default=False,
        description="The last tools that ran found nothing.",
        read=lambda run: run.turn.tools is not None and run.turn.tools.found_nothing,
    ),
    AgentKey(
        "cut_off",
        "bool",
        default=False,
        description="The last response was truncated by its token limit.",
        read=lambda run: run.turn.outcome is not None and run.turn.outcome.cut_off,
    ),
    AgentKey(
        "said_nothing",
        "bool",
        default=True,
        description="The last turn brought no text to read.",
        read=lambda run: run.turn.outcome is None or not run.turn.outcome.has_text,
    ),
    AgentKey(
        "empty_turns",
        "int",
        0,
        "Consecutive turns that brought nothing: no text, no tool calls, no signal to act on.",
        read=lambda run: run.state.empty_turns,
    ),
    AgentKey(
        "asks_user",
        "bool",
        default=False,
        description="The last response ends with a question to the user and calls no tools.",
        read=lambda run: run.turn.outcome is not None and run.turn.outcome.asks_user,
    ),
    AgentKey(
        "turn_left",
        "bool",
        default=True,
        description="The limits leave another turn.",
        read=AgentRun.is_turn_left,
    ),
    AgentKey("signal", "str", "", "Type of the last turn's signal; empty if it had none.", read=_of_signal("type", "")),
    AgentKey(
        "confidence",
        "float",
        1.0,
        "The model's confidence in that signal; 1 if there is none.",
        read=_of_signal("confidence", 1.0),
    ),
    AgentKey(
        "malformed_signal",
        "bool",
        default=False,
        description="The last turn had a signal that could not be read.",
        read=lambda run: run.signals.malformed,
    ),
    AgentKey(
        "turns_without_signal",
        "int",
        0,
        "Consecutive turns without a signal.",
        read=lambda run: run.signals.turns_without,
    ),
    AgentKey(
        "same_reason",
        "int",
        0,
        "How many times in a row need_turn gave the same reason.",
        read=lambda run: run.signals.same_reason,
    ),
    AgentKey("signal_reason", "str", "", "The reason that the signal gives.", read=_of_signal("reason", "")),
    AgentKey("capability", "str", "", "What a need_capability signal asks for.", read=_of_signal("capability", "")),
    AgentKey("blocker", "str", "", "What a stuck signal says is in the way.", read=_of_signal("blocker", "")),
    AgentKey("sources", "int", 0, "Sources found so far.", read=lambda run: len(run.output.sources)),
    AgentKey(
        "tools_tried",
        "list",
        (),
        "Names of the tools that were called.",
        read=lambda run: _sorted(run.state.tools_tried),
    ),
    AgentKey(
        "intent",
        "str",
        "",
        "How classify_response reads the last response, as a type of signal.",
        read=lambda run: run.signals.intent.signal_type if run.signals.intent else "",
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
