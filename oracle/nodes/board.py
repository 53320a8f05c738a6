"""The blackboard keys of the agent's trees, and the one place that writes them from the state.

The agent's state is immutable and has its own types; trees see this flat copy of it, which expressions can read and the
console can show. Keys marked read-only are written here alone.
"""

from collections.abc import Mapping
from typing import Any

from bt_runtime import Blackboard, Key
from oracle.agent.run import AgentRun
from oracle.signals import Signal

AGENT_KEYS: tuple[Key, ...] = (
    Key("question", "str", "", "What the user asked.", read_only=True),
    Key("query_type", "str", "", "code, documentation, research, conversational or action.", read_only=True),
    Key("max_turns", "int", None, "The tree's own limit of LLM turns; a tree sets it by its default.", read_only=True),
    Key("turn", "int", 0, "Finished LLM turns.", read_only=True),
    Key(
        "turn_limit",
        "int",
        0,
        "The effective limit of turns: the user's or the tree's, whichever is lower.",
        read_only=True,
    ),
    Key("tokens_used", "int", 0, "Tokens of this query, as the budget counts them.", read_only=True),
    Key("token_budget", "int", 0, "The user's limit of tokens.", read_only=True),
    Key("failed", "bool", default=False, description="The model's provider failed in the last turn.", read_only=True),
    Key("tool_calls", "int", 0, "How many tools the model called in the last turn.", read_only=True),
    Key("nothing_found", "bool", default=False, description="The last tools that ran found nothing.", read_only=True),
    Key(
        "cut_off",
        "bool",
        default=False,
        description="The last response hit its bound on tokens and is not complete.",
        read_only=True,
    ),
    Key("said_nothing", "bool", default=True, description="The last turn brought no text to read.", read_only=True),
    Key(
        "empty_turns",
        "int",
        0,
        "Turns in a row that brought nothing: no text, no tool calls, no signal to act on.",
        read_only=True,
    ),
    Key(
        "asks_user",
        "bool",
        default=False,
        description="The last response ends with a question to the user and calls no tools.",
        read_only=True,
    ),
    Key("turn_left", "bool", default=True, description="The limits leave another turn.", read_only=True),
    Key("signal", "str", "", "Type of the last turn's signal; empty if it had none.", read_only=True),
    Key("confidence", "float", 1.0, "The model's confidence in that signal; 1 if there is none.", read_only=True),
    Key(
        "malformed_signal",
        "bool",
        default=False,
        description="The last turn had a signal that could not be read.",
        read_only=True,
    ),
    Key("turns_without_signal", "int", 0, "Turns in a row without a signal.", read_only=True),
    Key("same_reason", "int", 0, "How many times in a row need_turn gave the same reason.", read_only=True),
    Key("signal_reason", "str", "", "The reason that the signal gives.", read_only=True),
    Key("capability", "str", "", "What a need_capability signal asks for.", read_only=True),
    Key("blocker", "str", "", "What a stuck signal says is in the way.", read_only=True),
    Key("sources", "int", 0, "Sources found so far.", read_only=True),
    Key("tools_tried", "list", (), "Names of the tools that were called.", read_only=True),
    Key(
        "intent",
        "str",
        "",
        "What classify_response makes of the last response, in the words of the signals.",
        read_only=True,
    ),
    Key("hint", "str", "", "A note for the model, sent with its next turn; llm_turn empties it."),
)


def first_values(agent: AgentRun) -> Mapping[str, Any]:
    """Blackboard values at the start of a run."""
    return {
        "question": agent.query.question,
        "token_budget": agent.state.config.token_budget,
        "turn_limit": agent.state.turn_limit,
    }


def publish_turn(agent: AgentRun, board: Blackboard) -> None:
    """After an LLM turn."""
    turn, track = agent.last_turn, agent.signal
    publish_counts(agent, board)
    board.set("failed", agent.fault is not None)
    board.set("tool_calls", len(turn.calls) if turn else 0)
    board.set("cut_off", bool(turn and turn.cut_off))
    board.set("said_nothing", not (turn and turn.text.strip()))
    board.set("empty_turns", agent.state.empty_turns)
    board.set("asks_user", bool(turn and turn.asks_user))
    board.set("malformed_signal", track.malformed)
    board.set("turns_without_signal", track.turns_without)
    board.set("same_reason", track.same_reason)
    board.set("tools_tried", tuple(sorted(agent.state.tools_tried)))
    _publish_signal(track.latest, board)


def publish_tools(agent: AgentRun, board: Blackboard) -> None:
    """After the tools of a turn."""
    publish_counts(agent, board)
    board.set("nothing_found", bool(agent.last_tools and agent.last_tools.found_nothing))
    board.set("tools_tried", tuple(sorted(agent.state.tools_tried)))


def publish_counts(agent: AgentRun, board: Blackboard) -> None:
    """What changes with every step."""
    board.set("turn", agent.state.turn)
    board.set("turn_left", agent.is_turn_left())
    board.set("tokens_used", agent.state.tokens_used)
    board.set("sources", len(agent.output.sources))


def _publish_signal(signal: Signal | None, board: Blackboard) -> None:
    board.set("signal", signal.type if signal else "")
    board.set("confidence", signal.confidence if signal else 1.0)
    board.set("signal_reason", getattr(signal, "reason", ""))
    board.set("capability", getattr(signal, "capability", ""))
    board.set("blocker", getattr(signal, "blocker", ""))
